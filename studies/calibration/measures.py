r"""How good an instrument is, from its readings where the truth is known.

All rules are about single readings, one embedding (or classifier) of one seed, for that is what a
practitioner has.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.correlation import LEVEL, Estimate

if TYPE_CHECKING:
    from analysis.arrays import Floats, Truths
    from studies.calibration.readings import Readings

POWER = 0.8
FEWEST_SEEDS = 3


class Calibrated(NamedTuple):
    """What is found of an instrument in a setting; NaN where it is not known.

    * ``seeds``: with a reading where nothing was planted.
    * ``order``: mean over seeds of Spearman's rank correlation of planted level and reading, with
      its t interval over seeds; ``steps``: share of the steps from one level to the next in the
      direction in which the other seeds move on the whole, with the interval of seeds as clusters.
    * ``response``: mean reading at the highest level minus that at 0, in standard deviations of the
      readings at 0.
    * ``detectable``: the smallest planted bias distinguished from 0 at 80% power, see
      ``detectable``, with its percentile interval over resampled seeds; infinite where none is.
    * ``offset``: mean reading at 0 minus the value that the metric calls unbiased, in the same
      units: what somebody who trusts that value takes for bias.
    * ``false_p``, ``false_interval``: of the readings at 0, the share with p < .05, and that whose
      95% interval over words (or posts) excludes the unbiased value; ``false_null``: outside the
      null of the other seeds, which should be 5%. With Wilson's interval.
    """

    seeds: int
    order: Estimate
    steps: Estimate
    response: float
    detectable: Estimate
    offset: float
    false_p: Estimate
    false_interval: Estimate
    false_null: Estimate


def calibrate(readings: Readings, resamples: int) -> Calibrated:
    """How good an instrument is in one setting; ``resamples`` of the seeds for intervals."""
    zero = readings.at_zero[np.isfinite(readings.at_zero)]
    spread = float(zero.std(ddof=1)) if len(zero) >= FEWEST_SEEDS else nan
    known = spread > 0
    moved = float(np.nanmean(readings.read[:, -1])) - float(zero.mean()) if len(zero) else nan
    return Calibrated(
        len(zero),
        order(readings),
        steps(readings),
        moved / spread if known else nan,
        detectable_interval(readings, resamples),
        (float(zero.mean()) - readings.unbiased) / spread if known else nan,
        share(readings.p[:, 0] < LEVEL, np.isfinite(readings.p[:, 0])),
        share(readings.excluded[:, 0] == 1, np.isfinite(readings.excluded[:, 0])),
        false_null(zero),
    )


def order(readings: Readings) -> Estimate:
    """The mean over seeds of Spearman's rho of level and reading, with its 95% t interval."""
    return mean_interval(_rho(readings))


def steps(readings: Readings) -> Estimate:
    """The share of steps between neighbouring levels in the right direction; a tie is half a step.

    Which is right is read off the other seeds, so that an instrument without any order has half.
    """
    values = readings.read[np.isfinite(readings.read).all(axis=1)]
    if len(values) < FEWEST_SEEDS:
        return Estimate()
    moved = values[:, -1] - values[:, 0]
    right = np.sign(moved.sum() - moved)[:, None] * np.sign(np.diff(values, axis=1))
    found = mean_interval(((1 + right) / 2).mean(axis=1))
    return Estimate(found.value, max(0.0, found.low), min(1.0, found.high))


def detectable(values: Floats, levels: Floats) -> float:
    """The smallest level distinguished from 0 at 80% power, between levels by straight lines
    through the normal quantiles of the powers, as those of a normal reading that moves evenly lie
    on one.

    A reading is distinguished from 0 where it lies outside the prediction interval of a further
    reading at 0, m +- t s sqrt(1 + 1 / n), with m, s and n of the readings at 0; the power at a
    level is the share of its readings that do, and all levels above must have it too. Infinite
    where none has.
    Shapes: (seeds, levels), (levels,).
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
    if last == len(levels) - 1:
        return inf
    least = 1 / (2 * max(1, int(known[last : last + 2].min())))  # of no reading, or of all
    below, above = scipy.special.ndtri(np.clip(power[last : last + 2], least, 1 - least)).tolist()
    part = (float(scipy.special.ndtri(POWER)) - below) / (above - below)
    return float(levels[last] + min(1.0, part) * (levels[last + 1] - levels[last]))


def detectable_interval(readings: Readings, resamples: int) -> Estimate:
    """``detectable`` with its 95% percentile interval over seeds drawn with replacement."""
    value = detectable(readings.read, readings.levels)
    if np.isnan(value) or not resamples:
        return Estimate(value)
    rng, n = np.random.default_rng(0), len(readings.read)
    drawn = np.sort(
        [
            detectable(readings.read[rng.integers(0, n, n)], readings.levels)
            for _ in range(resamples)
        ]
    )
    low, high = (drawn[round(q * (resamples - 1))] for q in (0.025, 0.975))
    return Estimate(value, float(low), float(high))


def false_null(zero: Floats) -> Estimate:
    """How often a reading at 0 lies outside the prediction interval of the others."""
    n = len(zero)
    if n <= FEWEST_SEEDS:
        return Estimate()
    others = [np.delete(zero, place) for place in range(n)]
    reach = [_reach(n - 1) * float(each.std(ddof=1)) for each in others]
    apart = [abs(float(one - each.mean())) for one, each in zip(zero, others, strict=True)]
    return share(np.array(apart) > np.array(reach), np.ones(n, dtype=bool))


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


def _rho(readings: Readings) -> Floats:
    """Spearman's rho of each seed; NaN where its readings do not vary or one is missing."""
    values = readings.read
    ranks = scipy.stats.rankdata(values, axis=1) - (values.shape[1] + 1) / 2
    steady = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        rho: Floats = ranks @ steady / np.sqrt((ranks**2).sum(axis=1) * float(steady @ steady))
    return np.where(np.isfinite(values).all(axis=1), rho, nan)
