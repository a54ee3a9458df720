"""Charts of a table of gaps, as ``biasbridge.gaps`` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from analysis.charts import GREY, PALETTE, finish, intervals
from analysis.naming import measure_title

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
MAX_GROUPS = 30  # per chart: more cannot be distinguished
WIDTH = 250


def order_groups(table: pd.DataFrame) -> list[str]:
    """Return the groups of a table, the one with the largest gap in any measure first."""
    gaps = table[table["kind"] == "gap"]
    largest = gaps["value"].abs().groupby(gaps["unprivileged"]).max()
    groups = [name for name in table.loc[table["kind"] == "value", "group"].unique() if name != ALL]
    return sorted(groups, key=lambda name: -largest.get(name, -1.0))


def gap_panels(table: pd.DataFrame) -> dict[str, alt.LayerChart]:
    """Draw for each measure the value of every group, a dot with its interval; the line is the
    value over all items. At most ``MAX_GROUPS`` groups, those with the largest gaps. Changes
    between versions lie about 0.
    """
    groups = order_groups(table)[:MAX_GROUPS]
    values = table[table["kind"] == "value"]
    largest = float(values[["low", "high"]].abs().max(axis=None))
    domain = [-largest, largest] if values["low"].min() < 0 else [0.0, 1.0]
    return {
        str(measure): _panel(str(measure), rows, groups, domain)
        for measure, rows in values.groupby("measure", sort=False)
    }


def gaps_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw all panels of ``gap_panels`` in one chart, two per row."""
    panels = list(gap_panels(table).values())
    return finish(alt.concat(*panels, columns=2), "Measures by group, with 95% intervals")


def _panel(
    measure: str, rows: pd.DataFrame, groups: list[str], domain: list[float]
) -> alt.LayerChart:
    shown = rows[rows["group"].isin(groups) & rows["value"].notna()]
    columns = ["group", "value", "low", "high", "support"]
    title = measure_title(measure)
    colour = GREY if measure == "base_rate" else PALETTE[0]
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    tooltip = [alt.Tooltip("group:N"), *numbers, alt.Tooltip("support:Q", title="n")]
    base = alt.Chart(shown[columns].astype({"support": float})).encode(
        alt.Y("group:N", scale=alt.Scale(domain=groups), title=None, axis=alt.Axis(labelLimit=180)),
        color=alt.value(colour),
        tooltip=tooltip,
    )
    scale = alt.Scale(domain=domain)
    layers = intervals(base, scale=scale, title=None, axis=alt.Axis(format=".1f"))
    overall = rows.loc[rows["group"] == ALL, "value"].dropna()
    if len(overall):
        line = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3])
        layers = [line.encode(x=alt.datum(float(overall.iloc[0]))), *layers]
    heading = alt.TitleParams(title[0].upper() + title[1:], fontSize=12, anchor="start", offset=6)
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=WIDTH)
    return panel
