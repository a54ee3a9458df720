"""The rows of gaps as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.gaps import CRITERIA, larger_is_better
from files.printable import printable

if TYPE_CHECKING:
    from extrinsic.gap_table import Row

SHOWN = 200  # rows of a kind: no more can be read in a terminal
KINDS = ("value", "gap", "largest", "ratio")
WORDS = ("classifier", "class", "measure", "group", "note")


def print_rows(rows: Sequence[Row], console: Console) -> None:
    """The table, wider than the terminal rather than with numbers cut."""
    shown = [row for kind in KINDS for row in [r for r in rows if r.kind == kind][:SHOWN]]
    table, least = _render(shown)
    (console if console.width >= least else Console(width=least)).print(table)
    if more := len(rows) - len(shown):
        console.print(f"and {more:,} more rows; --csv OUT writes all", highlight=False)


def _render(rows: Sequence[Row]) -> tuple[Table, int]:
    """The table for a terminal, and its least width: words wrap, numbers do not."""
    cells = [{name: printable(text) for name, text in _format(row).items()} for row in rows]
    kept = [name for name in cells[0] if name in WORDS[2:] or any(each[name] for each in cells)]
    out = Table()
    least = 1
    for name in kept:
        widest = max(cell_len(text) for text in (name, *(each[name] for each in cells)))
        words = name in WORDS
        floor = min(widest, 8) if words else widest
        least += floor + 3
        out.add_column(
            name,
            justify="left" if words else "right",
            overflow="fold",
            no_wrap=not words,
            min_width=floor,
        )
    for each in cells:
        out.add_row(*(Text(each[name]) for name in kept))
    return out, least


def _format(row: Row) -> dict[str, str]:
    """What is printed of a row: a gap as the difference it is, with both supports."""
    measure, group, sign, support = row.measure, row.group, "", str(row.support)
    if row.kind != "value":
        sides = [
            (row.privileged, row.support_privileged),
            (row.unprivileged, row.support_unprivileged),
        ]
        [*first] = CRITERIA.get(measure, (measure,))
        (a, n), (b, m) = sides if larger_is_better(first[0]) else sides[::-1]
        between = {"gap": "-", "largest": "-", "ratio": "/"}[row.kind]
        if row.kind == "ratio":
            (a, n), (b, m) = (b, m), (a, n)
        title = {"gap": "gap", "largest": "largest gap", "ratio": "ratio"}[row.kind]
        measure, group = f"{measure} {title}", f"{a} {between} {b}" if a else ""
        sign = "+" if row.kind == "gap" else ""
        support = f"{n} / {m}" if n is not None else ""
    if " - " in row.classifier:
        sign = "+"
    return {
        "classifier": row.classifier,
        "class": row.subset,
        "measure": measure,
        "group": group,
        "value": "undefined" if isnan(row.value) else f"{row.value:{sign}.3f}",
        "95 % interval": "" if isnan(row.low) else f"{row.low:{sign}.3f}, {row.high:{sign}.3f}",
        "support": support,
        "note": row.reason,
    }
