"""Correlations of clustered pairs, over all rows and without each cluster in turn."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats, Ints
from analysis.coefficients import both_finite
from analysis.pairwise import concordance, signs, ties

MOST_LEFT_OUT = 100
GROUPS = 40  # that stand in for more units than that, where leaving out each would take too long


class Moments(NamedTuple):
    """Weighted sums of rows: their number, means, variances, the root of the variances' product and
    Pearson's r. Shapes: (b,) each.
    """

    n: Floats
    mx: Floats
    my: Floats
    vx: Floats
    vy: Floats
    spread: Floats
    r: Floats


@dataclass(frozen=True)
class Pairs:
    """Paired values with the unit of each: ``unit`` counts from 0 to k - 1. Shapes: (n,) each."""

    x: Floats
    y: Floats
    unit: Ints

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[Pairs, list[str]]:
        """The pairs of which both values are finite, and the names of their units, in order of
        appearance."""
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        kept = both_finite(first, second)
        named: NDArray[np.str_] = np.asarray(units).astype(str)[kept]
        names, at, unit = np.unique(named, return_index=True, return_inverse=True)
        order = np.argsort(at)
        place = np.argsort(order)  # by appearance: keys of the store decide no random order
        return cls(first[kept], second[kept], place[unit]), names[order].tolist()

    def sums(self, *values: Floats) -> Floats:
        """For every unit the sums of some values of its rows. Shapes: (n,) each -> (k, values)."""
        added = [np.bincount(self.unit, weights=each, minlength=self.units) for each in values]
        return np.stack(added, axis=1)

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.unit.max()) + 1 if len(self.unit) else 0

    @property
    def constant(self) -> bool:
        """Whether a side differs by rounding only."""
        return any(
            float(np.ptp(side)) <= 1e-13 * float(np.abs(side).max(initial=0))
            for side in (self.x, self.y)
        )


def standardised(values: Floats, ddof: int = 0) -> Floats:
    """The values centred and divided by their standard deviation."""
    return (values - float(values.mean())) / float(values.std(ddof=ddof))


def moments(pairs: Pairs) -> Floats:
    """For every unit the sums of 1, x, y, x^2, y^2 and x y, centred and scaled over all rows. Shape
    (units, 6).
    """
    x, y = standardised(pairs.x), standardised(pairs.y)
    return pairs.sums(np.ones_like(x), x, y, x * x, y * y, x * y)


def weighted_moments(weights: Floats, sums: Floats) -> Moments:
    """Means, variances and Pearson's r of each weighting of the units. Shapes: weights (b, units),
    sums (units, 6) -> (b,) each; r is NaN where a side is constant.
    """
    return _moments(weights @ sums)


def leave_one_out(pairs: Pairs) -> Floats:
    """Pearson's r without each unit in turn. Shape (units,)."""
    sums = moments(pairs)
    return _moments(sums.sum(axis=0) - sums).r


def _moments(sums: Floats) -> Moments:
    n, sx, sy, sxx, syy, sxy = list[Floats](sums.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        mx, my = sx / n, sy / n
        vx, vy = sxx / n - mx * mx, syy / n - my * my
        spread: Floats = np.sqrt(vx * vy)
        r: Floats = (sxy / n - mx * my) / spread
    return Moments(n, mx, my, vx, vy, spread, np.where((vx < 1e-12) | (vy < 1e-12), nan, r))


def rho_and_tau(pairs: Pairs) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b over all rows, then without each unit in turn. Shapes
    (1 + units,) each; NaN where a side is constant.

    With s_ij = sign(x_i - x_j) and t_ij = sign(y_i - y_j)

        tau-b = sum s t / sqrt(sum s^2 sum t^2),   rank(x_i) - (n + 1) / 2 = sum_j s_ij / 2

    so that leaving out a unit takes its rows and columns from these sums. Of more than 100 units it
    is each of 40 groups of them, in the order of their names, that is left out.
    """
    group = pairs.unit if pairs.units <= MOST_LEFT_OUT else pairs.unit * GROUPS // pairs.units
    x, y = pairs.x, pairs.y
    ranks = np.stack([signs(x, x), signs(y, y)])
    sums = _products(x, y)
    rho, tau = [_cosine(*_squares(ranks))], [_cosine(*sums.sum(axis=1))]
    for left_out in range(int(group.max()) + 1):
        own = group == left_out
        kept = ~own
        left = np.stack([signs(side[kept], side[own]) for side in (x, y)])
        rho.append(_cosine(*_squares(ranks[:, kept] - left)))
        inner = _products(x[own], y[own]).sum(axis=1)
        tau.append(_cosine(*(sums[:, kept].sum(axis=1) - sums[:, own].sum(axis=1) + inner)))
    return np.array(rho), np.array(tau)


def _products(x: Floats, y: Floats) -> Floats:
    """sum_j s_ij t_ij, sum_j s_ij^2 and sum_j t_ij^2. Shapes: (n,), (n,) -> (3, n)."""
    return np.stack([concordance(x, y), len(x) - ties(x), len(y) - ties(y)])


def _squares(ranks: Floats) -> tuple[float, float, float]:
    x, y = list[Floats](ranks)
    return float(x @ y), float(x @ x), float(y @ y)


def _cosine(xy: float, xx: float, yy: float) -> float:
    return xy / sqrt(xx * yy) if xx > 0 and yy > 0 else nan
