"""The figures of a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import BLACK, INK, STAMP, Drawing, colour, finish, intervals, rule_at, shades
from analysis.show import short
from studies.calibration.readings import SETTINGS
from studies.conclusion import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLES = {
    "sentences": "sentences in the corpus",
    "dim": "vector length",
    "posts": "labelled posts",
    "stereotype": "planted stereotype",
    "label_bias": "planted label bias",
}
ENDS = {"value": "", "low": "_low", "high": "_high"}
LINES = alt.Legend(
    symbolType="stroke", symbolSize=400, symbolStrokeColor=INK, symbolFillColor="transparent"
)
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
    varied = _varied(curves)
    columns = ["instrument", "setting", "planted", "value_sd", "low_sd", "high_sd"]
    title = "reading, in sd at 0"
    base = alt.Chart().encode(
        alt.X("planted:Q", title=planted), alt.Detail("setting:N"), **_channels(rows, varied)
    )
    band = base.mark_area(opacity=0.15)
    line = base.mark_line(point={"size": 18, "opacity": 1})
    panel = alt.layer(
        band.encode(alt.Y("low_sd:Q", title=title), alt.Y2("high_sd")),
        line.encode(alt.Y("value_sd:Q", title=title)),
    ).properties(width=140, height=100)
    facet = alt.Facet("instrument:N", title=None, sort=None)
    chart = panel.facet(facet, data=rows[[*columns, *varied]], columns=5)
    drawn = chart.resolve_scale(y="independent").resolve_axis(x="independent")
    title = "What each instrument reads: mean and 95% interval over seeds"
    return finish(drawn, title, [STAMP])


def _channels(rows: pd.DataFrame, varied: Sequence[str]) -> dict[str, Any]:
    """How settings look: the first size darker the larger it is, the second dashed, and what has
    no order (embedding, classifier) in colours of the palette where there is no size, else as the
    width of the line.
    """
    sizes = [name for name in varied if name in UNITS]
    kinds = [name for name in varied if name not in UNITS]
    look: dict[str, Any] = {}
    for name in sizes[:1]:
        levels = sorted(set(rows[name].dropna()))
        scale = alt.Scale(domain=levels, range=shades(len(levels)))
        look["color"] = alt.Color(f"{name}:O", scale=scale, title=UNITS[name])
    for name in sizes[1:2]:
        look["strokeDash"] = alt.StrokeDash(
            f"{name}:O", title=UNITS[name], sort="descending", legend=LINES
        )
    for name in kinds[:1]:
        levels = list(dict.fromkeys(rows[name]))
        if "color" in look:
            widths = [1 + 2 * (i / max(1, len(levels) - 1)) for i in range(len(levels))]
            scale = alt.Scale(domain=levels, range=widths)
            look["strokeWidth"] = alt.StrokeWidth(
                f"{name}:N", scale=scale, title=name, legend=LINES
            )
        else:
            look["color"] = colour(name, levels, title=name)
    return look


def sensitivity_chart(ranked: pd.DataFrame, planted: str) -> Drawing:
    """The smallest detectable bias of each instrument, a row, in each setting, a column: darker the
    smaller it is; the most sensitive instrument, over all settings, comes first.
    """
    rows = ranked.assign(setting=_settings(ranked))
    mean = rows["detectable"].fillna(1.0).groupby(rows["instrument"]).transform("mean")
    rows = rows.iloc[np.argsort(mean.to_numpy(), kind="stable")]
    found = rows["detectable"].fillna(1.0).clip(upper=1.0)
    shown = [short(value) if value < 1 else "none" for value in found]
    rows = rows.assign(found=found, shown=shown)[["instrument", "setting", "found", "shown"]]
    names = [name.replace(", ", "\n") for name in _in_order(ranked)]
    rows["setting"] = rows["setting"].str.replace(", ", "\n")
    axis = alt.Axis(labelAngle=0, labelExpr="split(datum.label, '\\n')", grid=False)
    base = alt.Chart(rows).encode(
        alt.X("setting:N", sort=names, title=None, axis=axis),
        alt.Y("instrument:N", sort=None, title=None, axis=alt.Axis(grid=False)),
    )
    scale = alt.Scale(domain=[0, 1], range=shades(2)[::-1])
    cells = base.mark_rect(stroke="white").encode(
        alt.Color("found:Q", scale=scale, title=f"smallest {planted} found", legend=None)
    )
    ink = alt.condition("datum.found < 0.6", alt.value("white"), alt.value(BLACK))
    chart = alt.layer(cells, base.mark_text(fontSize=11).encode(text="shown:N", color=ink))
    title = f"The smallest {planted} that is found in 80% of single readings"
    notes = [STAMP, "Darker: a smaller one is found; none: not even the largest."]
    return finish(chart.properties(width=alt.Step(92), height=alt.Step(20)), title, notes)


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
        "How readings depend on the size of the corpus, the vectors or the posts",
        [STAMP, "Larger shifts stand at the edge."],
    )


def _settings(table: pd.DataFrame) -> list[str]:
    return [
        ", ".join(f"{row[name]} {UNITS.get(name, '')}".strip() for name in _varied(table)) or "all"
        for row in rows_of(table)
    ]


def _varied(table: pd.DataFrame) -> list[str]:
    return [name for name in SETTINGS if name in table and len(set(table[name])) > 1]


def _in_order(table: pd.DataFrame) -> list[str]:
    columns = [name for name in SETTINGS if name in table]
    return list(dict.fromkeys(_settings(table.sort_values(columns, kind="stable"))))
