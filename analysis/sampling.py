"""How far a correlation is off because all models are measured on the same words and items."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.residuals import Residuals

FEWEST_RESAMPLES = 50


class Sampling(NamedTuple):
    """Standard errors of z = atanh(r_rm) from sampling the words behind scores and the items behind
    gaps (Clark, 1973), beyond what the jackknife shows of them; NaN where not estimated.
    """

    words: float = nan
    items: float = nan

    @property
    def variance(self) -> float:
        """Of both together, for they are drawn apart; what is not estimated counts as 0."""
        return sum(each**2 for each in self if isfinite(each))

    @property
    def error(self) -> float:
        """Its root; NaN where neither is estimated."""
        return sqrt(self.variance) if any(map(isfinite, self)) else nan


def sampling_error(
    of: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    r"""The part of the error of z that more models do not take away.

    An item that models get wrong the more, the more biased they are, makes all gaps follow all
    scores: leaving out models does not show it. With e_ib what resample b of the items, drawn alike
    for all models, does to the gap of model i,

        items^2 = var_b(sum_i g_i e_ib) - sum_i g_i^2 var_b(e_ib) / (1 - h_i)
        g_i = dz / dy_i = (u_i / |u| - r v_i / |v|) / (|v| (1 - r^2))

    and likewise for words with x for y. The second term is what a resample does to each model for
    itself, which the jackknife has already (as Owen, 2007, for crossed data). A difference below 0
    is not estimated: NaN, as below 50 resamples in which every model has a value, and at |r| = 1.
    Shapes: (all observations, resamples).
    """
    r = of.r
    if not abs(r) < 1 - 1e-12:
        return Sampling()
    sides = ((x_resampled, of.u, of.v), (y_resampled, of.v, of.u))
    return Sampling(*(_shared(of, drawn, own, other, r) for drawn, own, other in sides))


class SharedAlong(NamedTuple):
    """The same error of z of x and y - b0 x, for any b0.

    With z = atanh r(x, y - b0 x), e = v - b u and unit vectors u and e, sinh z is linear in the
    gaps, and nearly so in the scores:

        d sinh z = sum_i p_i dy_i - (b0 p_i - q_i) dx_i,    p = u / |e|, q = e / |u|

    z itself moves by less the farther it lies from 0, so that its error at z would be too small to
    test whether it is 0: c is that of sinh z times z / sinh z. ``words``, ``items`` (2, 2): the
    variances and covariance that shared words and items give to the sums over models of u and e
    times their resamples, divided by |u|^2 and |e|^2; 0 where not estimated. ``zero``: sinh z at
    b0 = 0.
    """

    words: Floats
    items: Floats
    zero: float

    @classmethod
    def of(
        cls, of: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
    ) -> SharedAlong:
        """Of resamples as ``sampling_error`` takes them."""
        none = np.zeros((2, 2))
        if not abs(of.r) < 1 - 1e-12:
            return cls(none, none, 0.0)
        u, v = of.unit
        left = sqrt(1 - of.r**2)
        axes = np.array([u, (v - of.r * u) / left])
        lengths = float(of.u @ of.u), float(of.v @ of.v) * left**2
        words, items = (
            none
            if (usable := _usable(of, drawn)) is None
            else _shared_moments(of, of.residual(usable), axes) / length
            for drawn, length in zip((x_resampled, y_resampled), lengths, strict=True)
        )
        return cls(words, items, of.r / left)

    def variance(self, z: Floats) -> Floats:
        """c^2 for each z. Shapes (k,)."""
        moved = np.sinh(z) - self.zero  # -b0 |u| / |e|
        of_words = moved**2 * self.words[0, 0] + 2 * moved * self.words[0, 1] + self.words[1, 1]
        whole = np.maximum(of_words, 0) + max(float(self.items[0, 0]), 0.0)
        beyond = np.where(z == 0, 1.0, z)
        found: Floats = whole * np.square(beyond / np.where(z == 0, 1.0, np.sinh(z)))
        return found


def _shared_moments(of: Residuals, drawn: Floats, axes: Floats) -> Floats:
    """Covariances of sums over models less those of each model for itself. (n, b), (2, n)."""
    own = drawn.var(axis=1, ddof=1) / (1 - of.h)
    found: Floats = np.cov(axes @ drawn) - (axes * own) @ axes.T
    return found


def _shared(of: Residuals, drawn: Floats | None, own: Floats, other: Floats, r: float) -> float:
    usable = _usable(of, drawn)
    if usable is None:
        return nan
    moved = of.residual(usable) * slopes(own, other, r)[:, None]
    whole = float(moved.sum(axis=0).var(ddof=1))
    shared = whole - float((moved.var(axis=1, ddof=1) / (1 - of.h)).sum())
    return sqrt(shared) if shared > 0 else nan


def _usable(of: Residuals, drawn: Floats | None) -> Floats | None:
    """The resamples in which every model has a value; None where they are too few."""
    if drawn is None:
        return None
    usable: Floats = drawn[:, np.isfinite(drawn[of.kept]).all(axis=0)]
    return usable if usable.shape[1] >= FEWEST_RESAMPLES else None


def slopes(own: Floats, other: Floats, r: float) -> Floats:
    """dz / d own_i, g of ``sampling_error``. Shape (n,)."""
    lengths = sqrt(float(own @ own)), sqrt(float(other @ other))
    found: Floats = (other / lengths[1] - r * own / lengths[0]) / (lengths[0] * (1 - r * r))
    return found
