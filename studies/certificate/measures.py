r"""Properties of a score where the strength of the bias is known.

All are about the score of a single model of one seed, because that is what a practitioner has.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.correlation import LEVEL
from stats.intervals import Estimate, proportion_estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from stats.arrays import Floats, Truths
    from studies.certificate.strength_scores import StrengthScores

    Statistic = Callable[[Floats, Floats], float]

POWER = 0.8
FEWEST_SEEDS = 3
NO_TEST, BY_P, BY_INTERVAL = "", "p", "interval"


class FalseAlarms(NamedTuple):
    """Share of models of which a bias is claimed (``criterion``: p < .05, or without p a 95%
    interval that excludes the unbiased value), with Wilson's interval; NaN without a test.
    """

    share: Estimate = Estimate()
    criterion: str = NO_TEST


class MetricProperties(NamedTuple):
    """Properties of a score; NaN where not estimated.

    ``slope``: change of the score from strength 0 to 1, in standard deviations of models of one
    strength (Cohen's d): mean over seeds of the least-squares slope, with its 95% t interval over
    seeds; the standard deviation counts as known. ``r``: Pearson's, of strength and score over all
    models; its 95% interval, and that of ``smallest`` (``smallest_strength``), are percentiles over
    resampled seeds. ``at_zero``, ``at_full``: mean score at strength 0 and at the highest.
    ``offset``: ``at_zero`` minus the unbiased value, in standard deviations of the scores at 0: the
    bias that a user of that value would report. ``alarms``: false alarms at strength 0.
    """

    slope: Estimate
    r: Estimate
    smallest: Estimate
    at_zero: float
    at_full: float
    offset: float
    alarms: FalseAlarms


def measure(scores: StrengthScores, resamples: int) -> MetricProperties:
    """Compute all properties; ``resamples`` of the seeds are for intervals without a formula."""
    zero, full = scores.at_zero, scores.at_full
    spread = float(zero.std(ddof=1)) if len(zero) >= FEWEST_SEEDS else nan
    at_zero = float(zero.mean()) if len(zero) else nan
    resampled_seeds = _resample(len(scores.scores), resamples)
    return MetricProperties(
        slope(scores.scores, scores.strengths),
        _with_interval(correlation, scores, resampled_seeds),
        _with_interval(smallest_strength, scores, resampled_seeds),
        at_zero,
        float(full.mean()) if len(full) else nan,
        (at_zero - scores.unbiased) / spread if spread > 0 else nan,
        false_alarms(scores.p[:, 0], scores.excludes_unbiased[:, 0]),
    )


def slope(values: Floats, strengths: Floats) -> Estimate:
    """Estimate the slope of values (seeds, levels) on strengths (levels,), in standard deviations
    of models of one strength: mean over seeds, t interval. NaN for fewer than three seeds with two
    strengths, and where models do not differ.
    """
    is_known = np.isfinite(values)
    slopes = [
        (x - x.mean()) @ y / ((x - x.mean()) @ (x - x.mean()))
        for row, has_score in zip(values, is_known, strict=True)
        for x, y in [(strengths[has_score], row[has_score])]
        if len(x) > 1
    ]
    noise = spread_within(values)
    return mean_interval(np.array(slopes) / noise) if noise > 0 else Estimate()


def spread_within(values: Floats) -> float:
    """Compute the pooled standard deviation of models of one strength, from (seeds, levels)."""
    columns = [column[np.isfinite(column)] for column in values.T]
    df = sum(max(0, len(column) - 1) for column in columns)
    squares = sum(float(((column - column.mean()) ** 2).sum()) for column in columns if len(column))
    spread = sqrt(squares / df) if df else nan
    largest = max((float(np.abs(column).max()) for column in columns if len(column)), default=0.0)
    return spread if spread > 1e-12 * largest else 0.0


def correlation(values: Floats, strengths: Floats) -> float:
    """Compute Pearson's r of strengths (levels,) and values (seeds, levels, NaN where missing). 0
    where all values are equal, NaN for fewer than three models.
    """
    is_known = np.isfinite(values)
    x, y = np.broadcast_to(strengths, values.shape)[is_known], values[is_known]
    if len(x) < FEWEST_SEEDS:
        return nan
    x, y = x - x.mean(), y - y.mean()
    length = sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / length if length > 0 else 0.0


def smallest_strength(values: Floats, strengths: Floats) -> float:
    """Compute the smallest strength that a single score tells from none with a power of .8.

    A score is told from none where it lies outside the prediction interval of a further score at 0,
    m +- t s sqrt(1 + 1 / n), with m, s and n of the scores at 0. The power at a strength is the
    share of its scores that are told from none, and all higher strengths must reach .8 too. Between
    strengths, the normal quantile of the power is interpolated linearly (exact for a normal score
    that is linear in the strength). ``values``: (seeds, levels), the first column at strength 0;
    ``strengths`` ascend. Infinity where none has the power, NaN for fewer than three scores at 0.
    """
    zero = values[:, 0][np.isfinite(values[:, 0])]
    if len(zero) < FEWEST_SEEDS:
        return nan
    half_width = _prediction_t(len(zero)) * float(zero.std(ddof=1))
    is_detected = np.abs(values - float(zero.mean())) > half_width
    n_known = np.isfinite(values).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        power: Floats = (is_detected & np.isfinite(values)).sum(axis=0) / n_known
    power[0] = LEVEL
    last = int(np.flatnonzero(~(power >= POWER))[-1])
    if last == len(strengths) - 1:
        return inf
    margin = 1 / (2 * max(1, int(n_known[last : last + 2].min())))  # keeps 0 and 1 finite
    below, above = scipy.special.ndtri(np.clip(power[last : last + 2], margin, 1 - margin)).tolist()
    fraction = (float(scipy.special.ndtri(POWER)) - below) / (above - below)
    return float(strengths[last] + min(1.0, fraction) * (strengths[last + 1] - strengths[last]))


def false_alarms(p: Floats, excludes_unbiased: Floats) -> FalseAlarms:
    """Estimate how often a bias is claimed, by p if there is one, else by ``excludes_unbiased``: 1
    or 0, NaN without an interval. Both have shape (models,).
    """
    if np.isfinite(p).any():
        return FalseAlarms(proportion(p < LEVEL, np.isfinite(p)), BY_P)
    has_interval = np.isfinite(excludes_unbiased)
    if has_interval.any():
        return FalseAlarms(proportion(excludes_unbiased == 1, has_interval), BY_INTERVAL)
    return FalseAlarms()


def proportion(is_true: Truths, is_known: Truths) -> Estimate:
    """Estimate the proportion of true among the known values, with Wilson's 95% interval."""
    n, n_true = int(is_known.sum()), int((is_true & is_known).sum())
    return proportion_estimate(n_true, n)


def mean_interval(values: Floats) -> Estimate:
    """Return a mean with its 95% t interval; NaN for fewer than three finite values."""
    values = values[np.isfinite(values)]
    n = len(values)
    if n < FEWEST_SEEDS:
        return Estimate()
    mean = float(values.mean())
    t = float(scipy.special.stdtrit(n - 1, 0.975))
    half_width = t * float(values.std(ddof=1)) / sqrt(n)
    return Estimate(mean, mean - half_width, mean + half_width)


def _prediction_t(n: int) -> float:
    return float(scipy.special.stdtrit(n - 1, 1 - LEVEL / 2)) * sqrt(1 + 1 / n)


def _resample(n: int, resamples: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, n, n) for _ in range(resamples)]


def _with_interval(
    statistic: Statistic, scores: StrengthScores, resampled_seeds: list[np.ndarray]
) -> Estimate:
    """Compute a statistic with its 95% percentile interval over seeds drawn with replacement."""
    value = statistic(scores.scores, scores.strengths)
    if np.isnan(value) or not resampled_seeds or len(scores.scores) < FEWEST_SEEDS:
        return Estimate(value)
    values = np.sort(
        [statistic(scores.scores[seeds], scores.strengths) for seeds in resampled_seeds]
    )
    values = values[~np.isnan(values)]
    low, high = (float(values[round(q * (len(values) - 1))]) for q in (0.025, 0.975))
    return Estimate(value, min(low, value), max(high, value))
