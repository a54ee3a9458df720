"""Tables of a silhouette analysis: scores of every pair, their means, curves and fewer runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np
import pandas as pd

from biasbridge.analysis.frame import as_float
from biasbridge.studies.certificate.statistics import mean_interval
from biasbridge.studies.silhouettes.pairs import MODELS, ModelPair
from biasbridge.studies.silhouettes.scores import Definition, accuracy, robustness

SCORES = ("robustness_biased", "robustness_unbiased", "accuracy")
ABOUT = ("models", "metric", "convention", "query", "part", "list_kind")
PILOT_STEP = 10  # runs from one point of the pilot study to the next
NO_ENDS = "its scale has no ends; give them in study.limits"
NO_ZERO = "it has no unbiased value"


def scores(pairs: Sequence[ModelPair], definition: Definition) -> pd.DataFrame:
    """Return one row per pair of models, metric, query, part and kind of list.

    ``words``: in the complete lists; ``steps``: sizes of subset; ``n_left_out``: those at which
    some subset has no score; ``score_biased``, ``score_unbiased``: on the complete lists.
    Scores that need two models are NaN for a single one.
    """
    return pd.DataFrame([_score_row(pair, definition) for pair in pairs])


def _score_row(pair: ModelPair, definition: Definition) -> dict[str, object]:
    row: dict[str, object] = {"models": pair.models, "seed": pair.seed, **pair.about}
    runs = len(pair.biased)
    robustness_and_accuracy = (nan, nan, nan)
    reason = pair.reason
    if not reason:
        robustness_and_accuracy = _compute_scores(pair, runs, definition)
        if not isfinite(robustness_and_accuracy[0]):
            reason = NO_ENDS
        elif len(pair.unbiased) and not isfinite(robustness_and_accuracy[2]):
            reason = NO_ZERO
    last_values = [pair.values(model)[:, -1] for model in MODELS]
    score_biased, score_unbiased = (
        float(values.mean()) if len(values) else nan for values in last_values
    )
    row |= {"runs": runs, "words": pair.sizes[-1].item() if runs else nan}
    row |= {"steps": len(pair.sizes) if runs else 0, "n_left_out": pair.n_left_out}
    row |= {"score_biased": score_biased, "score_unbiased": score_unbiased}
    row |= dict(zip(SCORES, robustness_and_accuracy, strict=True))
    return row | {"definition": definition, "reason": reason}


def _compute_scores(
    pair: ModelPair, runs: int, definition: Definition
) -> tuple[float, float, float]:
    """Compute ``SCORES`` from the first runs."""
    biased, unbiased = pair.biased[:runs], pair.unbiased[:runs]
    if not len(unbiased):
        return robustness(pair.sizes, biased, pair.scale), nan, nan
    return (
        robustness(pair.sizes, biased, pair.scale),
        robustness(pair.sizes, unbiased, pair.scale),
        accuracy(pair.sizes, biased, unbiased, pair.scale, definition),
    )


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Average scores over ``pairs`` differing only in seed; 95% t interval from three on."""
    rows = []
    for key, pairs in table.groupby(list(ABOUT), sort=False):
        row: dict[str, object] = dict(zip(ABOUT, key, strict=True)) | {"pairs": len(pairs)}
        for name in SCORES:
            values = as_float(pairs, name)
            interval = mean_interval(values)
            finite = values[np.isfinite(values)]
            row[name] = float(finite.mean()) if len(finite) else nan
            row |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
        rows.append(row | {"reason": pairs["reason"].iloc[0]})
    return pd.DataFrame(rows)


def curves(pairs: Sequence[ModelPair]) -> pd.DataFrame:
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


def fewer_runs(pairs: Sequence[ModelPair], definition: Definition) -> pd.DataFrame:
    """Compare scores of the first n runs with those of all runs (pilot study): one row per score
    and n, mean and largest absolute difference over all pairs, metrics and kinds of list.
    """
    with_values = [pair for pair in pairs if not pair.reason]
    n_runs = max((len(pair.biased) for pair in with_values), default=0)
    scores_of_all = np.array([_compute_scores(pair, n_runs, definition) for pair in with_values])
    rows: list[dict[str, object]] = []
    for n in range(PILOT_STEP, n_runs, PILOT_STEP):
        scores_of_n = np.array([_compute_scores(pair, n, definition) for pair in with_values])
        differences = np.abs(scores_of_n - scores_of_all)
        for name, column in zip(SCORES, differences.T, strict=True):
            if len(finite := column[np.isfinite(column)]):
                row = {"score": name, "runs": n, "silhouettes": len(finite)}
                rows.append(row | {"mean": finite.mean().item(), "largest": finite.max().item()})
    return pd.DataFrame(rows, columns=["score", "runs", "silhouettes", "mean", "largest"])
