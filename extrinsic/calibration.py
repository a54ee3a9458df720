r"""Calibration of scores as probabilities of label 1: the expected calibration error.

    ECE = sum_b n_b / n |D_b|,    D_b = share of label 1 - mean score, of the n_b items in bin b

Bins are between the deciles of the scores of all items, the same for all groups (Naeini et al.,
2015, with bins of equal mass). The plug-in value lies too high, as chance alone makes every |D_b|
positive: some .07 for 200 items that are calibrated. So the value here is the ECE whose expected
plug-in value is the observed one, for D_b that are normal with the variance of a share, and the
interval has the values whose plug-in lies within z standard errors. For value and lower end, true
differences are the observed ones, each shrunk by as many standard errors; for the upper end they
are as many standard errors in each bin, which expects the least of chance.

``tests/extrinsic/test_calibration.py`` simulates it: 92% to 99% of intervals cover the ECE with 200
items or more. With 50 items of a rare class they may cover it in 70%.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.stats.intervals import Estimate, quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasbridge.stats.arrays import Floats, Ints

_N_BINS = 10
_BISECTIONS = 40
# Added to the items of a bin for its variance: two at its mean score, and half an item between
_PRIOR_ITEMS, _PRIOR_HALF = 2, 0.5


def bin_scores(score: Floats) -> Ints:
    """Return the bin of each score, (items,): between deciles, of which equal ones are one."""
    edges = np.unique(np.quantile(score, np.arange(1, _N_BINS) / _N_BINS, method="higher"))
    bins: Ints = np.searchsorted(edges, score, side="right")
    return bins


def calibration_differences(label: Ints, score: Floats, bins: Ints) -> Floats:
    """Return the difference D_b of each item's bin, among these items, (items,)."""
    difference = np.bincount(bins, label - score) / np.maximum(np.bincount(bins), 1)
    in_bin: Floats = difference[bins]
    return in_bin


def calibration_error(
    label: Ints, score: Floats, bins: Ints, level: float, effect: float = 1
) -> Estimate:
    """Estimate the expected calibration error without its bias, with an interval.

    Parameters
    ----------
    label : array of shape (items,)
        0 or 1.
    score : array of shape (items,)
        Probabilities of label 1, in [0, 1].
    bins : array of shape (items,)
        Bin of each item, as of :func:`bin_scores`.
    level : float
        Confidence level, in (0, 1).
    effect : float, default=1
        Design effect of clustered items, as in ``Measure.estimate``.

    Returns
    -------
    Estimate
        In [0, 1]; 0 = calibrated.
    """
    from scipy.special import ndtr  # slow to import

    n = np.bincount(bins)
    present = n > 0
    k, total = (np.bincount(bins, values)[present] for values in (label, score))
    n = n[present]
    weight, mean = n / n.sum(), total / n
    smoothed = k + _PRIOR_ITEMS * mean + _PRIOR_HALF / 2
    share = smoothed / (n + _PRIOR_ITEMS + _PRIOR_HALF)
    error = np.sqrt(effect * share * (1 - share) / n)
    distance = np.abs(k / n - mean)
    observed = float(weight @ distance)

    def expect(true: Floats, z: float) -> float:
        """Return the expected plug-in value, z standard errors up: of folded normals."""
        ratio = true / error
        size = error * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + true * (1 - 2 * ndtr(-ratio))
        variance = true**2 + error**2 - size**2
        return float(weight @ size) + z * sqrt(float(weight**2 @ variance))

    def solve(
        true: Callable[[float], Floats], end: float, z: float, observed: float = observed
    ) -> float:
        """Return the ECE between true(0), calibrated, and true(end) that expects the observed."""
        low, high = 0.0, end
        if expect(true(low), z) >= observed:
            return 0.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if expect(true(middle), z) < observed else (low, middle)
        return float(weight @ true(low))

    most = float((distance / error).max())

    def shrunk(less: float) -> Floats:
        differences: Floats = np.maximum(distance - (most - less) * error, 0)
        return differences

    def spread(by: float) -> Floats:
        differences: Floats = by * error
        return differences

    z = quantile(level)
    value = solve(shrunk, most, 0)
    # Items that fit better than calibrated ones by chance show no more than those
    high = solve(spread, 1 / float(weight @ error), -z, max(observed, expect(spread(0), 0)))
    return Estimate(value, solve(shrunk, most, z), min(max(value, high), 1))
