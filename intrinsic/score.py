"""What a metric finds on one query, and the row of the table of scores that is made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from intrinsic.permutation import Floats, PValue

UNTESTED = PValue(math.nan, "none", 0, 0, "", False, math.nan, math.nan)


@dataclass(frozen=True)
class Measured:
    """A value and what comes with it; ``each``: the words', pairs' or groups' it summarises."""

    value: float
    statistic: float = math.nan
    test: PValue = UNTESTED
    reason: str = ""
    each: Mapping[str, float] = field(default_factory=dict)
    unbiased: float | None = None  # where it is not what ``About`` says
    interval: tuple[float, float] = (math.nan, math.nan)  # 95%, over resampled words
    resampled: tuple[float, ...] = ()


class Score(NamedTuple):
    """One row of the table of scores; ``docs/results.md`` says what each column means.

    Where the value or the p-value cannot be had it is NaN and ``reason`` says why. n_found and
    n_lost count the items of all word sets; ``lost`` names those outside the vocabulary and ``cut``
    those found but cut by the convention. ``part``: which one, where a score has several.
    ``least``, ``most``: the ends of the metric's scale.
    ``resampled``: the score over resamples of the words that are the same for every embedding
    (``intrinsic.resampling``), NaN where a resample has none; empty without ``resamples`` and
    where there is no score.
    """

    metric: str
    convention: str
    query: str
    part: str
    value: float
    low: float
    high: float
    unbiased: float
    least: float
    most: float
    statistic: float
    p_value: float
    p_low: float
    p_high: float
    p_method: str
    tail: str
    strict: bool
    n_found: int
    n_lost: int
    lost: str
    cut: str
    language: str
    dim: int
    reason: str
    resampled: tuple[float, ...]


def mean_score(names: Sequence[str], scores: Floats) -> Measured:
    """The mean of the scores, (names,) or (names, n); ``each``: every name's, or its mean."""
    single: Floats = scores if scores.ndim == 1 else scores.mean(axis=1)
    return Measured(float(scores.mean()), each=by_name(names, single))


def by_name(names: Sequence[str], scores: Floats) -> dict[str, float]:
    """The scores as plain numbers under their names."""
    values: list[float] = scores.tolist()
    return dict(zip(names, values, strict=True))


def percentiles(values: Sequence[float], resamples: int) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles of finite values; NaN if these are under nine tenths of
    ``resamples``, or all the same: that a set has a single word is no sign of no error.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 0.9 * resamples:
        return math.nan, math.nan
    low, high = (float(np.quantile(finite, share)) for share in (0.025, 0.975))
    return (low, high) if low < high else (math.nan, math.nan)
