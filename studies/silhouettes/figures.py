"""A silhouette analysis as terminal tables and as figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from analysis.columns import numbers, text_rows, texts
from analysis.look import PALETTE, chart
from analysis.show import estimate, short
from files.charts import Spec, save_charts
from studies.silhouettes.table import SCORES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.arrays import Floats
    from studies.silhouettes.pairs import Pair

FORMATS = (".svg", ".png", ".pdf")
MOST_POINTS = 150  # of a curve in a figure
BIASED, UNBIASED = "biased: values and mean", "unbiased: values and mean"
PANEL = {"width": 300, "height": 150}
Point = dict[str, object]


def print_silhouettes(mean: pd.DataFrame, pilot: pd.DataFrame, console: Console) -> None:
    """Tables 1 and 2 side by side, a block for each kind of reference models, and the pilot."""
    for models, part in mean.groupby("models", sort=False):
        title = f"Robustness on both models, and accuracy: {models}; {max(part['pairs'])} pair(s)"
        console.print(title, style="bold", soft_wrap=True, highlight=False)
        drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
        drawn.add_column("metric, query, lists", overflow="fold")
        for name in ("biased", "unbiased", "accuracy"):
            drawn.add_column(name, justify="right", no_wrap=True)
        columns = [_estimates(part, name) for name in SCORES]
        about = [texts(part, name) for name in ("metric", "query", "part", "varied")]
        for metric, query, of, varied, *found in zip(*about, *columns, strict=True):
            drawn.add_row(f"{f'{metric} {query} {of}'.strip()} {varied}", *found)
        console.print(drawn)
    reasons = mean[mean["reason"] != ""]
    told = text_rows(reasons, ("metric", "reason"))
    for metric, reason in dict.fromkeys(told):
        console.print(f"- : {metric}: {reason}", soft_wrap=True, highlight=False, markup=False)
    if len(pilot):
        console.print("Scores of fewer runs against those of all: mean and largest difference")
        drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
        for name in ("runs", *SCORES):
            drawn.add_column(name.replace("_", ": "), justify="right")
        for runs, rows in pilot.groupby("runs", sort=False):
            pairs = zip(numbers(rows, "mean"), numbers(rows, "largest"), strict=True)
            drawn.add_row(str(runs), *(f"{short(a, 3)}, {short(b, 3)}" for a, b in pairs))
        console.print(drawn)


def _estimates(part: pd.DataFrame, name: str) -> list[str]:
    ends = (numbers(part, name + end).tolist() for end in ("", "_low", "_high"))
    return [estimate(*each) for each in zip(*ends, strict=True)]


def draw_silhouettes(
    pairs: Sequence[Pair], scored: pd.DataFrame, pilot: pd.DataFrame, folder: Path
) -> list[Path]:
    """``silhouettes_figure1`` (how the scores are read), ``silhouettes_QUERY`` (figure 2, and those
    of the paper's appendix) and ``silhouettes_runs`` (the pilot study) in every format; the paths.

    Figures are of the first pair of models of each kind.
    """
    titles = _titles(scored)
    drawn = [(pair, title) for pair, title in zip(pairs, titles, strict=True) if not pair.reason]
    first = [each for each in drawn if each[0].seed == drawn[0][0].seed]
    charts = {"silhouettes_figure1": sketch(*first[0])} if first else {}
    for number, models in enumerate(dict.fromkeys(pair.models for pair, _ in first)):
        of_models = [each for each in first if each[0].models == models]
        for query in dict.fromkeys(pair.told["query"] for pair, _ in of_models):
            panels = [each for each in of_models if each[0].told["query"] == query]
            name = f"silhouettes_{query}" + (f"_{number + 1}" if number else "")
            charts[name] = panel_chart(panels)
    if len(pilot):
        charts["silhouettes_runs"] = pilot_chart(pilot)
    return [
        path
        for name, chart in charts.items()
        for path in save_charts(chart, folder / name, FORMATS)
    ]


def _titles(scored: pd.DataFrame) -> list[str]:
    columns = [numbers(scored, name).tolist() for name in SCORES]
    about = [texts(scored, name) for name in ("metric", "part", "varied")]
    return [
        f"{f'{metric} {part}'.strip()}, {varied}: robust {short(biased)} / {short(unbiased)},"
        f" accurate {short(accurate)}"
        for metric, part, varied, biased, unbiased, accurate in zip(*about, *columns, strict=True)
    ]


def sketch(pair: Pair, title: str) -> Spec:
    """Figure 1: the silhouettes of two models, whose areas are robustness, and the area between
    their means, which is accuracy.
    """
    rows = _points(pair, title)
    means = [
        {"size": size, "one": one, "other": other}
        for size, one, other in zip(
            *(_thinned(each) for each in (pair.sizes, *_means(pair))), strict=True
        )
    ]
    y: Spec = {"type": "quantitative", "title": pair.instrument, "scale": {"zero": False}}
    between: Spec = {
        "data": {"values": means},
        "mark": {"type": "area", "color": "#888888", "opacity": 0.35},
        "encoding": {"x": _X, "y": y | {"field": "one"}, "y2": {"field": "other"}},
    }
    layers = [between, *({"data": {"values": rows}} | layer for layer in _layers(y))]
    subtitle = [
        "Coloured: all values of the runs; the smaller these areas, the more robust the lists.",
        "Grey: between the means; the larger it is, the more accurate the metric.",
        f"{pair.models}; {title}",
    ]
    text: Spec = {"text": "The silhouettes of two models", "subtitle": subtitle}
    return chart(text, {"width": 460, "height": 260, "layer": layers})


def panel_chart(panels: Sequence[tuple[Pair, str]]) -> Spec:
    """Figure 2: a panel a metric and kind of list; all runs in the first."""
    rows = [point for pair, title in panels for point in _points(pair, title)]
    titles = [title for _, title in panels]
    pair, title = panels[0]
    runs = [
        {"panel": title, "size": size, "value": value, "run": f"{model} {run}", "model": model}
        for model, values in ((BIASED, pair.biased), (UNBIASED, pair.unbiased))
        for run, line in enumerate(values)
        for size, value in zip(_thinned(pair.sizes), _thinned(line), strict=True)
    ]
    y: Spec = {"type": "quantitative", "title": "score", "scale": {"zero": False}}
    single = {"x": _X, "y": y | {"field": "value"}, "detail": {"field": "run"}, "color": _COLOUR}
    is_run = {"filter": "isValid(datum.run)"}
    lines: Spec = {
        "transform": [is_run],
        "mark": {"type": "line", "strokeWidth": 0.4, "opacity": 0.35},
        "encoding": single,
    }
    text: Spec = {"text": f"Bias silhouettes, query {pair.told['query']}", "subtitle": pair.models}
    return chart(
        text,
        {
            "data": {"values": [*rows, *runs]},
            "facet": {"field": "panel", "type": "nominal", "title": None, "sort": titles},
            "columns": 2,
            "resolve": {"scale": {"x": "independent", "y": "independent"}},
            "spec": PANEL | {"layer": [lines, *_layers(y)]},
        },
    )


def pilot_chart(pilot: pd.DataFrame) -> Spec:
    """How far the scores of fewer runs lie from those of all."""
    columns = zip(
        texts(pilot, "score"),
        *(numbers(pilot, name).tolist() for name in ("runs", "mean", "largest")),
        strict=True,
    )
    rows = [
        {"score": score.replace("_", ", "), "runs": runs, "what": what, "apart": value}
        for score, runs, mean, largest in columns
        for what, value in (("mean", mean), ("largest", largest))
        if value == value
    ]
    names = [name.replace("_", ", ") for name in SCORES]
    dash: Spec = {"field": "what", "type": "nominal", "title": None, "sort": ["mean", "largest"]}
    dash |= {"legend": {"symbolType": "stroke", "orient": "top"}}
    encoding: Spec = {
        "x": {"field": "runs", "type": "quantitative", "title": "runs"},
        "y": {"field": "apart", "type": "quantitative", "title": "difference to all runs"},
        "color": _nominal("score", names),
        "strokeDash": dash,
    }
    return chart(
        "How many runs are enough",
        {
            "data": {"values": rows},
            "width": 420,
            "height": 220,
            "mark": {"type": "line", "point": True},
            "encoding": encoding,
        },
    )


def _points(pair: Pair, panel: str) -> list[Point]:
    return [
        {"panel": panel, "model": model, "size": size, "low": low, "high": high, "mean": mean}
        for model, values in ((BIASED, pair.biased), (UNBIASED, pair.unbiased))
        for size, low, high, mean in zip(
            *map(
                _thinned,
                (pair.sizes, values.min(axis=0), values.max(axis=0), values.mean(axis=0)),
            ),
            strict=True,
        )
    ]


def _means(pair: Pair) -> tuple[Floats, Floats]:
    return pair.biased.mean(axis=0), pair.unbiased.mean(axis=0)


def _thinned(values: Floats) -> list[float]:
    """At most so many of the values, the first and the last among them."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(int)
    found: list[float] = values[places].tolist()
    return found


def _layers(y: Spec) -> list[Spec]:
    """The band of each model and its mean."""
    is_band = {"transform": [{"filter": "isValid(datum.low)"}]}
    band = {"x": _X, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": _COLOUR}
    line = {"x": _X, "y": y | {"field": "mean"}, "color": _COLOUR}
    return [
        is_band | {"mark": {"type": "area", "opacity": 0.25}, "encoding": band},
        is_band | {"mark": {"type": "line", "strokeWidth": 2}, "encoding": line},
    ]


def _nominal(field: str, names: Sequence[str]) -> Spec:
    scale = {"domain": list(names), "range": list(PALETTE[: len(names)])}
    legend = {"orient": "top", "labelLimit": 300}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": legend}


_X: Spec = {"field": "size", "type": "quantitative", "title": "words"}
_COLOUR = _nominal("model", [BIASED, UNBIASED])
