"""Charts of the tables that ``biasbridge.gaps``, ``thresholds`` and ``audit`` return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from biasbridge.analysis.charts import (
    GREY,
    INK,
    PALETTE,
    colour,
    finish,
    intervals,
    require_distinct,
    rule_at,
)
from biasbridge.analysis.naming import ALL, MAX_GROUPS, measure_title, row_names
from biasbridge.files import InputError
from biasbridge.files.columns import as_text, text_columns
from biasbridge.stats.formatting import capitalise, order_groups

if TYPE_CHECKING:
    import pandas as pd


_CHANGE = PALETTE[7]  # the change between two versions: the colour of neither
_VERSION_HEIGHT = alt.Step(11)  # of a mark, where versions lie beside each other
_GAP_WIDTH = 250
_MAX_LINES_DRAWN = 6  # groups by threshold: more lines cannot be told apart
_SCORE_WIDTH = 220


def _tell_apart(
    table: pd.DataFrame, keys: Sequence[tuple[str, ...]], versions: Sequence[str]
) -> list[str]:
    """Return the version of each row, with the texts of columns that tell rows of one key apart.

    Raise ``InputError`` where none does.
    """
    names = list(versions)
    for column in reversed(text_columns(table)):  # columns that a user added are the last ones
        rows = list(zip(keys, names, strict=True))
        if len({*rows}) == len(rows):
            return names
        texts = as_text(table, column)
        if len({*zip(rows, texts, strict=True)}) > len({*rows}):
            names = [", ".join(filter(None, pair)) for pair in zip(names, texts, strict=True)]
    raise InputError(
        f"the table has several rows for one value ({' '.join(filter(None, keys[0]))}); tell them"
        " apart by a column, as in before.assign(version='before')"
    )


def _by_version(names: Sequence[str]) -> dict[str, Any]:
    """Return channels by which marks of ``version`` lie beside each other, with a legend; none for
    a single name.
    """
    require_distinct(names, PALETTE, "colours")
    if len(names) < 2:
        return {"color": alt.value(PALETTE[0])}
    offset = alt.YOffset("version:N", scale=alt.Scale(domain=list(names)))
    legend = alt.Legend(orient="bottom", columns=1)
    return {"color": colour("version", names, legend=legend), "yOffset": offset}


# Charts of a table of gaps, as ``biasbridge.gaps`` returns it.


def gap_panels(table: pd.DataFrame, groups: Sequence[str]) -> dict[str, alt.LayerChart]:
    """Draw for each measure the value of every group, a dot with its interval; the dashed line is
    the value of all items. At most ``MAX_GROUPS`` groups, the first ones. Each measure has its own
    scale; that of a change between versions has 0, a solid line, in its middle.
    """
    values = table[table["kind"] == "value"]
    versions = zip(
        as_text(values, "classifier"),
        (f"class {name}" if name else "" for name in as_text(values, "subset")),
        strict=True,
    )
    names = [", ".join(filter(None, pair)) for pair in versions]
    keys = list(zip(as_text(values, "measure"), as_text(values, "group"), strict=True))
    values = values.assign(version=_tell_apart(values, keys, names))
    return {
        str(measure): _gap_panel(str(measure), rows, groups[:MAX_GROUPS])
        for measure, rows in values.groupby("measure", sort=False)
    }


def gaps_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw all panels of ``gap_panels`` in one chart, two per row, then those of changes between
    versions.
    """
    table = table.assign(earlier=as_text(table, "earlier"))
    is_change, groups = table["earlier"] != "", order_groups(table.to_dict("records"))
    changes = dict.fromkeys(as_text(table[is_change], "classifier"))
    suffix = f", {next(iter(changes))}" if len(changes) == 1 else ", change"
    blocks = [(table[~is_change], ""), (table[is_change], suffix)]
    panels = [
        panel.properties(title=_gap_heading(measure, name))
        for block, name in blocks
        for measure, panel in (gap_panels(block, groups).items() if len(block) else ())
    ]
    chart = alt.concat(*panels, columns=2).resolve_scale(yOffset="independent")
    return finish(chart, "Measures by group, with 95% intervals")


def thresholds_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw F1 by threshold, then for each measure a line per group with its interval: of at most
    ``_MAX_LINES_DRAWN`` groups, those with the largest gaps.
    """
    largest = table["value"].abs().groupby(table["unprivileged"]).max()
    groups = sorted(largest.nlargest(_MAX_LINES_DRAWN).index)
    f1 = table.drop_duplicates("threshold").set_index("threshold")["f1"].fillna(0)
    ends = [float(f1.index.min()), float(f1.index.max())]
    x = alt.X("threshold:Q", scale=alt.Scale(domain=ends))
    scale = alt.Scale(domain=groups, range=list(PALETTE))
    line = alt.Chart(f1.reset_index()).mark_line(color=INK).encode(x, alt.Y("f1:Q", title=None))
    zero = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(y=alt.datum(0))
    panels = {"F1 of all items": [line]}
    shown = table[table["unprivileged"].isin(groups) & table["value"].notna()]
    for measure, rows in shown.groupby("measure", sort=False):
        base = alt.Chart(rows[["threshold", "unprivileged", "value", "low", "high"]])
        base = base.encode(x, alt.Color("unprivileged:N", title=None, scale=scale))
        band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q", title=None), alt.Y2("high"))
        gap = base.mark_line().encode(alt.Y("value:Q", title=None))
        panels[f"gap in {measure_title(str(measure))}"] = [zero, band, gap]
    charts = [
        alt.LayerChart(
            layer=layers, title=_heading(title), width=2 * _GAP_WIDTH, height=_GAP_WIDTH / 2
        )
        for title, layers in panels.items()
    ]
    return finish(alt.vconcat(*charts), "Gaps by threshold, with 95% intervals; above 0: worse")


def _heading(title: str) -> alt.TitleParams:
    return alt.TitleParams(capitalise(title), fontSize=12, anchor="start", offset=6)


def _gap_heading(measure: str, suffix: str = "") -> alt.TitleParams:
    source = " (of the true labels)" if measure == "base_rate" else ""
    return _heading(f"{measure_title(measure)}{source}{suffix}")


def _gap_panel(measure: str, rows: pd.DataFrame, groups: Sequence[str]) -> alt.LayerChart:
    shown = rows[rows["group"].isin(groups) & rows["value"].notna()]
    columns = ["version", "group", "value", "low", "high", "support"]
    versions = list(dict.fromkeys(rows["version"]))
    channels, is_change = _by_version(versions), any(as_text(rows, "earlier"))
    if len(versions) == 1 and (is_change or measure == "base_rate"):
        channels["color"] = alt.value(_CHANGE if is_change else GREY)
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    names = [alt.Tooltip("group:N"), alt.Tooltip("version:N")]
    tooltip = [*names, *numbers, alt.Tooltip("support:Q", title="n")]
    base = alt.Chart(shown[columns].astype({"support": float})).encode(
        alt.Y(
            "group:N",
            scale=alt.Scale(domain=list(groups)),
            title=None,
            axis=alt.Axis(labelLimit=180),
        ),
        tooltip=tooltip,
        **channels,
    )
    low, high = float(shown["low"].min()), float(shown["high"].max())
    has_zero = low < 0 or (is_change and high > 0)
    scale = (
        alt.Scale(domain=[min(low, -high), max(high, -low)]) if has_zero else alt.Scale(zero=False)
    )
    ticks: dict[str, Any] = {"tickCount": 4, "labelOverlap": False} if is_change else {}
    axis = alt.Axis(format=".1f" if high - low > 0.5 else ".2f", **ticks)
    layers = intervals(base, scale=scale, title=None, axis=axis)
    overall = rows.loc[rows["group"] == ALL, "value"].dropna()
    if len(overall) and len(versions) == 1:
        at = float(overall.iloc[0])
        name = alt.Chart().mark_text(text="all items", color=INK, fontSize=9, baseline="bottom")
        name = name.encode(x=alt.datum(at), y=alt.value(-3))
        layers = [rule_at(at, strokeDash=[3, 3]), name, *layers]
    if is_change:
        layers = [rule_at(0), *layers]
    heading = _gap_heading(measure)
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=_GAP_WIDTH)
    return panel if len(versions) == 1 else panel.properties(height=_VERSION_HEIGHT)


# A chart of a table of scores, as ``biasbridge.audit`` returns it.


def scores_chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Draw a panel per metric. Raise ``InputError`` where no score has a value."""
    measured = table[table["value"].notna()]
    if measured.empty:
        raise InputError("no score has a value; the column reason says why")
    rows = row_names(measured, ("query", "part", "convention"))
    keys = list(zip(as_text(measured, "metric"), rows, strict=True))
    names = _tell_apart(measured, keys, as_text(measured, "vectors"))
    measured = measured.assign(version=names, row=rows)
    versions = list(dict.fromkeys(measured["version"]))
    panels = [
        _score_panel(str(metric), scores, versions)
        for metric, scores in measured.groupby("metric", sort=False)
    ]
    chart = alt.concat(*panels, columns=2).resolve_scale(color="shared")
    grey = "; grey: the value of no bias" if measured["unbiased"].notna().any() else ""
    return finish(chart, f"Scores by metric{grey}")


def _score_panel(metric: str, scores: pd.DataFrame, versions: list[str]) -> alt.LayerChart:
    columns = ["version", "value", "low", "high", "unbiased", "row"]
    shown = scores[columns]
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in columns[1:4]]
    channels = _by_version(versions)
    rows = alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=180))
    base = alt.Chart(shown).encode(
        rows, tooltip=[alt.Tooltip("row:N"), alt.Tooltip("version:N"), *numbers], **channels
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
    panel: alt.LayerChart = alt.LayerChart(layer=layers, title=heading, width=_SCORE_WIDTH)
    return panel if len(versions) == 1 else panel.properties(height=_VERSION_HEIGHT)
