"""The error of a correlation that comes from measuring all models on the same words and items."""

from __future__ import annotations

from math import asinh, hypot, isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from biasbridge.analysis.residuals import Residuals
    from biasbridge.stats.arrays import Floats

MIN_RESAMPLES = 50
TINY = 1e-12
# Evenly spread pairs of independent normal numbers, with all their signs: the fractional parts of
# i / g and i / g^2, g^3 = g + 1, fill the unit square
_SPREAD = (np.arange(1, 2049)[:, None] * 1.324717957244746 ** -np.array([1, 2])) % 1
NORMAL_PAIRS = np.concatenate(
    [
        scipy.special.ndtri((1 + _SPREAD) / 2) * signs
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
)


class Sampling(NamedTuple):
    """Standard errors, of z = atanh(r_rm) towards 0 or of b, from sampling the words behind scores
    and the items behind gaps (Clark, 1973), beyond the part in the jackknife; NaN where not
    estimated. ``outward``: the error of z away from 0, of words and items together.
    """

    words: float = nan
    items: float = nan
    outward: float = 0.0

    @property
    def variance(self) -> float:
        """Return the sum of both variances (independent draws); 0 for what is not estimated."""
        return sum(error**2 for error in (self.words, self.items) if isfinite(error))

    @property
    def error(self) -> float:
        """Return the standard error; NaN where neither part is estimated."""
        return sqrt(self.variance) if isfinite(self.words) or isfinite(self.items) else nan


def sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the part of the error of z that more models do not reduce.

    An item that models get wrong the more, the more biased they are, makes all gaps follow all
    scores: leaving out models does not show it. Items move the vector of gaps, v / |v| = r u / |u|
    + sqrt(1 - r^2) w, along u and across it, along w. With e_ib the effect of resample b of the
    items, drawn alike for all models, on the gap of model i, their shared covariance is

        C_jk = cov_b(sum_i g_ij e_ib, sum_i g_ik e_ib) - sum_i g_ij g_ik var_b(e_ib) / (1 - h_i)
        g_i1 = u_i / (|u| |v|) along,   g_i2 = w_i / |v| across

    z = asinh(along / |across|) is no straight line of them where across is short, near |r| = 1. Its
    errors are therefore the distances from z to its quantiles of .16 and .84 for normal moves of
    both lengths; for |r| above .9 the end away from 0 is somewhat too near. Likewise words with x
    for y. The second term is the effect of a resample on each model alone, which the jackknife
    contains (as Owen, 2007, for crossed data). Where the variance of z to first order is not above
    0 it is not estimated: NaN, as below 50 resamples in which every model has a value, and at |r| =
    1. Shapes: (all observations, resamples).
    """
    r, (u, v) = residual.r, residual.unit
    if not abs(r) < 1 - 1e-12:
        return Sampling()
    along, u = abs(r), u if r >= 0 else -u
    across_u, across_v = u - along * v, v - along * u
    across = sqrt(float(across_v @ across_v))
    x_gradients = np.stack([v, across_u / across]) / sqrt(float(residual.u @ residual.u))
    y_gradients = np.stack([u, across_v / across]) / sqrt(float(residual.v @ residual.v))
    words, words_outward = errors_of_z(along, across, _shared(residual, x_resampled, x_gradients))
    items, items_outward = errors_of_z(along, across, _shared(residual, y_resampled, y_gradients))
    return Sampling(words, items, hypot(words_outward, items_outward))


def errors_of_z(along: float, across: float, covariance: Floats) -> tuple[float, float]:
    """Return the distances from z = asinh(along / across) to its quantiles of .16 and .84, for
    normal moves of both lengths; NaN and 0 where not estimated, and 0 away from 0 where nine of ten
    moves go towards it.

    An estimated covariance may be none: moves are scaled to its variance of z to first order.
    """
    gradient = np.array([1, -along / across])
    variance = float(gradient @ covariance @ gradient)  # of z, to first order
    if not variance > TINY:
        return nan, 0.0
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    root *= sqrt(variance / float(np.square(gradient @ root).sum()))
    z, moves = asinh(along / across), NORMAL_PAIRS @ root.T
    moved = np.arcsinh((along + moves[:, 0]) / np.maximum(np.abs(across + moves[:, 1]), TINY))
    low, high = np.quantile(moved, scipy.special.ndtr([-1, 1])).tolist()
    return z - low if low < z else nan, max(high - z, 0.0)


def slope_sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the same part of the error of b = sum u v / sum u^2.

    With db / dy_i = u_i / sum u^2 and db / dx_i = (v_i - b u_i) / sum u^2: b per standard deviation
    of the score, for words also set the scale of the score, which is no error of the gap's change.
    """
    u, v, b = residual.u, residual.v, residual.slope
    sides = ((x_resampled, v - b * u), (y_resampled, u))
    variances = [
        float(_shared(residual, resampled, side[None] / float(u @ u))[0, 0])
        for resampled, side in sides
    ]
    return Sampling(*(sqrt(variance) if variance > 0 else nan for variance in variances))


def _shared(residual: Residuals, resampled: Floats | None, gradients: Floats) -> Floats:
    """Return the covariances of statistics with these gradients that models share; NaN below
    ``MIN_RESAMPLES`` in which every model has a value.

    Shapes: (all observations, resamples), (statistics, n) -> (statistics, statistics).
    """
    usable = _usable(residual, resampled)
    if usable is None:
        return np.full((len(gradients), len(gradients)), nan)
    effects = residual.residual(usable)
    proper: Floats = effects.var(axis=1, ddof=1) / (1 - residual.h)
    together = np.atleast_2d(np.cov(gradients @ effects))
    shared: Floats = together - (gradients * proper) @ gradients.T
    return shared


def _usable(residual: Residuals, resampled: Floats | None) -> Floats | None:
    """Return the resamples in which every model has a value; None below ``MIN_RESAMPLES``."""
    if resampled is None:
        return None
    usable: Floats = resampled[:, np.isfinite(resampled[residual.indices]).all(axis=0)]
    return usable if usable.shape[1] >= MIN_RESAMPLES else None
