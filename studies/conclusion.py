"""What a study of the instruments concludes, and how it is printed, written and drawn."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.frame import texts
from analysis.made import describe_made, read_made
from analysis.report.frame import banner, build_page, count_points, fill
from analysis.results import write_conclusions
from analysis.show import described, print_described, print_lines, worded
from files import InputError, atomic_path
from files.charts import save_charts

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
PRINTED = 2  # tables on the terminal
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
    for heading in list(shown)[:PRINTED]:
        print_described(heading, found.shown[heading], console)
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
            _table(heading, columns, worded(found.shown[heading]))
            for heading, columns in shown.items()
        ),
        "figures": "".join(_figure(path, found.charts[path.stem]) for path in drawn),
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
    name = html.escape(heading)
    wide = f"<div class='wide scroll' tabindex='0' role='region' aria-label='{name}'>"
    return (
        f"<section><h2>{name}</h2>{wide}<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{more if rest > 0 else ''}</section>"
    )


def _figure(path: Path, chart: TopLevelMixin) -> str:
    """The drawing with its own title in its place, for those who do not see it."""
    data = base64.b64encode(path.read_bytes()).decode()
    name = html.escape(path.stem.replace("_", " "))
    title = getattr(chart, "title", name)  # to_dict refuses charts of more than 5,000 rows
    text = html.escape(title if isinstance(title, str) else getattr(title, "text", name))
    return (
        f'<figure><div class="wide"><img alt="{text}" src="data:image/svg+xml;base64,{data}">'
        f"</div><figcaption>{name}; its numbers: the CSV files beside this page</figcaption>"
        "</figure>"
    )
