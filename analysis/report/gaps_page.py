"""The page of a table of gaps: values by group, who fares worse, how sure that is."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from biasbridge import __version__
from biasbridge.analysis.naming import MAX_GROUPS, measure_title
from biasbridge.analysis.report.decision import Decision, decide_release
from biasbridge.analysis.report.gap_facts import (
    LIMITS,
    TEXT_COLUMNS,
    GapBlock,
    gap_tables,
    read_blocks,
    value_table,
)
from biasbridge.analysis.report.templates import as_image, write_page
from biasbridge.files.charts import draw_svg
from biasbridge.files.errors import printable
from biasbridge.files.extras import describe_missing_charts
from biasbridge.files.tables import escape_control
from biasbridge.stats.formatting import format_number
from biasbridge.stats.measure_facts import MEASURE_FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd


def write_gaps_page(
    table: pd.DataFrame,
    path: Path,
    title: str,
    *,
    label: str = "",
    decision: Decision | None = None,
    verdict: str = "",
    notes: Iterable[str] = (),
) -> Path:
    """Write the page of a table of gaps, which needs no network: a decision in counts of 100, and
    folded below it a section for each classifier and class.

    ``label`` names the positive class, as in "30% of the items are ..."; empty for label 1.
    ``verdict`` is the sentence of a gate, ``decision`` by default that without a gate.
    """
    present, table = set(table["measure"]), escape_control(table)
    missing_charts = describe_missing_charts()
    sections = [
        _sections(block, has_charts=not missing_charts) for block in read_blocks(table, label)
    ]
    return write_page(
        path,
        "gaps_page.html",
        title=printable(title),
        decision=decision or decide_release(table, label=label),
        blocks=sections,
        missing_charts=missing_charts,
        verdict=printable(verdict),
        notes=list(map(printable, notes)),
        max_groups=MAX_GROUPS,
        limits=LIMITS,
        text_columns=TEXT_COLUMNS,
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
                "head": list(text),
                "rows": text.to_numpy().tolist(),
            }
            for score, (table, text) in tables.items()
        ],
    )


def _thresholds_image(table: pd.DataFrame) -> str:
    from biasbridge.analysis.table_charts import thresholds_chart

    return as_image(draw_svg(thresholds_chart(escape_control(table))).encode())


def _sections(block: GapBlock, *, has_charts: bool) -> dict[str, Any]:
    """Return what the template says of a block."""
    return block._asdict() | {
        "figures": _figures(block) if has_charts else [],
        "group_table": value_table(block.table, block.groups, plus=block.is_change),
        "gaps": gap_tables(block.table, block.groups, is_pair=block.is_pair),
    }


def _figures(block: GapBlock) -> list[tuple[str, str]]:
    """Return drawings, each after its text alternative."""
    from biasbridge.analysis.charts import CONFIG
    from biasbridge.analysis.table_charts import gap_panels

    figures = []
    for measure, panel in gap_panels(block.table, block.groups).items():
        table = block.table
        rows = table[(table["kind"] == "value") & (table["measure"] == measure)]
        records = rows.head(MAX_GROUPS).to_dict("records")
        values = ", ".join(f"{row['group']} {format_number(row['value'], 2)}" for row in records)
        image = as_image(draw_svg(panel.configure(**CONFIG)).encode())
        figures.append((f"{measure_title(measure)} by group: {values}", image))
    return figures
