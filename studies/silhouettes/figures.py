"""A silhouette analysis as terminal tables and as figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.look import chart
from analysis.show import estimate, print_table, short
from studies.charts import Record, colour, draw, facet, records, rows_of
from studies.silhouettes.pairs import MODELS
from studies.silhouettes.table import SCORES, curves

if TYPE_CHECKING:
    from rich.console import Console

    from files.charts import Spec
    from studies.silhouettes.pairs import Pair

ABOUT = ("metric", "query", "part", "varied")
INSTRUMENT = "metric, query, lists"
SCORE_TITLES = dict(zip(SCORES, ("biased", "unbiased", "accuracy"), strict=True))
DIFFERENCES = ("mean", "largest")
MOST_POINTS = 150  # of a curve in a figure
X: Spec = {"field": "size", "type": "quantitative", "title": "words"}
COLOUR = colour("model", MODELS, legend={"orient": "top", "title": "values and mean of the runs"})


def print_silhouettes(mean: pd.DataFrame, pilot: pd.DataFrame, console: Console) -> None:
    """Tables 1 and 2 side by side, a block for each kind of reference models, and the pilot."""
    for models, part in mean.groupby("models", sort=False):
        rows = [
            {INSTRUMENT: " ".join(row[name] for name in ABOUT if row[name])}
            | {
                title: estimate(*(row[name + end] for end in ("", "_low", "_high")))
                for name, title in SCORE_TITLES.items()
            }
            for row in rows_of(part)
        ]
        title = f"Robustness on both models, and accuracy: {models}; {max(part['pairs'])} pair(s)"
        print_table(title, rows, console, left={INSTRUMENT})
    without = mean[mean["reason"] != ""].drop_duplicates(["metric", "reason"])
    for row in rows_of(without):
        line = f"- : {row['metric']}: {row['reason']}"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if len(pilot):
        rows = [
            {"runs": str(runs)}
            | {
                row["score"].replace(
                    "_", ": "
                ): f"{short(row['mean'], 3)}, {short(row['largest'], 3)}"
                for row in rows_of(part)
            }
            for runs, part in pilot.groupby("runs", sort=False)
        ]
        title = "Scores of fewer runs against those of all: mean and largest difference"
        print_table(title, rows, console)


def draw_silhouettes(
    pairs: Sequence[Pair], scored: pd.DataFrame, pilot: pd.DataFrame, folder: Path
) -> list[Path]:
    """``silhouettes_figure1`` (how the scores are read), ``silhouettes_QUERY`` (figure 2, and those
    of the paper's appendix) and ``silhouettes_runs`` (the pilot study) in every format; the paths.

    Figures are of the first pair of models of each kind.
    """
    panels = [
        (pair.thinned(MOST_POINTS), _title(row))
        for pair, row in zip(pairs, rows_of(scored), strict=True)
        if not pair.reason
    ]
    first = [each for each in panels if each[0].seed == panels[0][0].seed]
    charts = {"silhouettes_figure1": sketch(*first[0])} if first else {}
    by_query: dict[tuple[str, str], list[tuple[Pair, str]]] = {}
    for each in first:
        by_query.setdefault((each[0].models, each[0].about["query"]), []).append(each)
    every = list(dict.fromkeys(models for models, _ in by_query))
    for (models, query), part in by_query.items():
        number = every.index(models)
        charts[f"silhouettes_{query}" + (f"_{number + 1}" if number else "")] = panel_chart(part)
    if len(pilot):
        charts["silhouettes_runs"] = pilot_chart(pilot)
    return draw(charts, folder)


def _title(row: dict[str, Any]) -> str:
    biased, unbiased, accurate = (short(row[name]) for name in SCORES)
    name = f"{row['metric']} {row['part']}".strip()
    return f"{name}, {row['varied']}: robust {biased} / {unbiased}, accurate {accurate}"


def sketch(pair: Pair, title: str) -> Spec:
    """Figure 1: the silhouettes of two models, whose areas are robustness, and the area between
    their means, which is accuracy.
    """
    rows = records(curves([pair]))
    means = pd.DataFrame({"size": pair.sizes, **{m: pair.of(m).mean(axis=0) for m in MODELS}})
    y: Spec = {"type": "quantitative", "title": pair.instrument, "scale": {"zero": False}}
    between: Spec = {
        "data": {"values": records(means)},
        "mark": {"type": "area", "color": "#888888", "opacity": 0.35},
        "encoding": {"x": X, "y": y | {"field": MODELS[0]}, "y2": {"field": MODELS[1]}},
    }
    subtitle = [
        "Coloured: all values of the runs; the smaller these areas, the more robust the lists.",
        "Grey: between the means; the larger it is, the more accurate the metric.",
        f"{pair.models}; {title}",
    ]
    text: Spec = {"text": "The silhouettes of two models", "subtitle": subtitle}
    return chart(text, {"width": 460, "height": 260, "layer": [between, *_bands(y)]}, rows)


def panel_chart(panels: Sequence[tuple[Pair, str]]) -> Spec:
    """Figure 2: a panel a metric and kind of list; all runs in the first."""
    pair, title = panels[0]
    titles = [each for _, each in panels]
    rows = [{"panel": title} | row for pair, title in panels for row in records(curves([pair]))]
    runs: list[Record] = [
        {"panel": title, "size": size, "value": value, "run": f"{model} {run}", "model": model}
        for model in MODELS
        for run, line in enumerate(pair.of(model).tolist())
        for size, value in zip(pair.sizes.tolist(), line, strict=True)
    ]
    y: Spec = {"type": "quantitative", "title": "score", "scale": {"zero": False}}
    lines: Spec = {
        "transform": [{"filter": "isValid(datum.run)"}],
        "mark": {"type": "line", "strokeWidth": 0.4, "opacity": 0.35},
        "encoding": {"x": X, "y": y | {"field": "value"}, "detail": {"field": "run"}}
        | {"color": COLOUR},
    }
    panel: Spec = {"width": 300, "height": 150, "layer": [lines, *_bands(y)]}
    text: Spec = {"text": f"Bias silhouettes, query {pair.about['query']}", "subtitle": pair.models}
    return chart(text, facet("panel", panel, 2, order=titles, scales="xy"), [*rows, *runs])


def _bands(y: Spec) -> list[Spec]:
    """The band of each model and its mean."""
    are_bands = {"transform": [{"filter": "isValid(datum.low)"}]}
    band = {"x": X, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": COLOUR}
    line = {"x": X, "y": y | {"field": "mean"}, "color": COLOUR}
    return [
        are_bands | {"mark": {"type": "area", "opacity": 0.25}, "encoding": band},
        are_bands | {"mark": {"type": "line", "strokeWidth": 2}, "encoding": line},
    ]


def pilot_chart(pilot: pd.DataFrame) -> Spec:
    """How far the scores of fewer runs lie from those of all."""
    tall = pilot.melt(["score", "runs"], list(DIFFERENCES), "what", "apart").dropna()
    named = tall.assign(score=[name.replace("_", ", ") for name in tall["score"]])
    legend = {"symbolType": "stroke", "orient": "top"}
    encoding: Spec = {
        "x": {"field": "runs", "type": "quantitative", "title": "runs"},
        "y": {"field": "apart", "type": "quantitative", "title": "difference to all runs"},
        "color": colour("score", [name.replace("_", ", ") for name in SCORES])
        | {"legend": {"orient": "top", "labelLimit": 300}},
        "strokeDash": {"field": "what", "type": "nominal", "title": None, "legend": legend}
        | {"sort": list(DIFFERENCES)},
    }
    line: Spec = {"width": 420, "height": 220, "mark": {"type": "line", "point": True}}
    return chart("How many runs are enough", line | {"encoding": encoding}, records(named))
