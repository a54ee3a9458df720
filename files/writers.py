"""Tables of text, and their writers: for a terminal, Markdown and LaTeX (pages have templates)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.files.errors import printable
from biasbridge.files.tables import escape_tex
from biasbridge.files.terminal import print_columns

if TYPE_CHECKING:
    from rich.console import Console

_MINUS = re.compile(r"(?<![\w.])-(?=[.\d])")


class TextTable(NamedTuple):
    """A table of text under a heading, which may be empty; the first column names the rows.

    ``names``: other columns of names, aligned as the first is.
    """

    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: Collection[str] = ()

    @classmethod
    def of_rows(
        cls, heading: str, rows: Sequence[Mapping[str, str]], names: Collection[str] = ()
    ) -> TextTable:
        """Return rows of cells by column as a table; without rows it has no columns."""
        return cls(heading, list(rows[0]) if rows else [], [[*row.values()] for row in rows], names)

    @property
    def alignment(self) -> str:
        """Return l or r for each column."""
        return "".join("l" if name in (*self.head[:1], *self.names) else "r" for name in self.head)

    @property
    def n_names(self) -> int:
        """Number of columns on the left that name the rows."""
        return len(self.alignment) - len(self.alignment.lstrip("l"))


def print_text_table(
    table: TextTable, console: Console, max_rows: int = 0, *, ruled: bool = True
) -> None:
    """Print a table, its first rows where ``max_rows`` is given, with a rule below its heading."""
    from rich import box
    from rich.table import Table

    print_lines([table.heading] * bool(table.heading), console, style="" if ruled else "italic")
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False)
    if not ruled:
        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, side in zip(table.head, table.alignment, strict=True):
        shown.add_column(printable(name), justify="left" if side == "l" else "right")
    for row in table.rows[: max_rows or None]:
        shown.add_row(*map(printable, row))
    if max_rows and (n_omitted := len(table.rows) - max_rows) > 0:
        plural = "s" * (n_omitted > 1)
        shown.caption = f"and {n_omitted:,} more row{plural}: --csv OUT writes all"
        shown.caption_justify = "left"
    print_columns(shown, console, names=max(1, table.n_names))


def print_lines(lines: Iterable[str], console: Console, style: str = "") -> None:
    """Print lines as they are, unwrapped, with control characters escaped."""
    for line in lines:
        console.print(printable(line), style=style, soft_wrap=True)


def markdown_table(table: TextTable) -> list[str]:
    """Return the lines of a table, after its heading."""
    rule = ["---" if side == "l" else "---:" for side in table.alignment]
    cells = [[*map(escape_markdown, row)] for row in (table.head, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:])]
    return [f"{escape_markdown(table.heading)}:", "", *lines] if table.heading else lines


def escape_markdown(text: str) -> str:
    """Escape the characters that Markdown would read as marks."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&@])", r"\\\1", printable(text))


def tex_table(table: TextTable, caption: str, label: str) -> list[str]:
    """Return the lines of a ``table`` with a caption and a label (needs ``booktabs``)."""

    def line(row: Sequence[str]) -> str:
        return " & ".join(_tex(cell) for cell in row) + r" \\"

    return [
        r"\begin{table}",
        r"\centering\small\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{@{{}}{table.alignment}@{{}}}}",
        r"\toprule",
        line(table.head),
        r"\midrule",
        *map(line, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_tex(caption)}}}",
        rf"\label{{tab:{label}}}",
        r"\end{table}",
    ]


def _tex(text: str) -> str:
    return _MINUS.sub("$-$", escape_tex(printable(text)))
