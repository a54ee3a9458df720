"""The console of every command, and tables within its width.

A table that is too wide wraps its texts, then folds: its numbers go on below, beside the names of
their rows. A number is not cut, nor is the name of a row left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segments

if TYPE_CHECKING:
    from rich.table import Column, Table

SHORTEST = (16, 12, 8)  # characters to which texts are wrapped, the first that leaves room
UNLIMITED = 100_000


def open_console(**options: Any) -> Console:
    """Return rich's ``Console`` with ``options``, without markup, emoji and highlighting."""
    return Console(markup=False, emoji=False, highlight=False, **options)


def print_columns(table: Table, console: Console, names: int = 1) -> None:
    """Print a table whose first ``names`` columns name its rows; columns to the right are numbers.

    A pipe has no width, unless ``COLUMNS`` states one: rich takes 80 for it.
    """
    has_width = console.is_terminal or "COLUMNS" in os.environ
    is_wide = has_width and _width(table, console) > console.width
    for part in _folded(table, console, names) if is_wide else [table]:
        options = console.options.update(width=max(console.width, _width(part, console)))
        console.print(Segments(console.render(part, options)), crop=False, end="")


def _width(table: Table, console: Console) -> int:
    options = console.options.update(width=UNLIMITED)
    return Measurement.get(console, options, table).maximum


def _folded(table: Table, console: Console, names: int) -> Iterator[Table]:
    """Yield the table in parts, each with the columns of names and as many others as fit."""
    natural = [max(map(cell_len, _lines(column))) for column in table.columns]
    blanks = ceil((_width(table, console) - sum(natural)) / len(natural))
    for shortest in SHORTEST:
        least = [
            _least_width(column, min(width, shortest))
            for column, width in zip(table.columns, natural, strict=True)
        ]
        if sum(least[:names]) + max(least[names:]) + blanks * (names + 1) <= console.width:
            break
    blocks = [[*range(names)]]
    for index in range(names, len(natural)):
        wide = sum(least[i] + blanks for i in (*blocks[-1], index)) > console.width
        if wide and len(blocks[-1]) > names:
            blocks.append([*range(names)])
        blocks[-1].append(index)
    for block in blocks:
        part = copy(table)
        part.title = table.title if block is blocks[0] else None
        part.caption = table.caption if block is blocks[-1] else None
        part.columns = []
        room = max(0, console.width - sum(least[i] + blanks for i in block))
        for number, index in enumerate(block):
            extra = min(natural[index] - least[index], room)
            room -= extra
            shape = {"width": least[index] + extra, "no_wrap": False, "overflow": "fold"}
            part.columns.append(replace(table.columns[index], _index=number, **shape))
        yield part


def _least_width(column: Column, text: int) -> int:
    """Return the width of a column whose texts, or the heading of whose numbers, are wrapped."""
    if column.justify != "right":
        return text
    return max(map(cell_len, [*str(column.header).split(), *_lines(column)[1:]]))


def _lines(column: Column) -> list[str]:
    cells = (column.header, *column.cells)
    return [line for cell in cells for line in str(cell).split("\n")]
