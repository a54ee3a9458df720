"""The page of a table of gaps: the decision, values by group, and how sure they are."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge import __version__
from biasbridge.analysis.naming import MAX_GROUPS
from biasbridge.analysis.report.templates import as_image, write_page
from biasbridge.extrinsic.claims import OUTCOMES
from biasbridge.extrinsic.gap_table import GapRow, as_table
from biasbridge.extrinsic.gap_tables import LIMITS, METHOD, read_blocks, reasons
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.files.charts import draw_svg
from biasbridge.files.errors import printable
from biasbridge.files.extras import describe_missing_charts
from biasbridge.files.tables import escape_control
from biasbridge.stats.formatting import IN_WORDS, format_number, harm_sign
from biasbridge.stats.measure_facts import MEASURE_FACTS, measure_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from biasbridge.extrinsic.claims import Decision
    from biasbridge.extrinsic.gap_tables import GapBlock

_TEXT_COLUMNS = ("group", "measure", "worst", "best")
_MAX_REASONS = 5
_MAX_CHARTED = 20  # groups on the first screen
_AXIS_ENDS = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
_Count = tuple[float, float, float]  # of 100, and the ends of its interval


class _Chart(NamedTuple):
    """Counts of 100 by group: a column for each title, in a cell a count for each version, or why
    there is none.
    """

    titles: Sequence[str]
    versions: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[Sequence[_Count], str]]]]
    end: int  # of the axis
    n_hidden: int  # groups that are not drawn


def write_gaps_page(
    rows: Sequence[GapRow],
    path: Path,
    title: str,
    decision: Decision,
    *,
    label: str = "",
    notes: Iterable[str] = (),
) -> Path:
    """Write the page of a table of gaps, which needs no network: the decision in counts of 100, and
    folded below it a section for each version and class.

    ``label`` names the positive class, as in "30% of the items are ..."; empty for label 1.
    """
    present, missing_charts = {row.measure for row in rows}, describe_missing_charts()
    blocks = read_blocks([_escaped(row) for row in rows], label)
    missing = reasons(rows)[:_MAX_REASONS]
    return write_page(
        path,
        "gaps_page.html",
        title=printable(title),
        decision=decision,
        chart=_chart(blocks, decision),
        blocks=[_section(block, has_charts=not missing_charts) for block in blocks],
        missing_charts=missing_charts,
        notes=[*map(printable, notes), *(f"-: {printable(reason)}" for reason in missing)],
        max_groups=MAX_GROUPS,
        limits=(METHOD, *LIMITS),
        text_columns=_TEXT_COLUMNS,
        measures={
            facts.title: facts.meaning for name, facts in MEASURE_FACTS.items() if name in present
        },
        provenance=f"{date.today():%d %B %Y}, biasbridge {__version__}.",
    )


def _escaped(row: GapRow) -> GapRow:
    return GapRow._make(printable(cell) if type(cell) is str else cell for cell in row)


def _chart(blocks: Sequence[GapBlock], decision: Decision) -> _Chart:
    """Return the errors of each group by the last version, and the first, in the class that
    decides.
    """
    single = [block for block in blocks if not block.is_change]
    first_claims = decision.claims[:1]
    subset = first_claims[0].row.subset if first_claims else ""
    rows = [row for block in single for row in block.rows if row.kind == "value"]
    rows = [row for row in rows if row.subset == subset]
    present = list(dict.fromkeys(row.measure for row in rows if row.measure in OUTCOMES))
    errors = [name for name in present if name != "accuracy"] or present
    versions = list(dict.fromkeys(row.classifier for row in rows))
    versions = [*versions[:1], *versions[1:][-1:]]
    by_key = {(row.classifier, row.measure, row.group): row for row in rows}
    groups = list(single[0].groups) if single else []

    def cell(group: str, measure: str) -> tuple[list[_Count], str]:
        found = [
            by_key[name, measure, group] for name in versions if (name, measure, group) in by_key
        ]
        known = [_count(row) for row in found if not row.reason]
        few = next((f"{row.support} items" for row in found if row.reason), "")
        return known, few

    shown = [*groups[:_MAX_CHARTED], ALL]
    named = {**IN_WORDS, ALL: "all items"}
    cells = [(named.get(x, x), [cell(x, measure) for measure in errors]) for x in shown]
    highs = [count[2] for _, row in cells for counts, _ in row for count in counts]
    end = next(size for size in _AXIS_ENDS if size >= min(max(highs, default=0), 100))
    titles = [OUTCOMES[name].title.capitalize() for name in errors]
    return _Chart(titles, versions, cells, end, max(0, len(groups) - _MAX_CHARTED))


def _count(row: GapRow) -> _Count:
    """Return the count of 100 of a value, with the ends of its interval."""
    value, low, high = (100 * end for end in (row.value, row.low, row.high))
    is_error = harm_sign(row.measure) > 0
    return (value, low, high) if is_error else (100 - value, 100 - high, 100 - low)


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


def _section(block: GapBlock, *, has_charts: bool) -> dict[str, Any]:
    """Return what the template says of a block."""
    return block._asdict() | {"figures": _figures(block) if has_charts else []}


def _figures(block: GapBlock) -> list[tuple[str, str]]:
    """Return drawings, each after its text alternative."""
    from biasbridge.analysis.charts import CONFIG
    from biasbridge.analysis.table_charts import gap_panels

    figures = []
    for measure, panel in gap_panels(as_table(block.rows), block.groups).items():
        rows = [row for row in block.rows if row.kind == "value" and row.measure == measure]
        values = ", ".join(f"{row.group} {format_number(row.value)}" for row in rows[:MAX_GROUPS])
        image = as_image(draw_svg(panel.configure(**CONFIG)).encode())
        figures.append((f"{measure_name(measure)} by group: {values}", image))
    return figures
