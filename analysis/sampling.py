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
    """Standard errors, of z = atanh(r_rm) or of b, from sampling the words behind scores and the
    items behind gaps (Clark, 1973), beyond the part in the jackknife; NaN where not estimated.
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
    u, v = residual.u, residual.v
    sides = ((x_resampled, slopes(u, v, r)), (y_resampled, slopes(v, u, r)))
    return Sampling(*(_shared(residual, resampled, gradient) for resampled, gradient in sides))


def slope_sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the same part of the error of b = sum u v / sum u^2.

    With db / dy_i = u_i / sum u^2 and db / dx_i = (v_i - b u_i) / sum u^2: b per standard deviation
    of the score, for words also set the scale of the score, which is no error of the gap's change.
    """
    u, v, b = residual.u, residual.v, residual.slope
    sides = ((x_resampled, v - b * u), (y_resampled, u))
    return Sampling(
        *(_shared(residual, resampled, side / float(u @ u)) for resampled, side in sides)
    )


def _shared(residual: Residuals, resampled: Floats | None, gradient: Floats) -> float:
    """Return the error of a statistic with this gradient that models share; NaN below 0."""
    usable = _usable(residual, resampled)
    if usable is None:
        return nan
    influence = residual.residual(usable) * gradient[:, None]
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
