"""Properties of a score where the strength of the bias is known.

All are about the score of a single model of one seed, because that is what a practitioner has.
"""

from __future__ import annotations

from functools import partial
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

from biasbridge.stats.intervals import Estimate
from biasbridge.stats.multiple_testing import LEVEL
from biasbridge.studies.certificate.statistics import (
    FEWEST_SEEDS,
    correlation,
    in_spreads,
    jackknife,
    mean_interval,
    nan_mean,
    offset,
    slope,
    smallest_strength,
    spread_within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasbridge.stats.arrays import Floats
    from biasbridge.studies.certificate.strength_scores import StrengthScores

ONE_SIDED = 0.9  # level of an interval, each end of which is one-sided at 5%
NEAR_NONE = 0.25  # of the largest strength: up to there responses to s and -s cancel


class FalseAlarms(NamedTuple):
    """Models without a bias of which one is claimed: p < .05, or without p a 95% interval that
    excludes the unbiased value.
    """

    n_claims: int = 0
    n_models: int = 0

    @property
    def share(self) -> float:
        """Share of the models; NaN without models."""
        return self.n_claims / self.n_models if self.n_models else nan

    def p_above(self, rate: float) -> float:
        """Return the one-sided p of the exact binomial test of a rate of at most this."""
        n_fewer = self.n_claims - 1
        return float(bdtrc(n_fewer, self.n_models, rate)) if n_fewer >= 0 else 1.0

    def p_below(self, rate: float) -> float:
        """Return the one-sided p of the exact binomial test of a rate of at least this."""
        return float(bdtr(self.n_claims, self.n_models, rate))


class Step(NamedTuple):
    """Change of the mean score from one strength to another, in standard deviations, with its 90%
    interval. ``is_outer``: from half of the largest strength to the whole, on either side of 0.
    """

    start: float
    end: float
    change: Estimate
    is_outer: bool


class MetricProperties(NamedTuple):
    """Properties of a score; NaN where not estimated. sd: of models of one strength.

    ``slope``: change of the score from strength 0 to 1, in sd (Cohen's d), with its 95% jackknife
    interval over seeds. ``r``: Pearson's, of strength and score over all models; its 95% interval,
    and that of ``smallest`` (``smallest_strength``, of the score turned by the sign of the slope),
    are percentiles over resampled seeds. ``offset``: mean score at strength 0 minus the unbiased
    value, in sd of these models, ``off_target``: change of the mean score by a stereotype of other
    words in sd, with 90% jackknife intervals. ``steps``: changes between 0, half of the largest
    strength and the whole. ``alarms``, ``random_alarms``: false alarms at strength 0, and of random
    vectors or weights.
    """

    slope: Estimate = Estimate()
    r: Estimate = Estimate()
    smallest: Estimate = Estimate()
    offset: Estimate = Estimate()
    off_target: Estimate = Estimate()
    steps: tuple[Step, ...] = ()
    alarms: FalseAlarms = FalseAlarms()
    random_alarms: FalseAlarms = FalseAlarms()

    @property
    def all_alarms(self) -> FalseAlarms:
        """False alarms of all models without a bias."""
        return FalseAlarms(*(a + b for a, b in zip(self.alarms, self.random_alarms, strict=True)))


def measure(
    scores: StrengthScores, random: StrengthScores | None, resamples: int
) -> MetricProperties:
    """Compute all properties; ``random``: of random vectors or weights. ``resamples`` of the seeds
    are for intervals without a formula.
    """
    values, strengths, rng = scores.scores, scores.strengths, np.random.default_rng(0)
    slope_estimate = jackknife(partial(slope, strengths=strengths), values)
    turned = -values if slope_estimate.value < 0 else values
    draws = rng.integers(0, len(values), (resamples, len(values)))
    r, smallest = (
        _percentile_interval(statistic(sample, strengths), statistic(sample[draws], strengths))
        for statistic, sample in ((correlation, values), (smallest_strength, turned))
    )
    at_zero = strengths == 0
    return MetricProperties(
        slope_estimate,
        r,
        smallest,
        jackknife(partial(offset, unbiased=scores.unbiased), values[:, at_zero], ONE_SIDED),
        _off_target(scores),
        tuple(_steps(scores)),
        false_alarms(scores.p[:, at_zero], scores.excludes_unbiased[:, at_zero]),
        false_alarms(random.p, random.excludes_unbiased) if random else FalseAlarms(),
    )


def false_alarms(p: Floats, excludes_unbiased: Floats) -> FalseAlarms:
    """Count the models of which a bias is claimed, by p if there is one, else by
    ``excludes_unbiased``: 1 or 0, NaN without an interval. Both have the same shape.
    """
    for claims, known in (
        (p < LEVEL, np.isfinite(p)),
        (excludes_unbiased == 1, np.isfinite(excludes_unbiased)),
    ):
        if known.any():
            return FalseAlarms(int((claims & known).sum()), int(known.sum()))
    return FalseAlarms()


def _off_target(scores: StrengthScores) -> Estimate:
    """Estimate the change by a stereotype of other words, from models of the same seeds near 0."""
    strengths = scores.strengths
    is_near = np.abs(strengths) <= NEAR_NONE * np.abs(strengths).max()
    is_near &= np.isin(-strengths, strengths)

    def change(joined: Floats) -> Floats:
        values = joined[..., :-1]
        moved = joined[..., -1] - nan_mean(values[..., is_near], axis=-1)
        return in_spreads(nan_mean(moved, axis=-1), spread_within(values))

    has_both = np.isfinite(scores.off_target) & np.isfinite(scores.column(0.0))
    joined = np.column_stack([scores.scores, scores.off_target])[has_both]
    return jackknife(change, joined, ONE_SIDED) if len(joined) >= FEWEST_SEEDS else Estimate()


def _steps(scores: StrengthScores) -> Iterator[Step]:
    """Yield the changes of the mean score from lower to higher strengths, where both exist."""
    spread = float(spread_within(scores.scores))
    for sign in (-1, 1):
        sizes = np.unique(np.abs(scores.strengths[np.sign(scores.strengths) == sign]))
        if not len(sizes) or not spread > 0:
            continue
        half = sizes[np.abs(sizes - sizes[-1] / 2).argmin()]
        for inner, outer in ((0.0, half), (half, sizes[-1])):
            start, end = sorted((sign * float(inner), sign * float(outer)))
            change = mean_interval(scores.column(end) - scores.column(start), ONE_SIDED)
            if start < end and isfinite(change.value):
                in_sd = Estimate(*(value / spread for value in change))
                yield Step(start, end, in_sd, bool(outer == sizes[-1]))


def _percentile_interval(value: Floats, resampled: Floats) -> Estimate:
    """Return a value with its 95% percentile interval; without ends if there are no resamples."""
    values = np.sort(resampled[~np.isnan(resampled)])
    if np.isnan(value) or not len(values):
        return Estimate(float(value))
    low, high = (float(values[round(q * (len(values) - 1))]) for q in (0.025, 0.975))
    return Estimate(float(value), min(low, float(value)), max(high, float(value)))
