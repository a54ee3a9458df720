"""The figures of a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import Drawing, colour, finish, intervals, rule_at
from studies.calibration.readings import SETTINGS
from studies.conclusion import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLES = {
    "sentences": "sentences in the corpus",
    "dim": "vector length",
    "posts": "labelled posts",
    "stereotype": "planted stereotype",
    "label_bias": "planted label bias",
}
ENDS = {"value": "", "low": "_low", "high": "_high"}
UNITS = {"dim": "dimensions", "sentences": "sentences", "posts": "posts"}


def charts(found: Mapping[str, pd.DataFrame], planted: str) -> dict[str, Drawing]:
    """The charts of curves, sensitivity and dependence, by name."""
    what = TITLES.get(planted, planted)
    drawn = {
        "calibration_curves": curve_chart(found["calibration_curves"], what),
        "calibration_sensitivity": sensitivity_chart(found["calibration"], what),
    }
    if len(found["calibration_dependence"]):
        drawn["calibration_dependence"] = dependence_chart(found["calibration_dependence"])
    return drawn


def curve_chart(curves: pd.DataFrame, planted: str) -> Drawing:
    """A panel an instrument: mean reading and its interval against what was planted, in standard
    deviations of the readings at 0; a line a setting.
    """
    rows = curves.assign(setting=_settings(curves))
    columns = ["instrument", "setting", "planted", "value_sd", "low_sd", "high_sd"]
    title = "reading, in sd at 0"
    base = alt.Chart().encode(
        alt.X("planted:Q", title=planted), colour("setting", _in_order(curves))
    )
    band = base.mark_area(opacity=0.15)
    line = base.mark_line(point={"size": 18})
    panel = alt.layer(
        band.encode(alt.Y("low_sd:Q", title=title), alt.Y2("high_sd")),
        line.encode(alt.Y("value_sd:Q", title=title)),
    ).properties(width=130, height=100)
    facet = alt.Facet("instrument:N", title=None, sort=None)
    chart = panel.facet(facet, data=rows[columns], columns=5).resolve_scale(y="independent")
    return finish(
        chart, "What each instrument reads, mean and 95% interval over seeds (generated data)"
    )


def sensitivity_chart(ranked: pd.DataFrame, planted: str) -> Drawing:
    """The smallest detectable bias of each instrument and its interval; a colour a setting. What
    detects no planted level stands at the right edge; the most sensitive instrument, over all
    settings, comes first.
    """
    columns = ["detectable", "detectable_low", "detectable_high"]
    rows = ranked.assign(setting=_settings(ranked))
    rows[columns] = np.minimum(rows[columns], 1.0)
    mean = rows["detectable"].fillna(1.0).groupby(rows["instrument"]).transform("mean")
    rows = rows.iloc[np.argsort(mean.to_numpy(), kind="stable")].dropna(subset="detectable")
    names = _in_order(ranked)
    base = alt.Chart(rows[["instrument", "setting", *columns]]).encode(
        alt.Y("instrument:N", title=None, sort=None),
        alt.YOffset("setting:N", sort=names),
        colour("setting", names),
    )
    layers = intervals(
        base,
        "detectable",
        ends=("detectable_low", "detectable_high"),
        title=f"smallest {planted} found (1: none was)",
        scale=alt.Scale(domain=[0, 1]),
    )
    chart = alt.layer(*layers).properties(width=420, height=alt.Step(7))
    return finish(chart, "Distinguished from no bias in 80% of single readings (generated data)")


def dependence_chart(table: pd.DataFrame) -> Drawing:
    """How far readings move with a size alone, as a share of the response to full bias."""
    rows = [
        {
            "instrument": row["instrument"],
            "step": f"{TITLES[row['over']]}, {row['large']} to {row['small']}",
            "what": what,
        }
        | {name: row[stem + end] for name, end in ENDS.items()}
        for what, stem in (("nothing planted", "at_zero"), ("full bias", "at_top"))
        for row in rows_of(table)
    ]
    kinds = ["nothing planted", "full bias"]
    base = alt.Chart().encode(
        alt.Y("instrument:N", title=None, sort=None),
        alt.YOffset("what:N", sort=kinds),
        colour("what", kinds),
    )
    shifts = intervals(
        base,
        size=30,
        title="shift, as a share of the response to full bias",
        scale=alt.Scale(domain=[-1.5, 1.5], clamp=True),
    )
    panel = alt.layer(rule_at(0), *shifts).properties(width=260, height=alt.Step(8))
    facet = alt.Facet("step:N", title=None, sort=None)
    return finish(
        panel.facet(facet, data=pd.DataFrame(rows), columns=2),
        "How readings depend on the size of the corpus, the vectors or the posts (generated data)",
    )


def _settings(table: pd.DataFrame) -> list[str]:
    varied = [name for name in SETTINGS if name in table and len(set(table[name])) > 1]
    return [
        ", ".join(f"{row[name]} {UNITS.get(name, '')}".strip() for name in varied) or "all"
        for row in rows_of(table)
    ]


def _in_order(table: pd.DataFrame) -> list[str]:
    columns = [name for name in SETTINGS if name in table]
    return list(dict.fromkeys(_settings(table.sort_values(columns, kind="stable"))))
