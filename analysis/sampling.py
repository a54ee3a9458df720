"""The error of a correlation that comes from measuring all models on the same words and items."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from analysis.residuals import Residuals
    from stats.arrays import Floats

MIN_RESAMPLES = 50


class Sampling(NamedTuple):
    """Standard errors of z = atanh(r_rm) from sampling the words behind scores and the items behind
    gaps (Clark, 1973), beyond the part in the jackknife; NaN where not estimated.
    """

    words: float = nan
    items: float = nan

    @property
    def variance(self) -> float:
        """Return the sum of both variances (independent draws); 0 for what is not estimated."""
        return sum(error**2 for error in self if isfinite(error))

    @property
    def error(self) -> float:
        """Return the standard error; NaN where neither part is estimated."""
        return sqrt(self.variance) if any(map(isfinite, self)) else nan


def sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the part of the error of z that more models do not reduce.

    An item that models get wrong the more, the more biased they are, makes all gaps follow all
    scores: leaving out models does not show it. With e_ib the effect of resample b of the items,
    drawn alike for all models, on the gap of model i,

        items^2 = var_b(sum_i g_i e_ib) - sum_i g_i^2 var_b(e_ib) / (1 - h_i)
        g_i = dz / dy_i = (u_i / |u| - r v_i / |v|) / (|v| (1 - r^2))

    and likewise for words with x for y. The second term is the effect of a resample on each model
    alone, which the jackknife contains (as Owen, 2007, for crossed data). A difference below 0 is
    not estimated: NaN, as below 50 resamples in which every model has a value, and at |r| = 1.
    Shapes: (all observations, resamples).
    """
    r = residual.r
    if not abs(r) < 1 - 1e-12:
        return Sampling()
    sides = ((x_resampled, residual.u, residual.v), (y_resampled, residual.v, residual.u))
    return Sampling(*(_shared(residual, resampled, u, v, r) for resampled, u, v in sides))


class SharedAlong(NamedTuple):
    """The sampling error of z of x and y - b0 x, for any b0.

    With z = atanh r(x, y - b0 x), e = v - b u and unit vectors u and e, sinh z is linear in the
    gaps, and nearly so in the scores:

        d sinh z = sum_i p_i dy_i - (b0 p_i - q_i) dx_i,    p = u / |e|, q = e / |u|

    z itself moves less the farther it is from 0, so that its error at z would be too small to test
    whether it is 0: c is that of sinh z times z / sinh z. ``words``, ``items`` (2, 2): the
    variances and covariance that shared words and items give to the sums over models of u and e
    times their resamples, divided by |u|^2 and |e|^2; 0 where not estimated. ``zero``: sinh z at b0
    = 0.
    """

    words: Floats
    items: Floats
    zero: float

    @classmethod
    def of(
        cls, residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
    ) -> SharedAlong:
        """Estimate it from resamples as in ``sampling_error``."""
        not_estimated = np.zeros((2, 2))
        if not abs(residual.r) < 1 - 1e-12:
            return cls(not_estimated, not_estimated, 0.0)
        u, v = residual.unit
        unexplained = sqrt(1 - residual.r**2)
        axes = np.array([u, (v - residual.r * u) / unexplained])
        lengths = float(residual.u @ residual.u), float(residual.v @ residual.v) * unexplained**2
        words, items = (
            not_estimated
            if (usable := _usable(residual, resampled)) is None
            else _shared_moments(residual, residual.residual(usable), axes) / length
            for resampled, length in zip((x_resampled, y_resampled), lengths, strict=True)
        )
        return cls(words, items, residual.r / unexplained)

    def variance(self, z: Floats) -> Floats:
        """Return c^2 for each z. Shapes (k,)."""
        shift = np.sinh(z) - self.zero  # -b0 |u| / |e|
        words_variance = (
            shift**2 * self.words[0, 0] + 2 * shift * self.words[0, 1] + self.words[1, 1]
        )
        variance = np.maximum(words_variance, 0) + max(float(self.items[0, 0]), 0.0)
        nonzero_z = np.where(z == 0, 1.0, z)
        scaled: Floats = variance * np.square(nonzero_z / np.where(z == 0, 1.0, np.sinh(z)))
        return scaled


def _shared_moments(residual: Residuals, resampled: Floats, axes: Floats) -> Floats:
    """Return covariances of sums over models less those of each model alone. (n, b), (2, n)."""
    own_variance = resampled.var(axis=1, ddof=1) / (1 - residual.h)
    moments: Floats = np.cov(axes @ resampled) - (axes * own_variance) @ axes.T
    return moments


def _shared(
    residual: Residuals, resampled: Floats | None, side: Floats, other_side: Floats, r: float
) -> float:
    usable = _usable(residual, resampled)
    if usable is None:
        return nan
    influence = residual.residual(usable) * slopes(side, other_side, r)[:, None]
    variance = float(influence.sum(axis=0).var(ddof=1))
    shared = variance - float((influence.var(axis=1, ddof=1) / (1 - residual.h)).sum())
    return sqrt(shared) if shared > 0 else nan


def _usable(residual: Residuals, resampled: Floats | None) -> Floats | None:
    """Return the resamples in which every model has a value; None below ``MIN_RESAMPLES``."""
    if resampled is None:
        return None
    usable: Floats = resampled[:, np.isfinite(resampled[residual.indices]).all(axis=0)]
    return usable if usable.shape[1] >= MIN_RESAMPLES else None


def slopes(side: Floats, other_side: Floats, r: float) -> Floats:
    """Return dz / d side_i, g of ``sampling_error``. Shape (n,)."""
    lengths = sqrt(float(side @ side)), sqrt(float(other_side @ other_side))
    slopes_of_side: Floats = (other_side / lengths[1] - r * side / lengths[0]) / (
        lengths[0] * (1 - r * r)
    )
    return slopes_of_side
