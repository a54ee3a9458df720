"""Tables of text and their writers, for a terminal, Markdown and LaTeX; documents as files.

Pages of studies and of gaps have templates of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from pandas.api.types import is_bool_dtype, is_numeric_dtype

from biasbridge.files.errors import printable
from biasbridge.files.tables import escape_tex
from biasbridge.files.terminal import print_columns
from biasbridge.stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:1em}.wide{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{padding:.2em .6em;border-bottom:1px solid #ccc;white-space:nowrap;text-align:right}"
    ".l{text-align:left}"
)
_MINUS = re.compile(r"(?<![\w.])-(?=[.\d])")
_TEX_WIDTH, _TEX_SEP, _NAME_WIDTH = 219.0, 2.0, 80.0  # points; of a column, beside and of names
# Points, as tex_width counts them; others are 6.7 as capitals, else 4.8
_TEX_WIDTHS = dict.fromkeys(".,;:'|![]iIl ", 2.7) | dict.fromkeys("jtfr()", 3.4)
_TEX_WIDTHS |= dict.fromkeys("0123456789", 4.5) | dict.fromkeys("mw+-<>=@%", 7.5)
_TEX_WIDTHS |= dict.fromkeys("MW", 8.7)


class TextTable(NamedTuple):
    """A table of text under a heading, which may be empty; the first column names the rows.

    ``names``: other columns of names, aligned as the first is. ``notes`` are lines below it.
    """

    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: Collection[str] = ()
    notes: Sequence[str] = ()

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


class Document(NamedTuple):
    """What people read of a result: the sentences that come ``first``, ``lines`` below them,
    tables, and ``notes``.
    """

    first: Sequence[str]
    lines: Sequence[str] = ()
    tables: Sequence[TextTable] = ()
    notes: Sequence[str] = ()


def print_document(document: Document, console: Console, *, ruled: bool = True) -> None:
    """Print sentences, tables and notes."""
    print_lines((*document.first, *document.lines), console)
    for table in document.tables:
        print_text_table(table, console, ruled=ruled)
    print_lines(document.notes, console)


def print_text_table(
    table: TextTable, console: Console, max_rows: int = 0, *, ruled: bool = True, blanks: int = 2
) -> None:
    """Print a table, its first rows where ``max_rows`` is given, with a rule below its heading."""
    from rich import box
    from rich.table import Table

    print_lines([table.heading] * bool(table.heading), console, style="" if ruled else "italic")
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False)
    if not ruled:
        shown = Table(box=None, pad_edge=False, padding=(0, blanks, 0, 0))
    for name, side in zip(table.head, table.alignment, strict=True):
        shown.add_column(printable(name), justify="left" if side == "l" else "right")
    for row in table.rows[: max_rows or None]:
        shown.add_row(*map(printable, row))
    if max_rows and (n_omitted := len(table.rows) - max_rows) > 0:
        plural = "s" * (n_omitted > 1)
        shown.caption = f"and {n_omitted:,} more row{plural}: --csv OUT writes all"
        shown.caption_justify = "left"
    print_columns(shown, console, names=max(1, table.n_names))
    print_lines(table.notes, console)


def print_lines(lines: Iterable[str], console: Console, style: str = "") -> None:
    """Print lines as they are, unwrapped, with control characters escaped."""
    for line in lines:
        console.print(printable(line), style=style, soft_wrap=True)


def markdown_table(table: TextTable) -> list[str]:
    """Return the lines of a table, after its heading."""
    rule = ["---" if side == "l" else "---:" for side in table.alignment]
    cells = [[*map(escape_markdown, row)] for row in (table.head, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:])]
    lines += [line for note in table.notes for line in ("", escape_markdown(note))]
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
        widths = _cell_widths([block.head, *block.rows])
        rows = [
            " & ".join(map(_tex_cell, row, widths, block.alignment)) + r" \\"
            for row in (block.head, *block.rows)
        ]
        lines.append(rf"\begin{{tabular}}{{@{{}}{block.alignment}@{{}}}}")
        lines += [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
        lines += [r"\end{tabular}", r"\par\smallskip"]
    return [*lines[:-1], rf"\caption{{{_tex(caption)}}}", rf"\label{{tab:{label}}}", r"\end{table}"]


def tex_blocks(table: TextTable) -> list[TextTable]:
    """Split the columns into blocks that fit, each with the names of the rows that it has: as many
    of them, in one cell, as tell the rows apart.
    """
    rows, n = [*map(tuple, table.rows)], 1
    while n < table.n_names and len({row[:n] for row in rows}) < len(rows):
        n += 1
    joined = [[", ".join(filter(None, row[:n])), *row[n:]] for row in (table.head, *table.rows)]
    widths = [
        max(tex_width(line) for text in column for line in _wrapped(text, width))
        for column, width in zip(zip(*joined, strict=True), _cell_widths(joined), strict=True)
    ]
    blocks, total = [[0]], widths[0]
    for i, width in enumerate(widths[1:], 1):
        total += width + 2 * _TEX_SEP
        if total > _TEX_WIDTH and len(blocks[-1]) > 1:
            blocks.append([0])
            total = widths[0] + width + 2 * _TEX_SEP
        blocks[-1].append(i)
    shown = [[[row[i] for i in block] for row in joined] for block in blocks]
    return [
        TextTable("", head, [row for row in rows if any(row[1:]) or not row[1:]], table.names)
        for head, *rows in shown
    ]


def _cell_widths(rows: Sequence[Sequence[str]]) -> list[float]:
    """Return the width of each column below its heading; names wrap."""
    widths = [max(map(tex_width, cells[1:]), default=0.0) for cells in zip(*rows, strict=True)]
    return [min(widths[0], _NAME_WIDTH), *widths[1:]]


def tex_width(text: str) -> float:
    """Return the width in points, at most, in Times of 9 points and in Computer Modern of 8."""
    return sum(
        _TEX_WIDTHS.get(character, 6.7 if character.isupper() else 4.8) for character in text
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


# Documents and tables of data as files.


def format_document(kind: str, document: Document, title: str) -> str:
    """Return a document as Markdown (md), LaTeX (tex: its tables, the rest as comments) or as a
    page that needs no network (html).
    """
    sentences, tables = [*document.first, *document.lines], document.tables
    if kind == "md":
        parts = [f"## {escape_markdown(title)}", *map(escape_markdown, sentences)]
        parts += ["\n".join(markdown_table(table)) for table in tables]
        notes = [f"- {escape_markdown(note)}" for note in filter(None, document.notes)]
        lines = ["\n\n".join([*parts, *filter(None, ["\n".join(notes)])])]
    elif kind == "tex":
        lines = [f"% {printable(line)}" for line in (*sentences, *document.notes)]
        for number, table in enumerate(tables, 1):
            label = f"{title}-{number}".replace(" ", "-")
            lines += ["", *(f"% {printable(note)}" for note in table.notes)]
            lines += tex_table(table, table.heading or title, label)
    else:
        lines = [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style><h1>{escape(title)}</h1>",
            *(f"<p>{escape(printable(line))}</p>" for line in sentences),
            *(line for table in tables for line in _html_table(table)),
            *(f"<p>{escape(printable(note))}</p>" for note in document.notes),
        ]
    return "\n".join([*lines, ""])


def _html_table(table: TextTable) -> list[str]:
    """Return the lines of a table that scrolls where it is too wide."""

    def line(cells: Iterable[str], tag: str) -> str:
        classed = zip(map(printable, cells), table.alignment, strict=True)
        return "".join(f'<{tag} class="{side}">{escape(cell)}</{tag}>' for cell, side in classed)

    return [
        f"<h2>{escape(printable(table.heading))}</h2>" * bool(table.heading),
        f'<div class="wide" tabindex="0"><table><thead><tr>{line(table.head, "th")}</tr></thead>',
        *(f"<tr>{line(row, 'td')}</tr>" for row in table.rows),
        "</table></div>",
        *(f"<p>{escape(printable(note))}</p>" for note in table.notes),
    ]


def text_table(heading: str, table: pd.DataFrame) -> TextTable:
    """Return a table as text: numbers to two digits, beside their intervals, which are the columns
    ``NAME_low`` and ``NAME_high``, or ``low`` and ``high`` after the number.
    """
    columns: dict[str, list[str]] = {}
    names = list(map(str, table))
    texts = [name for name in names if _is_text(table[name])]
    for name, following in zip(names, [*names[1:], ""], strict=True):
        low = f"{name}_low" if f"{name}_low" in names else "low" if following == "low" else ""
        if low:
            ends = (table[each].astype(float) for each in (name, low, low.replace("low", "high")))
            columns[name] = list(map(format_estimate, *ends))
        elif not name.endswith(("low", "high")) and any(cells := _cells(table[name])):
            columns[name] = cells
    return TextTable(heading, [*columns], [*zip(*columns.values(), strict=True)], texts)


def _is_text(column: pd.Series) -> bool:
    return is_bool_dtype(column) or not is_numeric_dtype(column)


def _cells(column: pd.Series) -> list[str]:
    if _is_text(column):
        return column.astype(object).where(column.notna(), "").map(str).tolist()
    values = column.astype(float)
    digits = 0 if (values.dropna() % 1 == 0).all() else 3
    return [format_number(value, digits) for value in values]


def format_json(table: pd.DataFrame) -> str:
    """Return the rows of a table as JSON; NaN and infinity are null."""
    finite = [
        {
            name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
    return json.dumps(finite, indent=1, ensure_ascii=False) + "\n"
