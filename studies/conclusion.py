"""What a study of the instruments concludes, and how it is printed, written and drawn."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from analysis.frame import numbers, texts
from analysis.made import describe_made, read_made
from analysis.report.frame import banner, build_page, count_points, fill
from analysis.results import write_conclusions
from analysis.show import as_rows, estimates, print_lines, print_table, short
from files import InputError, atomic_path
from files.charts import save_charts

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
PRINTED, PRINTED_ROWS = 2, 20  # tables on the terminal, and rows of each
MOST_ROWS = 1_000  # of a table on the page; the CSV beside it has all


class Conclusion(NamedTuple):
    """What a study concludes: ``answer``, the sentence on top; ``tables`` that are written, by the
    name of their CSV; those that are ``shown``, with their headings, and printed, the first two of
    them; ``charts`` by name, and the ``numbers`` beside them.
    """

    title: str
    answer: str
    tables: Mapping[str, pd.DataFrame]
    shown: Mapping[str, pd.DataFrame]
    charts: Mapping[str, TopLevelMixin]
    notes: Sequence[str] = ()
    numbers: Mapping[str, pd.DataFrame] = {}


def conclude(found: Conclusion, points: pd.DataFrame, folder: Path, console: Console) -> list[Path]:
    """Print, write and draw it, and write ``report.html``, which needs no network; the paths. What
    is too much for a picture is no failure: the console says so.
    """
    written = write_conclusions(folder, found.tables)
    shown = {heading: described(table) for heading, table in found.shown.items() if len(table)}
    print_lines([found.answer], console)
    for heading, columns in list(shown.items())[:PRINTED]:
        rows = as_rows(columns)
        more = f" (the first of {len(rows)} rows)" if len(rows) > PRINTED_ROWS else ""
        worded = _worded(found.shown[heading])
        print_table(heading + more, rows[:PRINTED_ROWS], console, left=worded)
    try:
        for name, chart in found.charts.items():
            written += save_charts(chart, folder / "figures" / name, FORMATS)
    except InputError as refusal:
        print_lines([f"not drawn: {refusal}"], console)
    written += write_conclusions(folder / "figures", found.numbers)
    drawn = [path for path in written if path.suffix == ".svg"]
    return [*written, _write_page(found, shown, drawn, points, folder)]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column."""
    return [dict(zip(map(str, table), row, strict=True)) for row in table.itertuples(index=False)]


def described(table: pd.DataFrame) -> dict[str, list[str]]:
    """The columns as a reader is shown them: numbers to two digits with their intervals, which are
    the columns ``NAME_low`` and ``NAME_high``, or ``low`` and ``high`` after the number.
    """
    columns: dict[str, list[str]] = {}
    names = list(map(str, table))
    for name, following in zip(names, [*names[1:], ""], strict=True):
        low = f"{name}_low" if f"{name}_low" in names else "low" if following == "low" else ""
        if low:
            columns[name] = estimates(table, name, low, low.replace("low", "high"))
        elif not name.endswith(("low", "high")) and any(cells := _cells(table, name)):
            columns[name] = cells
    return columns


def _worded(table: pd.DataFrame) -> list[str]:
    return [
        str(name)
        for name, column in table.items()
        if is_bool_dtype(column) or not is_numeric_dtype(column)
    ]


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    if name in _worded(table):
        return texts(table, name)
    values = numbers(table, name)
    known = values[np.isfinite(values)]
    digits = 0 if (known == known.round()).all() else 3
    return [short(value, digits) for value in values.tolist()]


def _write_page(
    found: Conclusion,
    shown: Mapping[str, dict[str, list[str]]],
    drawn: Sequence[Path],
    points: pd.DataFrame,
    folder: Path,
) -> Path:
    words = {
        "title": html.escape(found.title),
        "banner": banner("True" in texts(points, "generated")),
        "answer": html.escape(found.answer),
        "tables": "".join(
            _table(heading, columns, _worded(found.shown[heading]))
            for heading, columns in shown.items()
        ),
        "figures": "".join(map(_figure, drawn)),
        "notes": "".join(f"<li>{html.escape(note)}</li>" for note in found.notes),
        "points": count_points(points),
        "made": html.escape(describe_made(read_made(folder))),
    }
    page = build_page(words["title"], fill("study_page.html", words), "img-src data:")
    with atomic_path(folder / "report.html") as path:
        path.write_text(page, encoding="utf-8")
    return folder / "report.html"


def _table(heading: str, columns: Mapping[str, Sequence[str]], left: Sequence[str]) -> str:
    kinds = {name: ' class="text"' if name in left else "" for name in columns}
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(name.replace("_", " "))}</th>'
        for name, kind in kinds.items()
    )
    rows = list(zip(*columns.values(), strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{html.escape(cell)}</td>" for cell, kind in cells) + "</tr>"
        for row in rows[:MOST_ROWS]
        for cells in [zip(row, kinds.values(), strict=True)]
    )
    rest = len(rows) - MOST_ROWS
    more = f'<p class="soft">and {rest} more rows, in the CSV beside this page</p>'
    return (
        f"<section><h2>{html.escape(heading)}</h2><div class='wide scroll'><table><thead>"
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more if rest > 0 else ''}"
        "</section>"
    )


def _figure(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    name = html.escape(path.stem.replace("_", " "))
    return (
        f'<figure><div class="wide"><img alt="{name}" src="data:image/svg+xml;base64,{data}">'
        f"</div><figcaption>{name}; its numbers: the CSV files beside this page</figcaption>"
        "</figure>"
    )
