"""A chart of a table of scores, as ``biasbridge.audit`` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from biasbridge.analysis.charts import (
    GREY,
    VERSION_HEIGHT,
    by_version,
    finish,
    intervals,
    tell_apart,
)
from biasbridge.analysis.frame import as_text
from biasbridge.analysis.naming import row_names
from biasbridge.files import InputError

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 220


def scores_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw a panel per metric. Raise ``InputError`` where no score has a value."""
    measured = table[table["value"].notna()]
    if measured.empty:
        raise InputError("no score has a value; the column reason says why")
    rows = row_names(measured, ("query", "part", "convention"))
    keys = list(zip(as_text(measured, "metric"), rows, strict=True))
    names = tell_apart(measured, keys, as_text(measured, "vectors"))
    measured = measured.assign(version=names, row=rows)
    versions = list(dict.fromkeys(measured["version"]))
    panels = [
        _panel(str(metric), scores, versions)
        for metric, scores in measured.groupby("metric", sort=False)
    ]
    chart = alt.concat(*panels, columns=2).resolve_scale(color="shared")
    grey = "; grey: the value of no bias" if measured["unbiased"].notna().any() else ""
    return finish(chart, f"Scores by metric{grey}")


def _panel(metric: str, scores: pd.DataFrame, versions: list[str]) -> alt.LayerChart:
    columns = ["version", "value", "low", "high", "unbiased", "row"]
    shown = scores[columns]
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in columns[1:4]]
    channels = by_version(versions)
    rows = alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=180))
    base = alt.Chart(shown).encode(
        rows,
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("version:N"), *numbers],
        **channels,
    )
    layers = intervals(base, title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    unbiased = scores["unbiased"].dropna().unique()
    if len(unbiased) == 1:
        rule = alt.Chart().mark_rule(color=GREY).encode(x=alt.datum(float(unbiased[0])))
        layers = [rule, *layers]
    elif len(unbiased):
        offset = {name: channel for name, channel in channels.items() if name == "yOffset"}
        ticks = alt.Chart(shown).mark_tick(color=GREY, thickness=2)
        layers = [ticks.encode(rows, alt.X("unbiased:Q"), **offset), *layers]
    heading = alt.TitleParams(metric, fontSize=12, anchor="start", offset=6)
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=WIDTH)
    return panel if len(versions) == 1 else panel.properties(height=VERSION_HEIGHT)
