r"""How good a score is, from its readings where the truth is known.

All are about single readings, one model of one seed, for that is what a practitioner has.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.correlation import LEVEL, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.arrays import Floats, Truths
    from studies.certificate.readings import Readings

    Statistic = Callable[[Floats, Floats], float]

POWER = 0.8
FEWEST_SEEDS = 3
NO_TEST, BY_P, BY_INTERVAL = "", "p", "interval"


class Alarms(NamedTuple):
    """The share of readings that claim a bias, with Wilson's interval, and ``by`` what: p < .05, or
    a 95% interval that excludes the unbiased value where there is no p; NaN without either.
    """

    share: Estimate = Estimate()
    by: str = NO_TEST


class Measured(NamedTuple):
    """What is found of a score; NaN where it is not known.

    * ``slope``: how far the score moves from strength 0 to 1, in standard deviations of models of
      one strength (Cohen's d): the mean over seeds of the least-squares slope, with its 95% t
      interval over seeds, the standard deviation taken as known.
    * ``r``: Pearson's correlation of strength and score over all models, with its 95% percentile
      interval over resampled seeds.
    * ``smallest``: see ``smallest_strength``, with the same kind of interval.
    * ``at_zero``, ``at_full``: the mean score at strength 0 and at the highest.
    * ``offset``: ``at_zero`` minus the value that the metric calls unbiased, in standard deviations
      of the scores at 0: what somebody who trusts that value takes for bias.
    * ``alarms``: of the readings at strength 0.
    """

    slope: Estimate
    r: Estimate
    smallest: Estimate
    at_zero: float
    at_full: float
    offset: float
    alarms: Alarms


def measure(one: Readings, resamples: int) -> Measured:
    """All of it; ``resamples`` of the seeds for the intervals of r and the smallest strength."""
    zero, full = one.at_zero, one.at_full
    spread = float(zero.std(ddof=1)) if len(zero) >= FEWEST_SEEDS else nan
    at_zero = float(zero.mean()) if len(zero) else nan
    drawn = _drawn(len(one.scores), resamples)
    return Measured(
        slope(one.scores, one.strengths),
        _with_interval(correlation, one, drawn),
        _with_interval(smallest_strength, one, drawn),
        at_zero,
        float(full.mean()) if len(full) else nan,
        (at_zero - one.unbiased) / spread if spread > 0 else nan,
        alarms(one.p[:, 0], one.outside[:, 0]),
    )


def slope(values: Floats, strengths: Floats) -> Estimate:
    """The mean over seeds of the slope of score on strength, in standard deviations of models of
    one strength. NaN below three seeds with two strengths, and where models do not differ.
    Shapes: (seeds, levels), (levels,).
    """
    known = np.isfinite(values)
    sums = [
        (x - x.mean()) @ y / ((x - x.mean()) @ (x - x.mean()))
        for row, has in zip(values, known, strict=True)
        for x, y in [(strengths[has], row[has])]
        if len(x) > 1
    ]
    noise = spread_within(values)
    return mean_interval(np.array(sums) / noise) if noise > 0 else Estimate()


def spread_within(values: Floats) -> float:
    """The standard deviation of models of one strength, pooled over strengths. Shape (seeds,
    levels).
    """
    columns = [column[np.isfinite(column)] for column in values.T]
    free = sum(max(0, len(column) - 1) for column in columns)
    squares = sum(float(((column - column.mean()) ** 2).sum()) for column in columns if len(column))
    found = sqrt(squares / free) if free else nan
    size = max((float(np.abs(column).max()) for column in columns if len(column)), default=0.0)
    return found if found > 1e-12 * size else 0.0


def correlation(values: Floats, strengths: Floats) -> float:
    """Pearson's r of strength and score; 0 where no score differs from another. Shapes: (seeds,
    levels), (levels,).
    """
    known = np.isfinite(values)
    x, y = np.broadcast_to(strengths, values.shape)[known], values[known]
    if len(x) < FEWEST_SEEDS:
        return nan
    x, y = x - x.mean(), y - y.mean()
    size = sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size > 0 else 0.0


def smallest_strength(values: Floats, strengths: Floats) -> float:
    """The smallest strength that a single reading tells from none with a power of .8; between
    strengths by straight lines through the normal quantiles of the powers, as those of a normal
    reading that moves evenly lie on one.

    A reading is told from none where it lies outside the prediction interval of a further reading
    at 0, m +- t s sqrt(1 + 1 / n), with m, s and n of the readings at 0; the power at a strength is
    the share of its readings that do, and all strengths above must have it too. Infinite where none
    has. Shapes: (seeds, levels), (levels,).
    """
    zero = values[:, 0][np.isfinite(values[:, 0])]
    if len(zero) < FEWEST_SEEDS:
        return nan
    reach = _reach(len(zero)) * float(zero.std(ddof=1))
    outside = np.abs(values - float(zero.mean())) > reach
    known = np.isfinite(values).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        power: Floats = (outside & np.isfinite(values)).sum(axis=0) / known
    power[0] = LEVEL
    last = int(np.flatnonzero(~(power >= POWER))[-1])
    if last == len(strengths) - 1:
        return inf
    least = 1 / (2 * max(1, int(known[last : last + 2].min())))  # of no reading, or of all
    below, above = scipy.special.ndtri(np.clip(power[last : last + 2], least, 1 - least)).tolist()
    part = (float(scipy.special.ndtri(POWER)) - below) / (above - below)
    return float(strengths[last] + min(1.0, part) * (strengths[last + 1] - strengths[last]))


def alarms(p: Floats, outside: Floats) -> Alarms:
    """How often a bias is claimed of models: by p where there is one, else by the interval. Shapes:
    (models,), (models,).
    """
    if np.isfinite(p).any():
        return Alarms(share(p < LEVEL, np.isfinite(p)), BY_P)
    if np.isfinite(outside).any():
        return Alarms(share(outside == 1, np.isfinite(outside)), BY_INTERVAL)
    return Alarms()


def share(true: Truths, known: Truths) -> Estimate:
    """The share of what is known that is true, with Wilson's 95% interval."""
    n = int(known.sum())
    return wilson(float((true & known).sum()) / n, n) if n else Estimate()


def wilson(value: float, n: float) -> Estimate:
    """A share of n independent trials with Wilson's 95% score interval (1927)."""
    z = float(scipy.special.ndtri(0.975))
    middle, half = value + z**2 / (2 * n), z * sqrt(value * (1 - value) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return Estimate(value, min(max(0.0, low), value), max(min(1.0, high), value))


def mean_interval(values: Floats) -> Estimate:
    """A mean with its 95% t interval; NaN of fewer than three."""
    values = values[np.isfinite(values)]
    n = len(values)
    if n < FEWEST_SEEDS:
        return Estimate()
    mean = float(values.mean())
    reach = float(scipy.special.stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(n)
    return Estimate(mean, mean - reach, mean + reach)


def _reach(n: int) -> float:
    return float(scipy.special.stdtrit(n - 1, 1 - LEVEL / 2)) * sqrt(1 + 1 / n)


def _drawn(n: int, resamples: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, n, n) for _ in range(resamples)]


def _with_interval(of: Statistic, one: Readings, drawn: list[np.ndarray]) -> Estimate:
    """A statistic with its 95% percentile interval over seeds drawn with replacement."""
    value = of(one.scores, one.strengths)
    if np.isnan(value) or not drawn or len(one.scores) < FEWEST_SEEDS:
        return Estimate(value)
    found = np.sort([of(one.scores[rows], one.strengths) for rows in drawn])
    found = found[~np.isnan(found)]
    low, high = (float(found[round(q * (len(found) - 1))]) for q in (0.025, 0.975))
    return Estimate(value, min(low, value), max(high, value))
