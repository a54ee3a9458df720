"""Estimates of the study of base pairs, each with two 95% intervals.

``low`` and ``high``: over words, percentiles of a bootstrap that uses the same resamples for all
measures. ``pairs_low`` and ``pairs_high``: over base pairs, jackknife with Student's t, for r on
Fisher's z scale. (A bootstrap of pairs would draw copies of a pair, which always agree.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atanh, isfinite, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.stats.arrays import Floats

TAILS = (0.025, 0.975)
FEWEST_DEFINED = 0.9  # of the resamples: where fewer have a value there is no interval
NEAR_ONE = 1 - 1e-12
CORRELATION = "cosine_r"
SHARES = ("magnitude", "solved")
ONE_DIRECTION = "all words have one direction, so that kappa is 0 / 0"


class Bootstrap(NamedTuple):
    """Settings of the intervals over words: resamples, and the fewest words that give a kappa."""

    resamples: int = 1_000
    min_words: int = 10

    def weights(self, n_words: int) -> Floats:
        """Draw the counts of words per resample, (1 + R, n_words); row 0 has each word once."""
        rng = np.random.default_rng(n_words)
        counts = rng.multinomial(n_words, np.full(n_words, 1 / n_words), size=self.resamples)
        return np.vstack([np.ones(n_words), counts])


class Estimate(NamedTuple):
    """A row of ``base_pairs.csv``; ``docs/results.md`` says what each column means."""

    statistic: str
    metric: str
    compared_with: str
    pair: str
    value: float
    low: float = nan
    high: float = nan
    pairs_low: float = nan
    pairs_high: float = nan
    words: int = 0
    pairs: int = 0
    reason: str = ""


def empty_estimate(
    statistic: str, metric: str, compared_with: str, size: tuple[int, int], pair: str = ""
) -> Estimate:
    """Return an estimate without a value; ``size``: words, pairs; ``pair``: empty for all."""
    return Estimate(statistic, metric, compared_with, pair, nan, words=size[0], pairs=size[1])


def with_both_intervals(
    row: Estimate,
    compute: Callable[[Sequence[int], Floats], Floats],
    weights: Floats,
    bootstrap: Bootstrap,
    n_pairs: int,
) -> Estimate:
    """Estimate a statistic of all base pairs, with its intervals over words and over pairs.

    ``compute`` maps indices of base pairs and weights of shape (R, words) to values of shape (R,);
    ``weights`` are those of ``Bootstrap.weights``.
    """
    row = with_word_interval(row, compute(range(n_pairs), weights), bootstrap)
    if not isfinite(row.value):
        return row

    def value_of(pair_indices: Sequence[int]) -> float:
        value = float(compute(pair_indices, weights[:1])[0])
        if row.statistic != CORRELATION:
            return value
        return atanh(min(max(value, -NEAR_ONE), NEAR_ONE))

    low, high = jackknife(value_of, n_pairs)
    if row.statistic == CORRELATION:
        return row._replace(pairs_low=tanh(low), pairs_high=tanh(high))
    minimum = 0 if row.statistic in SHARES else -1
    return row._replace(pairs_low=max(low, minimum), pairs_high=min(high, 1))


def with_word_interval(row: Estimate, values: Floats, bootstrap: Bootstrap) -> Estimate:
    """Fill in the value and its interval over words, or why there is none. ``values``, (1 + R,): of
    all words, then of the resamples; NaN where not defined.
    """
    if row.words < bootstrap.min_words:
        reason = f"{row.words} words, fewer than {bootstrap.min_words}"
        return row._replace(reason=reason)
    value, drawn = float(values[0]), values[1:]
    if not isfinite(value):
        return row._replace(reason=ONE_DIRECTION)
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < FEWEST_DEFINED * len(drawn) or not len(drawn):
        return row._replace(value=value)
    low, high = np.quantile(finite, TAILS).tolist()
    return row._replace(value=value, low=low, high=high)


def jackknife(compute: Callable[[Sequence[int]], float], n_pairs: int) -> tuple[float, float]:
    """Return the jackknife 95% interval of a statistic of indices of base pairs.

    value +- t sqrt((n - 1) / n sum_i (value_i - mean)^2), where value_i leaves out pair i and t has
    n - 1 degrees of freedom: for a mean, Student's. NaN for fewer than three pairs.
    """
    if n_pairs < 3:
        return nan, nan
    estimate = compute(range(n_pairs))
    leave_one_out = np.array(
        [compute([j for j in range(n_pairs) if j != i]) for i in range(n_pairs)]
    )
    squares = float(((leave_one_out - leave_one_out.mean()) ** 2).sum())
    error = sqrt((n_pairs - 1) / n_pairs * squares)
    half_width = float(stdtrit(n_pairs - 1, TAILS[1])) * error
    return estimate - half_width, estimate + half_width


def weighted_mean(weights: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """Average the words' values by each weighting. Shapes: (R, words), (words,) -> (R,)."""
    return np.asarray(weights @ values / weights.sum(axis=1))
