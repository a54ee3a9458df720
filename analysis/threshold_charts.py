"""A chart of the gaps at every threshold, as ``biasbridge.thresholds`` returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from analysis.charts import GREY, INK, colour, finish, rule_at
from analysis.naming import capitalise, measure_title

if TYPE_CHECKING:
    import pandas as pd

MAX_GROUPS = 6  # lines that can be told apart
WIDTH, HEIGHT = 560, 130


def thresholds_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw F1, then for each measure a line per group with its interval; the grey line is the
    threshold with the best F1. At most ``MAX_GROUPS`` groups, those with the largest gaps.
    """
    largest = table["value"].abs().groupby(table["unprivileged"]).max()
    groups = sorted(largest.sort_values(ascending=False).index[:MAX_GROUPS].astype(str))
    f1 = table.drop_duplicates("threshold")[["threshold", "f1"]]
    best = float(f1.loc[f1["f1"].fillna(-1).idxmax(), "threshold"])
    ends = [float(table["threshold"].min()), float(table["threshold"].max())]
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(domain=ends))
    line = alt.Chart(f1).mark_line(color=INK).encode(x, alt.Y("f1:Q", title=None))
    panels = [_panel("F1 of all items", [rule_at(best), line])]
    shown = table[table["unprivileged"].isin(groups) & table["value"].notna()]
    for measure, rows in shown.groupby("measure", sort=False):
        columns = ["threshold", "unprivileged", "value", "low", "high"]
        base = alt.Chart(rows[columns]).encode(x, colour("unprivileged", groups))
        band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q", title=None), alt.Y2("high"))
        zero = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(y=alt.datum(0))
        layers = [zero, rule_at(best), band, base.mark_line().encode(alt.Y("value:Q", title=None))]
        panels.append(_panel(f"Gap in {measure_title(str(measure))}", layers))
    return finish(alt.vconcat(*panels), "Gaps by threshold, with 95% intervals; above 0: worse")


def _panel(title: str, layers: list[alt.Chart]) -> alt.LayerChart:
    heading = alt.TitleParams(capitalise(title), fontSize=12, anchor="start", offset=6)
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=WIDTH, height=HEIGHT)
    return panel
