"""A chart of a table of scores, as ``biasbridge.audit`` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from analysis.charts import GREY, PALETTE, finish, intervals
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 220


def scores_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw a panel per metric. Raise ``InputError`` where no score has a value."""
    measured = table[table["value"].notna()]
    if measured.empty:
        raise InputError("no score has a value; the column reason says why")
    files = list(measured["vectors"].unique())
    panels = [
        _panel(str(metric), scores, files)
        for metric, scores in measured.groupby("metric", sort=False)
    ]
    chart = alt.concat(*panels, columns=2).resolve_scale(color="shared")
    return finish(chart, "Scores by metric; grey: the value of no bias")


def _panel(metric: str, scores: pd.DataFrame, files: list[str]) -> alt.LayerChart:
    columns = ["vectors", "value", "low", "high"]
    queries = (scores["query"] + " " + scores["part"]).str.strip()
    shown = scores[[*columns, "unbiased"]].assign(query=queries)
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in columns[1:]]
    base = alt.Chart(shown).encode(
        alt.Y("query:N", sort=None, title=None, axis=alt.Axis(labelLimit=180)),
        color=alt.Color(
            "vectors:N",
            scale=alt.Scale(
                domain=files, range=[PALETTE[i % len(PALETTE)] for i in range(len(files))]
            ),
            title=None,
            legend=alt.Legend(orient="bottom") if len(files) > 1 else None,
        ),
        tooltip=[alt.Tooltip("query:N"), alt.Tooltip("vectors:N"), *numbers],
    )
    layers = intervals(base, title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    unbiased = scores["unbiased"].dropna().unique()
    if len(unbiased) == 1:
        rule = alt.Chart().mark_rule(color=GREY).encode(x=alt.datum(float(unbiased[0])))
        layers = [rule, *layers]
    elif len(unbiased):
        ticks = alt.Chart(shown).mark_tick(color=GREY, thickness=2)
        layers = [ticks.encode(alt.Y("query:N", sort=None), alt.X("unbiased:Q")), *layers]
    heading = alt.TitleParams(metric, fontSize=12, anchor="start", offset=6)
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=WIDTH)
    return panel
