"""The figures of a silhouette analysis."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from analysis.charts import GREY, INK, Drawing, colour, finish
from analysis.show import short
from studies.conclusion import row_dicts
from studies.silhouettes.pairs import MODELS
from studies.silhouettes.table import SCORES, curves

if TYPE_CHECKING:
    from studies.silhouettes.pairs import Pair

DIFFERENCES = ("mean", "largest")
MOST_POINTS = 150  # of a curve in a figure
# What was measured, and below it how well, each on a line of its own
HEADER = alt.Header(labelExpr="split(datum.label, ': ')", labelFontSize=11, labelPadding=4)
LEGEND = alt.Legend(orient="top", title="values and mean of the runs")


def charts(pairs: Sequence[Pair], scored: pd.DataFrame, pilot: pd.DataFrame) -> dict[str, Drawing]:
    """``silhouettes_figure1`` (how the scores are read), ``silhouettes_QUERY`` (figure 2, and those
    of the paper's appendix) and ``silhouettes_runs`` (the pilot study).

    Figures are of the first pair of models of each kind; single models have no figure 1.
    """
    panels = [
        (pair.thinned(MOST_POINTS), _title(row))
        for pair, row in zip(pairs, row_dicts(scored), strict=True)
        if not pair.reason
    ]
    first = [each for each in panels if each[0].seed == panels[0][0].seed]
    two = [each for each in first if each[0].there == MODELS]
    drawn: dict[str, Drawing] = {"silhouettes_figure1": sketch(*two[0])} if two else {}
    by_query: dict[tuple[str, str], list[tuple[Pair, str]]] = {}
    for each in first:
        by_query.setdefault((each[0].models, each[0].about["query"]), []).append(each)
    every = list(dict.fromkeys(models for models, _ in by_query))
    for (models, query), part in by_query.items():
        number = every.index(models)
        drawn[f"silhouettes_{query}" + (f"_{number + 1}" if number else "")] = panel_chart(part)
    if len(pilot):
        drawn["silhouettes_runs"] = pilot_chart(pilot)
    return drawn


def _title(row: dict[str, Any]) -> str:
    biased, unbiased, accurate = (short(row[name]) for name in SCORES)
    name = f"{row['metric']} {row['part']}".strip()
    two = f"{biased} / {unbiased}, accurate {accurate}"
    scores = two if isfinite(row["score_unbiased"]) else biased
    return f"{name}, {row['varied']}: robust {scores}"


def sketch(pair: Pair, title: str) -> Drawing:
    """Figure 1: the silhouettes of two models, whose areas are robustness, and the area between
    their means, which is accuracy.
    """
    means = pd.DataFrame({"size": pair.sizes, **{m: pair.of(m).mean(axis=0) for m in MODELS}})
    area = alt.Chart(means).mark_area(color=GREY, opacity=0.35)
    between = area.encode(_words(), _score(MODELS[0], pair.instrument), alt.Y2(MODELS[1]))
    notes = [
        "Coloured: all values of the runs; the smaller these areas, the more robust the lists.",
        "Grey: between the means; the larger it is, the more accurate the metric.",
        f"{pair.models}; {title}",
    ]
    chart = alt.layer(between, *_bands(pair.instrument), data=curves([pair]))
    return finish(chart.properties(width=460, height=260), "The silhouettes of two models", notes)


def panel_chart(panels: Sequence[tuple[Pair, str]]) -> Drawing:
    """Figure 2: a panel a metric and kind of list; all runs in the first."""
    pair, title = panels[0]
    rows = pd.concat([curves([each]).assign(panel=title) for each, title in panels])
    runs = [
        {"panel": title, "size": size, "value": value, "run": f"{model} {run}", "model": model}
        for model in pair.there
        for run, line in enumerate(pair.of(model).tolist())
        for size, value in zip(pair.sizes.tolist(), line, strict=True)
    ]
    lines = alt.Chart().transform_filter("isValid(datum.run)")
    legend = LEGEND if pair.there == MODELS else None
    every = lines.mark_line(strokeWidth=0.4, opacity=0.35).encode(
        _words(), _score("value"), alt.Detail("run:N"), colour("model", MODELS, legend=legend)
    )
    chart = (
        alt.layer(every, *_bands(legend=legend))
        .properties(width=230, height=130)
        .facet(
            alt.Facet("panel:N", title=None, sort=[each for _, each in panels], header=HEADER),
            data=pd.concat([rows, pd.DataFrame(runs)], ignore_index=True),
            columns=4,
        )
        .resolve_scale(x="independent", y="independent")
    )
    return finish(chart, f"Bias silhouettes, query {pair.about['query']}", [pair.models])


def _words() -> alt.X:
    return alt.X("size:Q", title="words")


def _score(field: str, title: str = "score") -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False))


def _bands(title: str = "score", legend: alt.Legend | None = LEGEND) -> list[alt.Chart]:
    of_models = alt.Chart().transform_filter("isValid(datum.low)")
    base = of_models.encode(_words(), colour("model", MODELS, legend=legend))
    return [
        base.mark_area(opacity=0.25).encode(_score("low", title), alt.Y2("high")),
        base.mark_line(strokeWidth=2).encode(_score("mean", title)),
    ]


def pilot_chart(pilot: pd.DataFrame) -> Drawing:
    """How far the scores of fewer runs lie from those of all."""
    tall = pilot.melt(["score", "runs"], list(DIFFERENCES), "what", "apart").dropna()
    named = tall.assign(score=[name.replace("_", ", ") for name in tall["score"]])
    scores = [name.replace("_", ", ") for name in SCORES]
    stroke = alt.Legend(symbolType="stroke", symbolStrokeColor=INK, orient="top")
    chart = alt.Chart(named).mark_line(point=True).properties(width=420, height=220)
    encoded = chart.encode(
        alt.X("runs:Q", title="runs"),
        alt.Y("apart:Q", title="difference from the scores of all runs"),
        colour("score", scores, legend=alt.Legend(orient="top", labelLimit=300)),
        alt.StrokeDash("what:N", title=None, legend=stroke, sort=list(DIFFERENCES)),
    )
    return finish(encoded, "Fewer runs give nearly the same scores")
