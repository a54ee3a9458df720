"""Conclusion of a study of the metrics: printing, tables, figures and report page."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.frame import as_text
from analysis.provenance import describe_provenance, read_provenance
from analysis.report.frame import banner, build_page, count_points, fill
from analysis.results import write_csv_tables
from analysis.terminal import as_text_columns, print_as_text, print_lines, text_columns
from files import InputError, atomic_path
from files.charts import save_charts

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
N_PRINTED = 2  # tables on the terminal
MAX_ROWS = 1_000  # of a table on the page; its CSV has all


class Conclusion(NamedTuple):
    """Conclusion of a study: ``answer`` is on top of its page and ``notes`` at the end; ``tables``
    and ``chart_data`` are by name of their CSV, ``shown`` by heading (the first two: printed).
    """

    title: str
    answer: str
    tables: Mapping[str, pd.DataFrame]
    shown: Mapping[str, pd.DataFrame]
    charts: Mapping[str, TopLevelMixin]
    notes: Sequence[str] = ()
    chart_data: Mapping[str, pd.DataFrame] = {}


def conclude(
    conclusion: Conclusion, points: pd.DataFrame, folder: Path, console: Console
) -> list[Path]:
    """Print, write and draw a conclusion and ``report.html``, which needs no network; return the
    files. A figure with too many points is reported on the console and fails no run.
    """
    written = write_csv_tables(folder, conclusion.tables)
    shown = {
        heading: as_text_columns(table) for heading, table in conclusion.shown.items() if len(table)
    }
    print_lines([conclusion.answer], console)
    for heading in list(shown)[:N_PRINTED]:
        print_as_text(heading, conclusion.shown[heading], console)
    try:
        for name, chart in conclusion.charts.items():
            written += save_charts(chart, folder / "figures" / name, FORMATS)
    except InputError as error:
        print_lines([f"not drawn: {error}"], console)
    written += write_csv_tables(folder / "figures", conclusion.chart_data)
    drawings = [path for path in written if path.suffix == ".svg"]
    return [*written, _write_page(conclusion, shown, drawings, points, folder)]


def row_dicts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return every row as a mapping from column to cell."""
    return [dict(zip(map(str, table), row, strict=True)) for row in table.itertuples(index=False)]


def _write_page(
    conclusion: Conclusion,
    shown: Mapping[str, dict[str, list[str]]],
    drawings: Sequence[Path],
    points: pd.DataFrame,
    folder: Path,
) -> Path:
    fields = {
        "title": html.escape(conclusion.title),
        "banner": banner("True" in as_text(points, "generated")),
        "answer": html.escape(conclusion.answer),
        "tables": "".join(
            _table(heading, columns, text_columns(conclusion.shown[heading]))
            for heading, columns in shown.items()
        ),
        "figures": "".join(_figure(path, conclusion.charts[path.stem]) for path in drawings),
        "notes": "".join(f"<li>{html.escape(note)}</li>" for note in conclusion.notes),
        "points": count_points(points),
        "made": html.escape(describe_provenance(read_provenance(folder))),
    }
    page = build_page(fields["title"], fill("study_page.html", fields), "img-src data:")
    with atomic_path(folder / "report.html") as path:
        path.write_text(page, encoding="utf-8")
    return folder / "report.html"


def _table(heading: str, columns: Mapping[str, Sequence[str]], text_columns: Sequence[str]) -> str:
    classes = {name: ' class="text"' if name in text_columns else "" for name in columns}
    head = "".join(
        f'<th scope="col"{css_class}>{html.escape(name.replace("_", " "))}</th>'
        for name, css_class in classes.items()
    )
    rows = list(zip(*columns.values(), strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{css_class}>{html.escape(cell)}</td>"
            for cell, css_class in zip(row, classes.values(), strict=True)
        )
        + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    n_omitted = len(rows) - MAX_ROWS
    omitted = f'<p class="soft">and {n_omitted} more rows, in the CSV beside this page</p>'
    title = html.escape(heading)
    region = f"<div class='wide scroll' tabindex='0' role='region' aria-label='{title}'>"
    return (
        f"<section><h2>{title}</h2>{region}<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{omitted if n_omitted > 0 else ''}</section>"
    )


def _figure(path: Path, chart: TopLevelMixin) -> str:
    """Embed a drawing, with its title as the alternative text."""
    data = base64.b64encode(path.read_bytes()).decode()
    name = html.escape(path.stem.replace("_", " "))
    title = getattr(chart, "title", name)  # to_dict refuses charts of more than 5,000 rows
    text = html.escape(title if isinstance(title, str) else getattr(title, "text", name))
    return (
        f'<figure><div class="wide"><img alt="{text}" src="data:image/svg+xml;base64,{data}">'
        f"</div><figcaption>{name}; its numbers: the CSV files beside this page</figcaption>"
        "</figure>"
    )
