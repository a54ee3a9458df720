"""The first picture of a study: gap against score in each declared test, and beside it a forest of
the changes of the gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.answer import name_size, name_verdict
from biasbridge.analysis.charts import (
    BLACK,
    GREY,
    PALETTE,
    Drawing,
    finish,
    intervals,
    palette_of,
    rule_at,
)
from biasbridge.analysis.claims import declared
from biasbridge.analysis.joined import observations_of
from biasbridge.analysis.naming import (
    CONTROL,
    KINDS,
    ORIGINAL,
    POOLED_OVER,
    REVERSED,
    SLICE_COLUMNS,
    STAMP,
    gap_axis,
)
from biasbridge.analysis.slices import gap_and_score, slices
from biasbridge.analysis.verdicts import VERDICTS

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.analysis.slices import SliceResult

MODEL_ROW, CONDITION_ROW, CHANGE_ROW = "model", "condition", "change"  # kinds of rows
PANELS, COLUMNS = 6, 2
_LARGE_TEST_PANEL = {1: (400, 280)}  # by number of panels
_SMALL_TEST_PANEL = (230, 170)
_FOREST_WIDTH = 240
_HALF_LINE = 6  # pixels of a label
_VERDICT_COLOURS = (PALETTE[2], PALETTE[1], PALETTE[3], PALETTE[0], GREY)
_TOP = alt.Legend(orient="top")
_WHOLE: dict[str, Any] = {"zero": False, "padding": 8}  # points whole within the frame
_CHANGE_AXIS = "change of the gap"
_ROW_COLUMNS_DRAWN = ["x", "y", "method", "words"]
_CHANGE_COLUMNS = ("gap", "score", "kind", "method", "words", "x", "y", "low", "high", "verdict")


class ChangePicture(NamedTuple):
    """The chart of the declared tests, and its numbers."""

    data: pd.DataFrame
    chart: Drawing


def change_picture(joined: pd.DataFrame, results: Sequence[SliceResult]) -> ChangePicture | None:
    """Return the picture of the declared ones among ``results``; None without any."""
    if not (tests := declared(results)):
        return None
    data = change_data(joined, tests)
    return ChangePicture(data, change_chart(data, tests))


def change_data(joined: pd.DataFrame, results: Sequence[SliceResult]) -> pd.DataFrame:
    """Return the numbers of the chart: for each declared test a row a model (score x, gap y), a row
    a condition and method (means over parents), and its change (x, low, high) with its verdict.
    """
    if not results:
        return pd.DataFrame(columns=[*_CHANGE_COLUMNS])
    rows = observations_of(joined)
    indices_by_slice = {
        tuple(names[name] for name in SLICE_COLUMNS): indices
        for names, indices in slices(joined, KINDS, POOLED_OVER)
    }
    parts = []
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        indices = indices_by_slice[tuple(result.names[name] for name in SLICE_COLUMNS)]
        change = pd.DataFrame([result.change], columns=["x", "low", "high"])
        verdict = name_verdict(result.verdict, result.x)
        part = pd.concat([_points(rows.select(indices), result), change.assign(kind=CHANGE_ROW)])
        parts.append(part.assign(gap=gap, score=score, verdict=verdict))
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*_CHANGE_COLUMNS])
    return table.fillna({"method": "", "words": ""})


def change_chart(data: pd.DataFrame, results: Sequence[SliceResult]) -> Drawing:
    """Draw ``change_data`` of the declared ``results``: a panel for each of the first six tests,
    with a line a method and word list, and the band of the smallest change of interest about the
    gap of the unmodified models; beside them the change of each test.
    """
    data = data.assign(test=data["gap"] + ", " + data["score"])
    tests = list(dict.fromkeys(data["test"]))
    sizes = [result.x for result in results]
    methods = [name for name in dict.fromkeys(data["method"]) if name not in ("", ORIGINAL)]
    scale = alt.Scale(domain=[ORIGINAL, *methods], range=[BLACK, *palette_of(methods)])
    colour = alt.Color("method:N", title=None, scale=scale, legend=_TOP)
    panels = [
        _panel(data[data["test"] == test], result, colour, len(tests))
        for test, result in zip(tests[:PANELS], results, strict=False)
    ]
    points = alt.concat(*panels, columns=COLUMNS)
    forest = _forest(data[data["kind"] == CHANGE_ROW], dict(zip(tests, sizes, strict=True)))
    chart = alt.hconcat(points, forest).resolve_scale(color="independent")
    named = " or ".join(dict.fromkeys(map(name_size, sizes)))
    notes = [
        "Left: points are models, lines the means of each condition over parents."
        " Right: change over the range of the score, 95% interval."
        f" Grey: {named} up and down from the unmodified gap, and from 0."
    ]
    if len(tests) > PANELS:
        notes.append(f"Left: the first {PANELS} of {len(tests)} tests.")
    if any(result.synthetic for result in results):
        notes.append(STAMP)
    return finish(chart, "Does moving the score change the gap?", notes)


def _points(rows: Observations, result: SliceResult) -> pd.DataFrame:
    """Return the models of a slice, and the means of each condition through the unmodified mean."""
    models = rows.comparable().models()
    is_unmodified = models.method == CONTROL
    parts = [_table(models, MODEL_ROW)]
    if result.n_conditions:
        means = models.average_over_clusters().condition_means()
        base = models.select(is_unmodified) if is_unmodified.any() else models
        origin = means.select(means.method == CONTROL)
        shift_x, shift_y = (
            float(side.mean()) - (float(start[0]) if len(start) else 0.0)
            for side, start in ((base.x, origin.x), (base.y, origin.y))
        )
        table = _table(means._replace(x=means.x + shift_x, y=means.y + shift_y), CONDITION_ROW)
        modified = table[table["method"] != ORIGINAL]
        lines = modified[["method", "words"]].drop_duplicates()
        starts = table[table["method"] == ORIGINAL].drop(columns=["method", "words"])
        # The unmodified models are the dose 0 of every line
        parts += [modified, starts.merge(lines, how="cross")]
    points = pd.concat(parts)
    return points.assign(x=-points["x"] if result.reverse_scored else points["x"])


def _table(models: Observations, kind: str) -> pd.DataFrame:
    method = np.where(models.method == CONTROL, ORIGINAL, models.method)
    columns = {"x": models.x, "y": models.y, "method": method, "words": models.word_list}
    return pd.DataFrame(columns).assign(kind=kind)


def _panel(
    data: pd.DataFrame, result: SliceResult, colour: alt.Color, n_tests: int
) -> alt.LayerChart:
    gap, score = str(data["gap"].iloc[0]), str(data["score"].iloc[0])
    axis_x = f"{score}, {REVERSED}" if result.reverse_scored else score
    x = alt.X("x:Q", title=axis_x, scale=alt.Scale(**_WHOLE, reverse=result.reverse_scored))
    axis_y = (
        gap_axis(gap, filter(None, [result.names["unprivileged"]]))
        .replace(" (", "\n(", 1)
        .split("\n")
    )
    y = alt.Y("y:Q", title=axis_y, scale=alt.Scale(**_WHOLE))
    models, means = (
        data.loc[data["kind"] == kind, _ROW_COLUMNS_DRAWN] for kind in (MODEL_ROW, CONDITION_ROW)
    )
    has_several_lists = len({*means["words"]}) > 1
    dash = [alt.StrokeDash("words:N", title=None, legend=_TOP)] if has_several_lists else []
    base = alt.Chart(models).encode(x, y, colour)
    lines = alt.Chart(means).encode(x, y, colour, alt.Detail("words:N"), *dash)
    is_unmodified = alt.datum.method == ORIGINAL
    layers = [
        base.transform_filter(~is_unmodified).mark_point(filled=True, size=18, fillOpacity=0.4),
        lines.mark_line(strokeWidth=1.5),  # without points: its legend shows dashes
        alt.Chart(means).encode(x, y, colour).mark_point(filled=True, size=20, opacity=1),
        base.transform_filter(is_unmodified).mark_point(filled=True, size=45, opacity=1),
    ]
    if np.isfinite(result.gap_unmodified):
        ends = [result.gap_unmodified - result.x, result.gap_unmodified + result.x]
        layers.insert(0, _band(alt.Y(datum=ends[0]), alt.Y2(datum=ends[1])))
    width, height = _LARGE_TEST_PANEL.get(n_tests, _SMALL_TEST_PANEL)
    return alt.LayerChart(layer=layers, width=width, height=height)


def _band(*ends: Any) -> alt.Chart:
    band: alt.Chart = alt.Chart().mark_rect(color=GREY, opacity=0.15).encode(*ends)
    return band


def _forest(data: pd.DataFrame, sizes: Mapping[str, float]) -> alt.LayerChart:
    verdicts = list(dict.fromkeys(data["verdict"]))
    colours = {
        name: colour
        for name in verdicts
        for verdict, colour in zip(VERDICTS, _VERDICT_COLOURS, strict=True)
        if name.startswith(verdict)
    }
    scale = alt.Scale(domain=verdicts, range=[colours.get(name, GREY) for name in verdicts])
    tests = alt.Y("test:N", title=None, scale=alt.Scale(domain=list(data["test"])))
    n_lines = 1 + max(name.count(", ") for name in data["test"])
    up = -_HALF_LINE * (n_lines - 1)  # the middle of a label stands beside its row
    base = alt.Chart(data.dropna(subset=["x"])).encode(
        tests.axis(labelLimit=0, labelExpr="split(datum.label, ', ')", labelOffset=up),
        alt.Color("verdict:N", title=None, scale=scale, legend=_TOP),
    )
    bands = [
        _band(alt.X(datum=-x), alt.X2(datum=x), *[alt.Y(datum=test)] * (len({*sizes.values()}) > 1))
        for test, x in (sizes.items() if len({*sizes.values()}) > 1 else [*sizes.items()][:1])
    ]
    layers = [
        *bands,
        rule_at(0.0),
        *intervals(base, "x", size=60, opacity=1, width=2, title=_CHANGE_AXIS, scale=_WHOLE),
    ]
    return alt.LayerChart(layer=layers, width=_FOREST_WIDTH, height=alt.Step(36))
