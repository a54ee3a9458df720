"""Charts of what the functions return, as altair objects: a notebook shows them, and
``files.charts.save_chart`` writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from files import InputError

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


def gaps(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The measures of every group with their intervals, a panel a measure; the groups with the
    largest gaps first, and a dashed line for all items.

    ``table``: what ``biasbridge.gaps`` returns, of one classifier and class.
    """
    from analysis.gap_charts import gaps_chart

    _require(table, "biasbridge.gaps", "kind", "measure", "group", "value", "support")
    return gaps_chart(table)


def audit(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The scores of every metric, a panel a metric on an axis of its own, a colour a file; the grey
    line is the value of no bias.

    ``table``: what ``biasbridge.audit`` returns. Scores without a value are left out.
    """
    from analysis.score_charts import scores_chart

    _require(table, "biasbridge.audit", "vectors", "metric", "query", "value", "unbiased")
    return scores_chart(table)


def scatter(
    table: pd.DataFrame,
    x: str = "x",
    y: str = "y",
    *,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
    title: str = "",
) -> alt.TopLevelMixin:
    """``y`` against ``x`` with Pearson's r above each panel; of a table that
    ``read_results`` made r_rm, within parents.

    ``x``, ``y``: of a table of ``read_results`` by themselves the score and the gap.
    ``row``, ``column``: the columns whose values make panels; ``colour``, ``shape``: of the points.
    """
    from analysis.scatter import scatter_chart

    return scatter_chart(
        table, x=x, y=y, row=row, column=column, colour=colour, shape=shape, title=title
    )


def _require(table: pd.DataFrame, made_by: str, *columns: str) -> None:
    if missing := [name for name in columns if name not in table]:
        raise InputError(f"the table has no column {missing[0]!r}; give one that {made_by} made")
