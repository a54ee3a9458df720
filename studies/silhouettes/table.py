"""The tables of a silhouette analysis: scores of every pair, their mean, curves and fewer runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np
import pandas as pd

from analysis.frame import numbers
from studies.certificate.measures import mean_interval
from studies.silhouettes.pairs import MODELS, Pair
from studies.silhouettes.scores import Definition, accuracy, robustness

SCORES = ("robustness_biased", "robustness_unbiased", "accuracy")
ABOUT = ("models", "metric", "convention", "query", "part", "varied")
EVERY = 10  # runs from one point of the pilot study to the next
NO_ENDS = "its scale has no ends; give them in study.limits"
NO_ZERO = "it has no value that stands for no bias"


def scores(pairs: Sequence[Pair], definition: Definition) -> pd.DataFrame:
    """One row a pair of models, metric, query, part and kind of list; of a single model the scores
    that need the other are NaN.

    ``words``: in the whole lists; ``steps``: sizes of subset, ``left_out``: those at which some
    subset has no score; ``mean_biased``, ``mean_unbiased``: the scores on the whole lists.
    """
    return pd.DataFrame([_row(pair, definition) for pair in pairs])


def _row(pair: Pair, definition: Definition) -> dict[str, object]:
    row: dict[str, object] = {"models": pair.models, "seed": pair.seed, **pair.about}
    runs = len(pair.biased)
    found = _scored(pair, runs, definition) if not pair.reason else (nan, nan, nan)
    reason = pair.reason
    if not reason and not isfinite(found[0]):
        reason = NO_ENDS
    elif not reason and len(pair.unbiased) and not isfinite(found[2]):
        reason = NO_ZERO
    ends = [pair.of(model)[:, -1] for model in MODELS]
    whole = [float(each.mean()) if len(each) else nan for each in ends]
    row |= {"runs": runs, "words": pair.sizes[-1].item() if runs else nan}
    row |= {"steps": len(pair.sizes) if runs else 0, "left_out": pair.left_out}
    row |= {"score_biased": whole[0], "score_unbiased": whole[1]}
    row |= dict(zip(SCORES, found, strict=True)) | {"definition": definition, "reason": reason}
    return row


def _scored(pair: Pair, runs: int, definition: Definition) -> tuple[float, float, float]:
    biased, unbiased = pair.biased[:runs], pair.unbiased[:runs]
    if not len(unbiased):
        return robustness(pair.sizes, biased, pair.scale), nan, nan
    return (
        robustness(pair.sizes, biased, pair.scale),
        robustness(pair.sizes, unbiased, pair.scale),
        accuracy(pair.sizes, biased, unbiased, pair.scale, definition),
    )


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Each score over the pairs that differ in their seed alone: mean and, from three on, its 95%
    t interval. ``pairs`` counts them.
    """
    rows = []
    for key, part in table.groupby(list(ABOUT), sort=False):
        row: dict[str, object] = dict(zip(ABOUT, key, strict=True)) | {"pairs": len(part)}
        for name in SCORES:
            values = numbers(part, name)
            found = mean_interval(values)
            finite = values[np.isfinite(values)]
            row[name] = float(finite.mean()) if len(finite) else nan
            row |= {f"{name}_low": found.low, f"{name}_high": found.high}
        rows.append(row | {"reason": part["reason"].iloc[0]})
    return pd.DataFrame(rows)


def curves(pairs: Sequence[Pair]) -> pd.DataFrame:
    """One row a pair, model and size: the lowest, mean and highest value of all runs."""
    rows = [
        {"models": pair.models, "seed": pair.seed, **pair.about, "model": model, "size": size}
        | {"low": low, "mean": mean, "high": high}
        for pair in pairs
        for model in pair.there
        for values in [pair.of(model)]
        for size, low, mean, high in zip(
            pair.sizes.tolist(),
            values.min(axis=0).tolist(),
            values.mean(axis=0).tolist(),
            values.max(axis=0).tolist(),
            strict=True,
        )
    ]
    return pd.DataFrame(rows)


def fewer_runs(pairs: Sequence[Pair], definition: Definition) -> pd.DataFrame:
    """The pilot study: how far the scores of the first n runs lie from those of all runs.

    One row a score that there is and n: the mean and the largest absolute difference over all
    pairs, metrics and kinds of list.
    """
    known = [pair for pair in pairs if not pair.reason]
    most = max((len(pair.biased) for pair in known), default=0)
    whole = np.array([_scored(pair, most, definition) for pair in known])
    rows: list[dict[str, object]] = []
    for n in range(EVERY, most, EVERY):
        apart = np.abs(np.array([_scored(pair, n, definition) for pair in known]) - whole)
        for name, column in zip(SCORES, apart.T, strict=True):
            if len(finite := column[np.isfinite(column)]):
                row = {"score": name, "runs": n, "silhouettes": len(finite)}
                rows.append(row | {"mean": finite.mean().item(), "largest": finite.max().item()})
    return pd.DataFrame(rows, columns=["score", "runs", "silhouettes", "mean", "largest"])
