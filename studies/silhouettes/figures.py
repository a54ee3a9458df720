"""Figures of a silhouette analysis."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from biasbridge.analysis.charts import GREY, INK, Drawing, colour, finish
from biasbridge.stats.formatting import format_number
from biasbridge.studies.conclusion import row_dicts
from biasbridge.studies.silhouettes.pairs import MODELS
from biasbridge.studies.silhouettes.table import SCORES, curves

if TYPE_CHECKING:
    from biasbridge.studies.silhouettes.pairs import ModelPair

DIFFERENCES = ("mean", "largest")
MAX_POINTS = 150  # of a curve in a figure
# Two lines: the metric and kind of list, and its robustness and accuracy
HEADER = alt.Header(labelExpr="split(datum.label, ': ')", labelFontSize=11, labelPadding=4)
LEGEND = alt.Legend(orient="top", title="values and mean of the runs")


def charts(
    pairs: Sequence[ModelPair], scored: pd.DataFrame, pilot: pd.DataFrame
) -> dict[str, Drawing]:
    """Draw, of the first pair of models by kind, figure 1 (not for single models), figure 2 and
    those of the paper's appendix by query, and the pilot study of fewer runs.
    """
    panels = [
        (pair.thinned(MAX_POINTS), _panel_title(row))
        for pair, row in zip(pairs, row_dicts(scored), strict=True)
        if not pair.reason
    ]
    first_panels = [panel for panel in panels if panel[0].seed == panels[0][0].seed]
    two_models = [panel for panel in first_panels if panel[0].available_models == MODELS]
    drawings: dict[str, Drawing] = {}
    if two_models:
        drawings["silhouettes_figure1"] = sketch(*two_models[0])
    by_query: dict[tuple[str, str], list[tuple[ModelPair, str]]] = {}
    for pair, title in first_panels:
        by_query.setdefault((pair.models, pair.about["query"]), []).append((pair, title))
    model_pairs = list(dict.fromkeys(models for models, _ in by_query))
    for (models, query), panels_of_query in by_query.items():
        number = model_pairs.index(models)
        suffix = f"_{number + 1}" if number else ""
        drawings[f"silhouettes_{query}{suffix}"] = panel_chart(panels_of_query)
    if len(pilot):
        drawings["silhouettes_runs"] = pilot_chart(pilot)
    return drawings


def _panel_title(row: dict[str, Any]) -> str:
    robust_biased, robust_unbiased, accuracy = (format_number(row[name]) for name in SCORES)
    name = f"{row['metric']} {row['part']}".strip()
    scores = robust_biased
    if isfinite(row["score_unbiased"]):
        scores = f"{robust_biased} / {robust_unbiased}, accuracy {accuracy}"
    return f"{name}, {row['list_kind']}: robustness {scores}"


def sketch(pair: ModelPair, title: str) -> Drawing:
    """Draw two silhouettes, whose areas give robustness, and means, between which lies accuracy."""
    means = pd.DataFrame(
        {"size": pair.sizes, **{model: pair.values(model).mean(axis=0) for model in MODELS}}
    )
    area = alt.Chart(means).mark_area(color=GREY, opacity=0.35)
    between = area.encode(_x_words(), _y_score(MODELS[0], pair.instrument), alt.Y2(MODELS[1]))
    notes = [
        "Coloured: range of the runs; the smaller these areas, the more robust the lists.",
        "Grey: area between the means; the larger it is, the more accurate the metric.",
        f"{pair.models}; {title}",
    ]
    chart = alt.layer(between, *_bands(pair.instrument), data=curves([pair]))
    return finish(chart.properties(width=460, height=260), "The silhouettes of two models", notes)


def panel_chart(panels: Sequence[tuple[ModelPair, str]]) -> Drawing:
    """Draw one panel per metric and kind of list, with all runs in the first (figure 2)."""
    rows = pd.concat([curves([pair]).assign(panel=title) for pair, title in panels])
    pair, title = panels[0]
    runs = [
        {"panel": title, "size": size, "value": value, "run": f"{model} {run}", "model": model}
        for model in pair.available_models
        for run, values in enumerate(pair.values(model).tolist())
        for size, value in zip(pair.sizes.tolist(), values, strict=True)
    ]
    lines = alt.Chart().transform_filter("isValid(datum.run)")
    legend = LEGEND if pair.available_models == MODELS else None
    run_lines = lines.mark_line(strokeWidth=0.4, opacity=0.35).encode(
        _x_words(), _y_score("value"), alt.Detail("run:N"), colour("model", MODELS, legend=legend)
    )
    chart = (
        alt.layer(run_lines, *_bands(legend=legend))
        .properties(width=230, height=130)
        .facet(
            alt.Facet("panel:N", title=None, sort=[title for _, title in panels], header=HEADER),
            data=pd.concat([rows, pd.DataFrame(runs)], ignore_index=True),
            columns=4,
        )
        .resolve_scale(x="independent", y="independent")
    )
    return finish(chart, f"Bias silhouettes, query {pair.about['query']}", [pair.models])


def _x_words() -> alt.X:
    return alt.X("size:Q", title="words")


def _y_score(field: str, title: str = "score") -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False))


def _bands(title: str = "score", legend: alt.Legend | None = LEGEND) -> list[alt.Chart]:
    bands = alt.Chart().transform_filter("isValid(datum.low)")
    base = bands.encode(_x_words(), colour("model", MODELS, legend=legend))
    return [
        base.mark_area(opacity=0.25).encode(_y_score("low", title), alt.Y2("high")),
        base.mark_line(strokeWidth=2).encode(_y_score("mean", title)),
    ]


def pilot_chart(pilot: pd.DataFrame) -> Drawing:
    """Draw the differences between the scores of fewer runs and of all runs."""
    rows = pilot.melt(["score", "runs"], list(DIFFERENCES), "what", "apart").dropna()
    rows = rows.assign(score=[name.replace("_", ", ") for name in rows["score"]])
    scores = [name.replace("_", ", ") for name in SCORES]
    stroke = alt.Legend(symbolType="stroke", symbolStrokeColor=INK, orient="top")
    chart = alt.Chart(rows).mark_line(point=True).properties(width=420, height=220)
    encoded = chart.encode(
        alt.X("runs:Q", title="runs"),
        alt.Y("apart:Q", title="difference from the scores of all runs"),
        colour("score", scores, legend=alt.Legend(orient="top", labelLimit=300)),
        alt.StrokeDash("what:N", title=None, legend=stroke, sort=list(DIFFERENCES)),
    )
    return finish(encoded, "Difference of scores by number of runs")
