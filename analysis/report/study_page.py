"""The page of a study of the instruments: its answer, its tables and its figures, in one file."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from analysis.frame import texts, values_of
from analysis.made import describe_made, read_made
from analysis.report.frame import banner, build_page, count_points, fill
from analysis.show import short
from files import atomic_path

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

PAGE = "report.html"
MOST_ROWS = 1_000  # of a table; the CSV beside the page has all


def write_study_page(
    folder: Path,
    points: pd.DataFrame,
    title: str,
    answer: str,
    tables: Sequence[tuple[str, pd.DataFrame]],
    figures: Iterable[Path],
    notes: Sequence[str] = (),
) -> Path:
    """Write ``report.html`` of a results folder, which needs no network; its path.

    ``answer``: the sentence on top. ``tables``: each with its heading. ``figures``: the paths of
    what was drawn, of which the page holds the SVG. ``points``: the points of the study; where any
    is of synthetic data the page says so. A number is shown to three digits, an undefined one as -.
    """
    drawn = [path for path in figures if path.suffix == ".svg"]
    words = {
        "title": html.escape(title),
        "banner": banner("True" in texts(points, "generated")),
        "answer": html.escape(answer),
        "tables": "".join(_table(name, table) for name, table in tables),
        "figures": "".join(map(_figure, drawn)),
        "notes": "".join(f"<li>{html.escape(note)}</li>" for note in notes),
        "points": count_points(points),
        "made": html.escape(describe_made(read_made(folder))),
    }
    page = build_page(words["title"], fill("study_page.html", words), "img-src data:")
    with atomic_path(folder / PAGE) as path:
        path.write_text(page, encoding="utf-8")
    return folder / PAGE


def _table(heading: str, table: pd.DataFrame) -> str:
    shown = table.head(MOST_ROWS)
    columns = [values_of(shown, str(name)) for name in shown]
    is_text = [any(isinstance(value, str) for value in column) for column in columns]
    kinds = [' class="text"' if each else "" for each in is_text]
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(str(name).replace("_", " "))}</th>'
        for name, kind in zip(shown, kinds, strict=True)
    )
    rows = [
        "".join(f"<td{kind}>{_cell(value)}</td>" for value, kind in zip(row, kinds, strict=True))
        for row in zip(*columns, strict=True)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    left = len(table) - len(shown)
    more = f'<p class="soft">and {left} more rows, in the CSV beside this page</p>' if left else ""
    name = html.escape(heading)
    return (
        f"<section><h2>{name}</h2><div class='wide scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{more}</section>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        whole = isfinite(value) and value.is_integer() and abs(value) > 1
        return f"{value:.0f}" if whole else short(value, 3)
    return html.escape("" if value is None else str(value))


def _figure(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    name = html.escape(path.stem.replace("_", " "))
    return (
        f'<figure><div class="wide"><img alt="{name}" src="data:image/svg+xml;base64,{data}">'
        f"</div><figcaption>{name}; its numbers: the CSV files beside this page</figcaption>"
        "</figure>"
    )
