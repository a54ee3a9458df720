"""An estimate of the study of base pairs and its two intervals.

``low`` and ``high`` are over words: percentiles of a bootstrap, the same resamples for all
measures. ``pairs_low`` and ``pairs_high`` are over base pairs: jackknife, Student's t, of r as
Fisher's z. (A bootstrap would draw copies of pairs, which always agree.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atanh, isfinite, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.arrays import Floats

TAILS = (0.025, 0.975)
FEWEST_DEFINED = 0.9  # of the resamples: where fewer have a value there is no interval
NEAR_ONE = 1 - 1e-12
CORRELATION = "cosine_r"
SHARES = ("magnitude", "solved")
ONE_DIRECTION = "all words have one direction, so that kappa is 0 / 0"


class Bootstrap(NamedTuple):
    """How intervals over words are drawn, and the fewest words that give a kappa."""

    resamples: int = 1_000
    least: int = 10

    def weights(self, size: int) -> Floats:
        """How often each of ``size`` words is drawn, all as they are first. Shape (1 + R, size)."""
        rng = np.random.default_rng(size)
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=self.resamples)
        return np.vstack([np.ones(size), drawn])


class Estimate(NamedTuple):
    """A row of ``base_pairs.csv``; ``docs/results.md`` says what each column means."""

    statistic: str
    metric: str
    other: str
    pair: str
    value: float
    low: float = nan
    high: float = nan
    pairs_low: float = nan
    pairs_high: float = nan
    words: int = 0
    pairs: int = 0
    reason: str = ""


def row_of(
    statistic: str, metric: str, other: str, size: tuple[int, int], pair: str = ""
) -> Estimate:
    """A row without a value, of so many words and pairs."""
    return Estimate(statistic, metric, other, pair, nan, words=size[0], pairs=size[1])


def over_both(
    row: Estimate,
    compute: Callable[[Sequence[int], Floats], Floats],
    weights: Floats,
    bootstrap: Bootstrap,
    pairs: int,
) -> Estimate:
    """The estimate of all pairs with both intervals; ``compute`` gives a value a weighting."""
    row = over_words(row, compute(range(pairs), weights), bootstrap)
    if not isfinite(row.value):
        return row

    def one(kept: Sequence[int]) -> float:
        found = float(compute(kept, weights[:1])[0])
        if row.statistic != CORRELATION:
            return found
        return atanh(min(max(found, -NEAR_ONE), NEAR_ONE))

    low, high = jackknife(one, pairs)
    if row.statistic == CORRELATION:
        return row._replace(pairs_low=tanh(low), pairs_high=tanh(high))
    least = 0 if row.statistic in SHARES else -1
    return row._replace(pairs_low=max(low, least), pairs_high=min(high, 1))


def over_words(row: Estimate, values: Floats, bootstrap: Bootstrap) -> Estimate:
    """The estimate with its interval over words; ``values``: of all words, then of resamples."""
    if row.words < bootstrap.least:
        few = f"{row.words} words, fewer than {bootstrap.least}"
        return row._replace(reason=few)
    value, drawn = float(values[0]), values[1:]
    if not isfinite(value):
        return row._replace(reason=ONE_DIRECTION)
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < FEWEST_DEFINED * len(drawn) or not len(drawn):
        return row._replace(value=value)
    low, high = np.quantile(finite, TAILS).tolist()
    return row._replace(value=value, low=low, high=high)


def jackknife(compute: Callable[[Sequence[int]], float], size: int) -> tuple[float, float]:
    """The 95% interval of a statistic of ``size`` base pairs, each left out once.

    value +- t sqrt((n - 1) / n sum_i (value_i - mean)^2) with n - 1 degrees of freedom; of a mean
    it is Student's interval. NaN for fewer than three pairs, and where a value is.
    """
    if size < 3:
        return nan, nan
    whole = compute(range(size))
    left = np.array([compute([j for j in range(size) if j != i]) for i in range(size)])
    error = sqrt((size - 1) / size * float(((left - left.mean()) ** 2).sum()))
    reach = float(stdtrit(size - 1, TAILS[1])) * error
    return whole - reach, whole + reach


def weighted_mean(times: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """The mean of the words' values by each weighting. Shapes: (R, words), (words,) -> (R,)."""
    return np.asarray(times @ values / times.sum(axis=1))
