"""The page of a table of gaps: the decision, values by group, and how sure they are."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from biasbridge import __version__
from biasbridge.analysis.naming import MAX_GROUPS
from biasbridge.analysis.report.templates import as_image, write_page
from biasbridge.files.charts import draw_svg
from biasbridge.files.errors import printable
from biasbridge.files.extras import describe_missing_charts
from biasbridge.files.tables import escape_control
from biasbridge.files.writers import TextTable
from biasbridge.stats.formatting import format_number
from biasbridge.stats.measure_facts import MEASURE_FACTS, measure_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from biasbridge.extrinsic.claims import Decision
    from biasbridge.extrinsic.gap_tables import ErrorChart, GapBlock


def write_gaps_page(
    path: Path,
    title: str,
    decision: Decision,
    blocks: Sequence[GapBlock],
    chart: ErrorChart,
    *,
    notes: Iterable[str] = (),
    limits: Iterable[str] = (),
) -> Path:
    """Write the page of a table of gaps, which needs no network: the decision in counts of 100, and
    folded below it a section for each version and class.
    """
    missing_charts = describe_missing_charts()
    present = {row.measure for block in blocks for row in block.rows}
    return write_page(
        path,
        "gaps_page.html",
        title=printable(title),
        decision=decision,
        chart=chart,
        blocks=[
            block._asdict() | {"figures": [] if missing_charts else _figures(block)}
            for block in blocks
        ],
        missing_charts=missing_charts,
        notes=[*map(printable, notes)],
        max_groups=MAX_GROUPS,
        limits=limits,
        measures={
            facts.title: facts.meaning for name, facts in MEASURE_FACTS.items() if name in present
        },
        provenance=f"{date.today():%d %B %Y}, biasbridge {__version__}.",
    )


def write_thresholds_page(
    tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    notes: Sequence[str],
    path: Path,
    title: str,
) -> Path:
    """Write the page of gaps by threshold: a chart of each score's table, with the largest gaps as
    text, and notes.
    """
    missing_charts = describe_missing_charts()
    return write_page(
        path,
        "thresholds_page.html",
        title=title,
        notes=notes,
        missing_charts=missing_charts,
        sections=[
            {
                "score": printable(score),
                "chart": "" if missing_charts else _thresholds_image(table),
                "table": TextTable("", list(map(str, text)), text.to_numpy().tolist()),
            }
            for score, (table, text) in tables.items()
        ],
    )


def _thresholds_image(table: pd.DataFrame) -> str:
    from biasbridge.analysis.table_charts import thresholds_chart

    return as_image(draw_svg(thresholds_chart(escape_control(table))).encode())


def _figures(block: GapBlock) -> list[tuple[str, str]]:
    """Return drawings, each after its text alternative."""
    from biasbridge.analysis.charts import CONFIG
    from biasbridge.analysis.table_charts import gap_panels

    figures = []
    for measure, panel in gap_panels(block.table, block.groups).items():
        rows = [row for row in block.rows if row.kind == "value" and row.measure == measure]
        values = ", ".join(f"{row.group} {format_number(row.value)}" for row in rows[:MAX_GROUPS])
        image = as_image(draw_svg(panel.configure(**CONFIG)).encode())
        figures.append((f"{measure_name(measure)} by group: {values}", image))
    return figures
