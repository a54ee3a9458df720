"""Conclusion of a study of the metrics: printing, tables, figures and report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.analysis.printing import print_first_rows
from biasbridge.analysis.report.templates import as_image, count_points, write_page
from biasbridge.analysis.result_folder import describe_provenance, read_provenance, write_csv_tables
from biasbridge.files import InputError
from biasbridge.files.charts import save_charts
from biasbridge.files.columns import as_text
from biasbridge.files.writers import print_lines, text_table

if TYPE_CHECKING:
    import pandas as pd
    from altair import TopLevelMixin
    from rich.console import Console

_N_PRINTED = 2  # tables on the terminal
_MAX_ROWS = 1_000  # of a table on the page; its CSV has all


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
    """Print, write and draw a conclusion and its page; a figure too large is only reported."""
    written = write_csv_tables(folder, conclusion.tables)
    shown = [text_table(name, table) for name, table in conclusion.shown.items() if len(table)]
    print_lines([conclusion.answer], console)
    for table in shown[:_N_PRINTED]:
        print_first_rows(table, console)
    try:
        for name, chart in conclusion.charts.items():
            written += save_charts(chart, folder / "figures" / name)
    except InputError as error:
        print_lines([f"not drawn: {error}"], console)
    written += write_csv_tables(folder / "figures", conclusion.chart_data)
    drawings = [path for path in written if path.suffix == ".svg"]
    page = write_page(
        folder / "report.html",
        "study_page.html",
        title=conclusion.title,
        is_synthetic="True" in as_text(points, "generated"),
        answer=conclusion.answer,
        tables=shown,
        max_rows=_MAX_ROWS,
        figures=[_figure(path, conclusion.charts[path.stem]) for path in drawings],
        notes=conclusion.notes,
        points=count_points(points),
        provenance=describe_provenance(read_provenance(folder)),
    )
    return [*written, page]


def row_dicts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return every row as a mapping from column to cell."""
    return [dict(zip(map(str, table), row, strict=True)) for row in table.itertuples(index=False)]


def _figure(path: Path, chart: TopLevelMixin) -> dict[str, str]:
    """Return a drawing with its name and its title, the text alternative."""
    name = path.stem.replace("_", " ")
    title = getattr(chart, "title", name)  # to_dict refuses charts of more than 5,000 rows
    text = title if isinstance(title, str) else getattr(title, "text", name)
    return {"name": name, "title": str(text), "image": as_image(path.read_bytes())}
