"""Robustness and accuracy of silhouettes: pairs of models, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import GREY, INK, Drawing, colour, finish
from biasbridge.files import InputError
from biasbridge.files.columns import as_arrays, as_float, as_text, text_rows
from biasbridge.stats.formatting import format_number
from biasbridge.studies.certificate_scores import mean_interval
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    from biasbridge.analysis.tables import Tables
    from biasbridge.stats.arrays import Floats

_Definition = Literal["printed", "released"]
_MODELS = ("biased", "unbiased")
_PAIR = ("biased_key", "unbiased_key", "seed")
_KEYS = ("metric", "convention", "query", "part", "list_kind")
_MODEL_COLUMNS = (
    *("embedding", "corpus", "sentences", "dim", "stereotype"),
    *("method", "direction", "dose"),
)
_UNMODIFIED = ("", "none", "0")
_Limits = Mapping[str, Sequence[float]]
_SCORES = ("robustness_biased", "robustness_unbiased", "accuracy")
_RELEASED = "accuracy_released"
_ABOUT = ("models", "metric", "convention", "query", "part", "list_kind")
_PILOT_STEP = 10  # runs from one point of the pilot study to the next
_NO_ENDS = "its scale has no ends; give them in study.limits"
_NO_ZERO = "it has no unbiased value"
_DIFFERENCES = ("mean", "largest")
_MAX_POINTS = 150  # of a curve in a figure
# Two lines: the metric and kind of list, and its robustness and accuracy
_HEADER = alt.Header(labelExpr="split(datum.label, ': ')", labelFontSize=11, labelPadding=4)
_LEGEND = alt.Legend(orient="top", title="values and mean of the runs")


class Scale(NamedTuple):
    """Lowest and highest value of a metric, and its value for a model without bias."""

    minimum: float
    maximum: float
    unbiased: float


def _robustness(sizes: Floats, values: Floats, scale: Scale) -> float:
    """Compute the robustness of a word list, 1 - area of the silhouette / ((b_max - b_min) |W|).

    The silhouette lies between the lowest and the highest of the values (runs, sizes) at each size,
    |W| is the largest size. NaN where the scale has no end.
    """
    width = scale.maximum - scale.minimum
    if not isfinite(width):
        return nan
    silhouette = area(sizes, values.max(axis=0) - values.min(axis=0))
    return 1 - silhouette / (width * float(sizes[-1]))


def accuracy(
    sizes: Floats,
    biased: Floats,
    unbiased: Floats,
    scale: Scale,
    definition: _Definition = "printed",
) -> float:
    """Compute the accuracy of a metric, 0.5 + 0.5 area / (D |W|), of values (runs, sizes).

    The area lies between |mu_biased - b_0| and |mu_unbiased - b_0|, mu the means over runs, b_0 the
    unbiased value and D the largest distance from it; |W| is the largest size. ``released``, as the
    paper's code: b_0 = 0 even where 0 is not unbiased (ECT's is 1), and D = b_max - b_min, so that
    WEAT and ECT lie in [0.25, 0.75]. 0.5: no difference; below: more bias in the unbiased model.
    NaN where the scale has no end or, ``printed``, no unbiased value.
    """
    origin = scale.unbiased if definition == "printed" else 0.0
    reach = (
        max(abs(scale.maximum - origin), abs(scale.minimum - origin))
        if definition == "printed"
        else scale.maximum - scale.minimum
    )
    if not isfinite(reach):
        return nan
    biased_distance, unbiased_distance = (
        np.abs(values.mean(axis=0) - origin) for values in (biased, unbiased)
    )
    difference = area(sizes, biased_distance - unbiased_distance)
    return 0.5 + 0.5 * difference / (reach * float(sizes[-1]))


def area(sizes: Floats, heights: Floats) -> float:
    """Compute the area under a curve by the trapezoidal rule. Shapes: (sizes,), (sizes,)."""
    return float(np.trapezoid(heights, sizes))


@dataclass(frozen=True)
class _ModelPair:
    """Values of one metric and query on two reference models while lists of one kind grow.

    A single model is the ``biased`` one; the other then has no runs. ``biased``, ``unbiased``:
    (runs, sizes), all finite. ``sizes``: words in the lists; ``n_left_out`` counts those at which
    some subset had no value. ``about``: metric, convention, query, part and kind of list
    (``list_kind``). ``reason``: why there are no values; else empty.
    """

    models: str
    seed: str
    about: dict[str, str]
    sizes: Floats
    biased: Floats
    unbiased: Floats
    scale: Scale
    n_left_out: int
    reason: str

    @property
    def instrument(self) -> str:
        """The metric with its query and part."""
        return " ".join(filter(None, (self.about[name] for name in ("metric", "query", "part"))))

    @property
    def available_models(self) -> tuple[str, ...]:
        """The ``_MODELS`` that have values."""
        return tuple(model for model in _MODELS if len(self.values(model)))

    def values(self, model: str) -> Floats:
        """Return the values on one of ``_MODELS``, (runs, sizes)."""
        return self.biased if model == _MODELS[0] else self.unbiased

    def thinned(self, n_sizes: int) -> _ModelPair:
        """Return the pair at no more than ``n_sizes`` sizes, with the first and the last."""
        n = min(len(self.sizes), n_sizes)
        selected = np.linspace(0, len(self.sizes) - 1, n).round().astype(int)
        biased, unbiased = self.biased[:, selected], self.unbiased[:, selected]
        return replace(self, sizes=self.sizes[selected], biased=biased, unbiased=unbiased)


def read_model_pairs(tables: Tables, limits: _Limits) -> list[_ModelPair]:
    """Read the pairs of two reference models, or single models. Raises ``InputError``."""
    probes = tables.probes[tables.probes["probe"] == "silhouettes"]
    points = tables.points[tables.points["status"] == "done"]
    if not len(probes):
        raise InputError("no silhouettes; choose probe=silhouettes")
    pairs: list[_ModelPair] = []
    if "reference" not in points:
        for _, point in points.groupby("point", sort=False):
            models, seed = _describe_models(point, point), as_text(point, "seed")[0]
            pairs += [
                _model_pair(models, seed, key, rows, None, limits)
                for key, rows in _rows_by_key(probes, point).items()
            ]
        return pairs
    for (*_, pair_seed), points_of_pair in points.groupby(list(_PAIR), sort=False):
        by_reference = dict(list(points_of_pair.groupby("reference")))
        if set(_MODELS) <= by_reference.keys():
            models = _describe_models(by_reference["biased"], by_reference["unbiased"])
            biased, unbiased = (_rows_by_key(probes, by_reference[model]) for model in _MODELS)
            pairs += [
                _model_pair(models, str(pair_seed), key, rows, unbiased[key], limits)
                for key, rows in biased.items()
                if key in unbiased
            ]
    if not pairs:
        raise InputError("no two reference models; sweep over subject.which=biased,unbiased")
    return pairs


def _rows_by_key(probes: pd.DataFrame, point: pd.DataFrame) -> dict[tuple[str, ...], pd.DataFrame]:
    """Group the probe's rows of a point by metric, convention, query, part and kind of list."""
    rows = probes[probes["point"].isin(as_text(point, "point"))]
    row_numbers: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(text_rows(rows, _KEYS)):
        row_numbers.setdefault(key, []).append(i)
    return {key: rows.iloc[numbers_of_key] for key, numbers_of_key in row_numbers.items()}


def _model_pair(
    description: str,
    seed: str,
    key: tuple[str, ...],
    biased: pd.DataFrame,
    unbiased: pd.DataFrame | None,
    limits: _Limits,
) -> _ModelPair:
    about = dict(zip(_KEYS, key, strict=True))
    models = [biased] if unbiased is None else [biased, unbiased]
    reasons = (reason for rows in models for reason in as_text(rows, "reason"))
    reason = next(filter(None, reasons), "")
    sizes = as_float(biased, "size")
    values = [as_arrays(rows, "values").T for rows in models]
    if not reason and not np.array_equal(sizes, as_float(models[-1], "size")):
        reason = "the models have different words in their vocabularies"
    no_runs = np.empty((0, len(sizes)))
    values = [no_runs, no_runs] if reason else [*values, no_runs][:2]
    is_complete = np.logical_and.reduce(np.isfinite(np.concatenate(values)), axis=0)
    if not reason and is_complete.sum() < 2:
        reason = "fewer than two sizes at which every subset has a score"
    minimum, maximum = (as_float(biased, name)[0].item() for name in ("scale_min", "scale_max"))
    if about["metric"] in limits and not isfinite(maximum - minimum):
        minimum, maximum = limits[about["metric"]]
    scale = Scale(minimum, maximum, as_float(biased, "unbiased")[0].item())
    biased_values, unbiased_values = (array[:, is_complete] for array in values)
    n_left_out = int((~is_complete).sum())
    return _ModelPair(
        description,
        seed,
        about,
        sizes[is_complete],
        biased_values,
        unbiased_values,
        scale,
        n_left_out,
        reason,
    )


def _describe_models(biased: pd.DataFrame, unbiased: pd.DataFrame) -> str:
    """Describe the common and differing columns: ``word2vec, stereotype 0.8 against 0``."""
    biased_columns, unbiased_columns = (
        {name: as_text(model, name)[0] for name in _MODEL_COLUMNS} for model in (biased, unbiased)
    )
    shared = [
        _describe_column(name, value)
        for name, value in biased_columns.items()
        if value == unbiased_columns[name] and value not in _UNMODIFIED
    ]
    differing = [
        f"{_describe_column(name, value or 'none')} against {unbiased_columns[name] or 'none'}"
        for name, value in biased_columns.items()
        if value != unbiased_columns[name]
    ]
    return ", ".join(shared + differing)


def _describe_column(name: str, value: str) -> str:
    return value if name in ("embedding", "corpus") else f"{name} {value}"


def scores(pairs: Sequence[_ModelPair]) -> pd.DataFrame:
    """Return one row per pair of models, metric, query, part and kind of list."""
    return pd.DataFrame([_score_row(pair) for pair in pairs])


def _score_row(pair: _ModelPair) -> dict[str, object]:
    row: dict[str, object] = {"models": pair.models, "seed": pair.seed, **pair.about}
    runs = len(pair.biased)
    robustness_and_accuracy = (nan, nan, nan)
    reason = pair.reason
    if not reason:
        robustness_and_accuracy = _compute_scores(pair, runs)
        if not isfinite(robustness_and_accuracy[0]):
            reason = _NO_ENDS
        elif len(pair.unbiased) and not isfinite(robustness_and_accuracy[2]):
            reason = _NO_ZERO
    last_values = [pair.values(model)[:, -1] for model in _MODELS]
    score_biased, score_unbiased = (
        float(values.mean()) if len(values) else nan for values in last_values
    )
    row |= {"runs": runs, "words": pair.sizes[-1].item() if runs else nan}
    row |= {"steps": len(pair.sizes) if runs else 0, "n_left_out": pair.n_left_out}
    row |= {"score_biased": score_biased, "score_unbiased": score_unbiased}
    row |= dict(zip(_SCORES, robustness_and_accuracy, strict=True))
    is_scored = not pair.reason and len(pair.unbiased)
    measured = pair.sizes, pair.biased, pair.unbiased, pair.scale
    row[_RELEASED] = accuracy(*measured, "released") if is_scored else nan
    return row | {"reason": reason}


def _compute_scores(pair: _ModelPair, runs: int) -> tuple[float, float, float]:
    """Compute ``_SCORES`` from the first runs."""
    biased, unbiased = pair.biased[:runs], pair.unbiased[:runs]
    if not len(unbiased):
        return _robustness(pair.sizes, biased, pair.scale), nan, nan
    return (
        _robustness(pair.sizes, biased, pair.scale),
        _robustness(pair.sizes, unbiased, pair.scale),
        accuracy(pair.sizes, biased, unbiased, pair.scale),
    )


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Average scores over ``pairs`` differing only in seed; 95% t interval from three on."""
    rows = []
    for key, pairs in table.groupby(list(_ABOUT), sort=False):
        row: dict[str, object] = dict(zip(_ABOUT, key, strict=True)) | {"pairs": len(pairs)}
        for name in (*_SCORES, _RELEASED):
            values = as_float(pairs, name)
            interval = mean_interval(values)
            finite = values[np.isfinite(values)]
            row[name] = float(finite.mean()) if len(finite) else nan
            row |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
        rows.append(row | {"reason": pairs["reason"].iloc[0]})
    return pd.DataFrame(rows)


def curves(pairs: Sequence[_ModelPair]) -> pd.DataFrame:
    """Return the lowest, mean and highest value of all runs, one row per pair, model and size."""
    rows = [
        {"models": pair.models, "seed": pair.seed, **pair.about, "model": model, "size": size}
        | {"low": low, "mean": mean, "high": high}
        for pair in pairs
        for model in pair.available_models
        for values in [pair.values(model)]
        for size, low, mean, high in zip(
            pair.sizes.tolist(),
            values.min(axis=0).tolist(),
            values.mean(axis=0).tolist(),
            values.max(axis=0).tolist(),
            strict=True,
        )
    ]
    return pd.DataFrame(rows)


def fewer_runs(pairs: Sequence[_ModelPair]) -> pd.DataFrame:
    """Compare scores of the first n runs with those of all (pilot study), a row per score and n."""
    with_values = [pair for pair in pairs if not pair.reason]
    n_runs = max((len(pair.biased) for pair in with_values), default=0)
    scores_of_all = np.array([_compute_scores(pair, n_runs) for pair in with_values])
    rows: list[dict[str, object]] = []
    for n in range(_PILOT_STEP, n_runs, _PILOT_STEP):
        scores_of_n = np.array([_compute_scores(pair, n) for pair in with_values])
        differences = np.abs(scores_of_n - scores_of_all)
        for name, column in zip(_SCORES, differences.T, strict=True):
            if len(finite := column[np.isfinite(column)]):
                row = {"score": name, "runs": n, "silhouettes": len(finite)}
                rows.append(row | {"mean": finite.mean().item(), "largest": finite.max().item()})
    return pd.DataFrame(rows, columns=["score", "runs", "silhouettes", "mean", "largest"])


def silhouette_charts(
    pairs: Sequence[_ModelPair], scored: pd.DataFrame, pilot: pd.DataFrame
) -> dict[str, Drawing]:
    """Draw figures 1, 2 and by query, of the first pair by kind, and the pilot study."""
    panels = [
        (pair.thinned(_MAX_POINTS), _panel_title(row))
        for pair, row in zip(pairs, row_dicts(scored), strict=True)
        if not pair.reason
    ]
    first_panels = [panel for panel in panels if panel[0].seed == panels[0][0].seed]
    two_models = [panel for panel in first_panels if panel[0].available_models == _MODELS]
    drawings: dict[str, Drawing] = {}
    if two_models:
        drawings["silhouettes_figure1"] = _sketch(*two_models[0])
    by_query: dict[tuple[str, str], list[tuple[_ModelPair, str]]] = {}
    for pair, title in first_panels:
        by_query.setdefault((pair.models, pair.about["query"]), []).append((pair, title))
    model_pairs = list(dict.fromkeys(models for models, _ in by_query))
    for (models, query), panels_of_query in by_query.items():
        number = model_pairs.index(models)
        suffix = f"_{number + 1}" if number else ""
        drawings[f"silhouettes_{query}{suffix}"] = _panel_chart(panels_of_query)
    if len(pilot):
        drawings["silhouettes_runs"] = _pilot_chart(pilot)
    return drawings


def _panel_title(row: dict[str, Any]) -> str:
    robust_biased, robust_unbiased, accuracy = (format_number(row[name]) for name in _SCORES)
    name = f"{row['metric']} {row['part']}".strip()
    scores = robust_biased
    if isfinite(row["score_unbiased"]):
        scores = f"{robust_biased} / {robust_unbiased}, accuracy {accuracy}"
    return f"{name}, {row['list_kind']}: robustness {scores}"


def _sketch(pair: _ModelPair, title: str) -> Drawing:
    """Draw two silhouettes, whose areas give robustness, and means, between which lies accuracy."""
    means = pd.DataFrame(
        {"size": pair.sizes, **{model: pair.values(model).mean(axis=0) for model in _MODELS}}
    )
    area = alt.Chart(means).mark_area(color=GREY, opacity=0.35)
    between = area.encode(_x_words(), _y_score(_MODELS[0], pair.instrument), alt.Y2(_MODELS[1]))
    notes = [
        "Coloured: range of the runs; the smaller these areas, the more robust the lists.",
        "Grey: area between the means; the larger it is, the more accurate the metric.",
        f"{pair.models}; {title}",
    ]
    chart = alt.layer(between, *_bands(pair.instrument), data=curves([pair]))
    return finish(chart.properties(width=460, height=260), "The silhouettes of two models", notes)


def _panel_chart(panels: Sequence[tuple[_ModelPair, str]]) -> Drawing:
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
    legend = _LEGEND if pair.available_models == _MODELS else None
    run_lines = lines.mark_line(strokeWidth=0.4, opacity=0.35).encode(
        _x_words(), _y_score("value"), alt.Detail("run:N"), colour("model", _MODELS, legend=legend)
    )
    chart = (
        alt.layer(run_lines, *_bands(legend=legend))
        .properties(width=230, height=130)
        .facet(
            alt.Facet("panel:N", title=None, sort=[title for _, title in panels], header=_HEADER),
            data=pd.concat([rows, pd.DataFrame(runs)], ignore_index=True),
            columns=4,
        )
        .resolve_scale(x="independent", y="independent")
    )
    return finish(chart, f"Bias silhouettes, query {pair.about['query']}", [pair.models])


def _pilot_chart(pilot: pd.DataFrame) -> Drawing:
    """Draw the differences between the scores of fewer runs and of all runs."""
    rows = pilot.melt(["score", "runs"], list(_DIFFERENCES), "what", "apart").dropna()
    rows = rows.assign(score=[name.replace("_", ", ") for name in rows["score"]])
    scores = [name.replace("_", ", ") for name in _SCORES]
    stroke = alt.Legend(symbolType="stroke", symbolStrokeColor=INK, orient="top")
    chart = alt.Chart(rows).mark_line(point=True).properties(width=420, height=220)
    encoded = chart.encode(
        alt.X("runs:Q", title="runs"),
        alt.Y("apart:Q", title="difference from the scores of all runs"),
        colour("score", scores, legend=alt.Legend(orient="top", labelLimit=300)),
        alt.StrokeDash("what:N", title=None, legend=stroke, sort=list(_DIFFERENCES)),
    )
    return finish(encoded, "Difference of scores by number of runs")


def _bands(title: str = "score", legend: alt.Legend | None = _LEGEND) -> list[alt.Chart]:
    bands = alt.Chart().transform_filter("isValid(datum.low)")
    base = bands.encode(_x_words(), colour("model", _MODELS, legend=legend))
    return [
        base.mark_area(opacity=0.25).encode(_y_score("low", title), alt.Y2("high")),
        base.mark_line(strokeWidth=2).encode(_y_score("mean", title)),
    ]


def _x_words() -> alt.X:
    return alt.X("size:Q", title="words")


def _y_score(field: str, title: str = "score") -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False))
