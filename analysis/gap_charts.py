"""Charts of a table of gaps, as ``biasbridge.gaps`` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from biasbridge.analysis.charts import (
    GREY,
    INK,
    PALETTE,
    VERSION_HEIGHT,
    by_version,
    finish,
    intervals,
    rule_at,
    tell_apart,
)
from biasbridge.analysis.frame import as_text
from biasbridge.analysis.naming import capitalise, measure_title

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
MAX_GROUPS = 30  # per chart: more cannot be distinguished
WIDTH = 250
MAX_LINES = 6  # groups by threshold: more lines cannot be told apart


def order_groups(table: pd.DataFrame) -> list[str]:
    """Return the groups of a table, the one with the largest gap in any measure first."""
    gaps = table[table["kind"] == "gap"]
    largest = gaps["value"].abs().groupby(gaps["unprivileged"]).max().fillna(-1.0)
    groups = [name for name in table.loc[table["kind"] == "value", "group"].unique() if name != ALL]
    return sorted(groups, key=lambda name: -largest.get(name, -1.0))


def gap_panels(table: pd.DataFrame) -> dict[str, alt.LayerChart]:
    """Draw for each measure the value of every group, a dot with its interval; the line is the
    value over all items. At most ``MAX_GROUPS`` groups, those with the largest gaps. Changes
    between versions lie about 0.
    """
    groups = order_groups(table)[:MAX_GROUPS]
    values = table[table["kind"] == "value"]
    versions = zip(
        as_text(values, "classifier"),
        (f"class {name}" if name else "" for name in as_text(values, "subset")),
        strict=True,
    )
    names = [", ".join(filter(None, pair)) for pair in versions]
    keys = list(zip(as_text(values, "measure"), as_text(values, "group"), strict=True))
    values = values.assign(version=tell_apart(values, keys, names))
    largest = float(values[["low", "high"]].abs().max().max())
    domain = [-largest, largest] if values["low"].min() < 0 else [0.0, 1.0]
    return {
        str(measure): _panel(str(measure), rows, groups, domain)
        for measure, rows in values.groupby("measure", sort=False)
    }


def gaps_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw all panels of ``gap_panels`` in one chart, two per row, then those of changes between
    versions.
    """
    is_change = np.array(as_text(table, "earlier")) != ""
    changes = dict.fromkeys(as_text(table[is_change], "classifier"))
    suffix = f", {next(iter(changes))}" if len(changes) == 1 else ", change"
    blocks = [(table[~is_change], ""), (table[is_change], suffix)]
    panels = [
        panel.properties(title=_heading(f"{measure_title(measure)}{name}"))
        for block, name in blocks
        for measure, panel in (gap_panels(block).items() if len(block) else ())
    ]
    return finish(alt.concat(*panels, columns=2), "Measures by group, with 95% intervals")


def thresholds_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw F1 by threshold, then for each measure a line per group with its interval; the grey line
    is the threshold with the best F1. At most ``MAX_LINES`` groups, those with the largest gaps.
    """
    largest = table["value"].abs().groupby(table["unprivileged"]).max()
    groups = sorted(largest.nlargest(MAX_LINES).index)
    f1 = table.drop_duplicates("threshold").set_index("threshold")["f1"].fillna(0)
    ends = [float(f1.index.min()), float(f1.index.max())]
    x = alt.X("threshold:Q", scale=alt.Scale(domain=ends))
    scale = alt.Scale(domain=groups, range=list(PALETTE))
    best = rule_at(float(f1.index[int(f1.argmax())]))
    line = alt.Chart(f1.reset_index()).mark_line(color=INK).encode(x, alt.Y("f1:Q", title=None))
    zero = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(y=alt.datum(0))
    panels = {"F1 of all items": [best, line]}
    shown = table[table["unprivileged"].isin(groups) & table["value"].notna()]
    for measure, rows in shown.groupby("measure", sort=False):
        base = alt.Chart(rows[["threshold", "unprivileged", "value", "low", "high"]])
        base = base.encode(x, alt.Color("unprivileged:N", title=None, scale=scale))
        band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q", title=None), alt.Y2("high"))
        gap = base.mark_line().encode(alt.Y("value:Q", title=None))
        panels[f"gap in {measure_title(str(measure))}"] = [zero, best, band, gap]
    charts = [
        alt.LayerChart(layer=layers, title=_heading(title), width=2 * WIDTH, height=WIDTH / 2)
        for title, layers in panels.items()
    ]
    return finish(alt.vconcat(*charts), "Gaps by threshold, with 95% intervals; above 0: worse")


def _heading(title: str) -> alt.TitleParams:
    return alt.TitleParams(capitalise(title), fontSize=12, anchor="start", offset=6)


def _panel(
    measure: str, rows: pd.DataFrame, groups: list[str], domain: list[float]
) -> alt.LayerChart:
    shown = rows[rows["group"].isin(groups) & rows["value"].notna()]
    columns = ["version", "group", "value", "low", "high", "support"]
    versions = list(dict.fromkeys(rows["version"]))
    title = measure_title(measure)
    channels = by_version(versions)
    if measure == "base_rate" and len(versions) == 1:
        channels["color"] = alt.value(GREY)
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    names = [alt.Tooltip("group:N"), alt.Tooltip("version:N")]
    tooltip = [*names, *numbers, alt.Tooltip("support:Q", title="n")]
    base = alt.Chart(shown[columns].astype({"support": float})).encode(
        alt.Y("group:N", scale=alt.Scale(domain=groups), title=None, axis=alt.Axis(labelLimit=180)),
        tooltip=tooltip,
        **channels,
    )
    scale = alt.Scale(domain=domain)
    digits = 1 if domain[1] - domain[0] > 0.5 else 2
    layers = intervals(base, scale=scale, title=None, axis=alt.Axis(format=f".{digits}f"))
    overall = rows.loc[rows["group"] == ALL, "value"].dropna()
    if len(overall) and len(versions) == 1:
        line = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3])
        layers = [line.encode(x=alt.datum(float(overall.iloc[0]))), *layers]
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=_heading(title), width=WIDTH)
    return panel if len(versions) == 1 else panel.properties(height=VERSION_HEIGHT)
