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

SHORTEST = 12  # characters to which a text may be wrapped
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
    widths = [_widths(column) for column in table.columns]
    blanks = ceil((_width(table, console) - sum(natural for natural, _ in widths)) / len(widths))
    blocks = [[*range(names)]]
    for index in range(names, len(widths)):
        wide = sum(widths[i][1] + blanks for i in (*blocks[-1], index)) > console.width
        if wide and len(blocks[-1]) > names:
            blocks.append([*range(names)])
        blocks[-1].append(index)
    for block in blocks:
        part = copy(table)
        part.title = table.title if block is blocks[0] else None
        part.caption = table.caption if block is blocks[-1] else None
        shown = {i: widths[i][1] for i in block}
        room = max(0, console.width - sum(least + blanks for least in shown.values()))
        for i in sorted(block, key=lambda i: widths[i][0] - widths[i][1]):
            extra = min(widths[i][0] - widths[i][1], room)
            shown[i], room = shown[i] + extra, room - extra
        part.columns = [
            replace(table.columns[i], _index=place, width=shown[i], no_wrap=False, overflow="fold")
            for place, i in enumerate(block)
        ]
        yield part


def _widths(column: Column) -> tuple[int, int]:
    """Return the width of a column, and the least: of wrapped texts, or headings of numbers."""
    cells = (column.header, *column.cells)
    lines = [line for cell in cells for line in str(cell).split("\n")]
    words = str(column.header).split() if column.justify == "right" else lines[:1]
    natural, least = (max(map(cell_len, texts)) for texts in (lines, [*words, "", *lines[1:]]))
    return natural, least if column.justify == "right" else min(natural, SHORTEST)
