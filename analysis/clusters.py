"""Correlations of clustered pairs, over all rows and without each cluster in turn."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.coefficients import Floats, Truths, both_finite

Ints = NDArray[np.intp]

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
    n, sx, sy, sxx, syy, sxy = list[Floats]((weights @ sums).T)
    with np.errstate(divide="ignore", invalid="ignore"):
        mx, my = sx / n, sy / n
        vx, vy = sxx / n - mx * mx, syy / n - my * my
        spread: Floats = np.sqrt(vx * vy)
        r: Floats = (sxy / n - mx * my) / spread
    return Moments(n, mx, my, vx, vy, spread, np.where((vx < 1e-12) | (vy < 1e-12), nan, r))


def leave_one_out(pairs: Pairs) -> Floats:
    """Pearson's r without each unit in turn. Shape (units,)."""
    k = pairs.units
    return weighted_moments(np.ones((k, k)) - np.eye(k), moments(pairs)).r


def rho_and_tau(pairs: Pairs) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b over all rows, then without each unit in turn. Shapes
    (1 + units,) each; NaN where a side is constant.

    With s_ij = sign(x_i - x_j) and t_ij = sign(y_i - y_j)

        tau-b = sum s t / sqrt(sum s^2 sum t^2),   rank(x_i) - (n + 1) / 2 = sum_j s_ij / 2

    so that leaving out a unit takes its rows and columns from these sums. Of more than 100 units it
    is each of 40 groups of them, in the order of their names, that is left out.
    """

    def signs(side: Floats, own: Truths) -> Floats:
        found: Floats = np.sign(side[:, None] - side[own])
        return found

    group = pairs.unit if pairs.units <= MOST_LEFT_OUT else pairs.unit * GROUPS // pairs.units
    k, n = int(group.max()) + 1, len(group)
    ranks = np.zeros((2, k, n))  # what each group adds to twice the centred ranks
    sums, own_sums = np.zeros((3, k)), np.zeros((3, k))  # of s t, s^2 and t^2
    for left_out in range(k):
        own = group == left_out
        s, t = signs(pairs.x, own), signs(pairs.y, own)
        ranks[:, left_out] = s.sum(axis=1), t.sum(axis=1)
        for i, products in enumerate((s * t, s * s, t * t)):
            sums[i, left_out], own_sums[i, left_out] = products.sum(), products[own].sum()
    total: Floats = sums.sum(axis=1, keepdims=True)
    tau = _cosine(*list[Floats](np.concatenate([total, total - 2 * sums + own_sums], axis=1)))
    kept = np.vstack([np.ones(n, dtype=bool), group != np.arange(k)[:, None]])
    whole: Floats = ranks.sum(axis=1, keepdims=True)
    x, y = list[Floats](np.where(kept, np.concatenate([whole, whole - ranks], axis=1), 0))
    return _cosine((x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1)), tau


def _cosine(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = xy / np.sqrt(xx * yy)
    return found
