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
_TEX_WIDTH, _TEX_SEP, _NAME_WIDTH = 219.0, 2.0, 80.0  # points; of a column, beside and of names
# Points, as tex_width counts them; others are 6.7 as capitals, else 4.8
_TEX_WIDTHS = dict.fromkeys(".,;:'|![]iIl ", 2.7) | dict.fromkeys("jtfr()", 3.4)
_TEX_WIDTHS |= dict.fromkeys("0123456789", 4.5) | dict.fromkeys("mw+-<>=@%", 7.5)
_TEX_WIDTHS |= dict.fromkeys("MW", 8.7)


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
    """Return the lines of a ``table`` with a caption and a label (needs ``booktabs``).

    It fits a column of 219 points, such as that of ACL: headings and long names wrap, and columns
    that do not fit follow in a block below, beside the names of their rows.
    """
    lines = [r"\begin{table}", r"\centering\footnotesize\setlength{\tabcolsep}{2pt}"]
    for block in tex_blocks(table):
        widths = [max(map(tex_width, cells)) for cells in zip(*block.rows, strict=True)]
        widths[0] = min(widths[0], _NAME_WIDTH)
        rows = [
            " & ".join(map(_tex_cell, row, widths, block.alignment)) + r" \\"
            for row in (block.head, *block.rows)
        ]
        lines.append(rf"\begin{{tabular}}{{@{{}}{block.alignment}@{{}}}}")
        lines += [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
        lines += [r"\end{tabular}", r"\par\smallskip"]
    return [*lines[:-1], rf"\caption{{{_tex(caption)}}}", rf"\label{{tab:{label}}}", r"\end{table}"]


def tex_blocks(table: TextTable) -> list[TextTable]:
    """Split the columns into blocks that fit, each with the names of the rows that it has."""
    columns = [[*cells] for cells in zip(*table.rows, strict=True)]
    limits = [_NAME_WIDTH, *(max(map(tex_width, cells)) for cells in columns[1:])]
    texts = [[name, *cells] for name, cells in zip(table.head, columns, strict=True)]
    widths = [
        max(tex_width(line) for text in column for line in _wrapped(text, limit))
        for column, limit in zip(texts, limits, strict=True)
    ]
    blocks, total = [[0]], widths[0]
    for i, width in enumerate(widths[1:], 1):
        total += width + 2 * _TEX_SEP
        if total > _TEX_WIDTH and len(blocks[-1]) > 1:
            blocks.append([0])
            total = widths[0] + width + 2 * _TEX_SEP
        blocks[-1].append(i)
    return [
        TextTable(
            table.heading,
            [table.head[i] for i in block],
            [[row[i] for i in block] for row in table.rows if any(row[i] for i in block[1:])],
            table.names,
        )
        for block in blocks
    ]


def tex_width(text: str) -> float:
    """Return the width in points, at most, in Times of 9 points and in Computer Modern of 8."""
    return sum(
        _TEX_WIDTHS.get(character, 6.5 if character.isupper() else 4.8) for character in text
    )


def _wrapped(text: str, width: float) -> list[str]:
    """Break a text at blanks into lines of a width in points, and words that are wider at marks."""
    lines = [""]
    for word in text.split(" "):
        parts = [word] if tex_width(word) <= width else re.split(r"(?<=[_/-])(?=.)", word)
        for number, part in enumerate(parts):
            longer = f"{lines[-1]} {part}".lstrip() if number == 0 else lines[-1] + part
            if lines[-1] and tex_width(longer) > width:
                lines.append(part)
            else:
                lines[-1] = longer
    return lines


def _tex_cell(text: str, width: float, side: str) -> str:
    lines = list(map(_tex, _wrapped(text, width)))
    stacked = r"\\".join(lines)
    return rf"\shortstack[{side}]{{{stacked}}}" if len(lines) > 1 else stacked


def _tex(text: str) -> str:
    return _MINUS.sub("$-$", escape_tex(printable(text)))
