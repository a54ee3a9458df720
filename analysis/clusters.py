"""Correlations of clustered pairs: rows of one unit are resampled, permuted and left out
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atanh, isfinite, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.coefficients import NORMAL_975, Floats, Truths, both_finite

Ints = NDArray[np.intp]

NORMAL_80 = 0.8416212335729143
FEWEST_UNITS = 4  # below, a unit's weight in a resample is all there is
MOST_LEFT_OUT = 100
GROUPS = 40  # that stand in for more units than that, where leaving out each would take too long
# Share of simulated studies whose 95% interval of r held the truth, least and most over kinds of
# data; tests/analysis/test_coverage.py.
COVERAGE = {8: (0.93, 0.97), 16: (0.93, 0.95), 40: (0.93, 0.96)}


class Estimate(NamedTuple):
    """A statistic with its 95% interval; NaN where undefined."""

    value: float = nan
    low: float = nan
    high: float = nan


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
        """The pairs of which both values are finite, and the names of their units, sorted."""
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        kept = both_finite(first, second)
        named: NDArray[np.str_] = np.asarray(units, dtype=object)[kept].astype(str)
        names, unit = np.unique(named, return_inverse=True)
        return cls(first[kept], second[kept], unit), names.tolist()

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


def coverage(units: int) -> str:
    """The coverage that simulation found for so many units, or for the largest number below."""
    known = [size for size in COVERAGE if size <= units]
    if not known:
        return f"not known below {min(COVERAGE)} units"
    low, high = COVERAGE[max(known)]
    return f"{100 * low:.0f} to {100 * high:.0f}% in simulated studies of {max(known)} units"


@lru_cache(maxsize=8)
def resample(units: int, resamples: int, seed: int) -> Floats:
    """How often each unit stands in each resample of as many units, drawn with replacement. Shape
    (resamples, units).
    """
    rng = np.random.default_rng([seed, units])
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).astype(np.float64)


@lru_cache(maxsize=8)
def orderings(things: int, resamples: int, seed: int) -> Ints:
    """Random orders of so many things. Shape (resamples, things)."""
    rng = np.random.default_rng([seed, things, 1])
    return rng.permuted(np.tile(np.arange(things), (resamples, 1)), axis=1)


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


def weighted_pearson(weights: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Pearson's r of each weighting of the units and the standard error of its z = atanh(r), by the
    infinitesimal jackknife over units.

    The influence of a unit on r is sum over its rows of u v - r (u^2 + v^2) / 2, with u and v the
    standardised values; the error of z is sqrt(sum_units w influence^2) / (n (1 - r^2)). Shapes:
    weights (b, units), sums (units, 6) -> (b,), (b,); NaN where a side is constant.
    """
    n, mx, my, vx, vy, spread, r = weighted_moments(weights, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The influence is linear in the unit's own sums: its coefficients, one row a weighting.
        cross, half = 1 / spread, r / 2
        of = np.stack(
            [
                cross * mx * my - half * (mx * mx / vx + my * my / vy),
                -cross * my + 2 * half * mx / vx,
                -cross * mx + 2 * half * my / vy,
                -half / vx,
                -half / vy,
                cross,
            ],
            axis=1,
        )
        influence: Floats = of @ sums.T
        squared: Floats = (weights * influence**2).sum(axis=1)
        error: Floats = np.sqrt(squared) / (n * (1 - r * r))
    return r, error


def pearson_interval(pairs: Pairs, weights: Floats) -> Estimate:
    """Pearson's r over rows with its 95% interval by the studentised cluster bootstrap.

    z = atanh(r);  [tanh(z - q s), tanh(z + q s)],  s the error of z, q the 95% quantile over
    resamples b of |z_b - z| / s_b

    ``weights`` come from ``resample``. The interval is NaN for fewer than 4 units; at |r| = 1 it is
    the point.
    """
    sums = moments(pairs)
    whole = weighted_pearson(np.ones((1, pairs.units)), sums)
    value, error = (float(each[0]) for each in whole)
    value = max(-1.0, min(1.0, value))
    if abs(value) > 1 - 1e-12:
        return Estimate(value, value, value)
    if pairs.units < FEWEST_UNITS or not isfinite(error) or error == 0:
        return Estimate(value, nan, nan)
    resampled, errors = weighted_pearson(weights, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        strayed: Floats = np.abs(np.arctanh(np.clip(resampled, -1, 1)) - atanh(value)) / errors
    strayed = strayed[np.isfinite(strayed)]
    if len(strayed) < len(weights) / 2:
        return Estimate(value, nan, nan)
    reach = float(np.quantile(strayed, 0.95)) * error
    return Estimate(value, tanh(atanh(value) - reach), tanh(atanh(value) + reach))


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


def jackknife_interval(value: float, left_out: Floats) -> Estimate:
    """The 95% interval of a correlation from its values without each unit: z +- t s, t of k - 2
    degrees of freedom.

    z = atanh(value),  s^2 = (k - 1) / k sum_i (z_i - mean z)^2

    NaN for fewer than 4 units and where leaving out a unit leaves nothing to correlate.
    """
    k = len(left_out)
    if abs(value) > 1 - 1e-12:
        return Estimate(value, value, value)
    if k < FEWEST_UNITS or not np.isfinite(left_out).all() or (np.abs(left_out) > 1 - 1e-12).any():
        return Estimate(value, nan, nan)
    reach = float(scipy.special.stdtrit(k - 2, 0.975)) * jackknife_error(left_out)
    return Estimate(value, tanh(atanh(value) - reach), tanh(atanh(value) + reach))


def jackknife_error(left_out: Floats) -> float:
    """The standard error of z = atanh(r) from the correlations without each unit."""
    z: Floats = np.arctanh(left_out)
    return sqrt((len(z) - 1) / len(z) * float(((z - float(z.mean())) ** 2).sum()))


def unit_permutation_p(pairs: Pairs, resamples: int, seed: int) -> tuple[float, str]:
    """The two-sided p of r = 0 when the y of whole units change places, and a reason where there is
    none.

    Units change places with units of as many rows, which keep their order; p = (1 + #{|r_b| >=
    |r|}) / (1 + resamples).
    """
    sizes = np.bincount(pairs.unit)
    order = np.argsort(pairs.unit, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    alone = sum(len(group) for group in groups if len(group) == 1)
    if all(len(group) == 1 for group in groups):
        return nan, "no two units have the same number of rows, so none can change places"
    x, y = (side - float(side.mean()) for side in (pairs.x[order], pairs.y[order]))
    spread = sqrt(float(x @ x) * float(y @ y))
    observed = abs(float(x @ y)) / spread
    # sum over rows of x y is a sum over units; the cross products of every unit's x with every
    # unit's y of the same size.
    total = np.zeros(resamples)
    for group in groups:
        size = int(sizes[group[0]])
        block = starts[group][:, None] + np.arange(size)
        products: Floats = x[block] @ y[block].T
        placed = products[np.arange(len(group)), orderings(len(group), resamples, seed)]
        total += placed.sum(axis=1)
    count = int((np.abs(total) / spread >= observed - 1e-12).sum())
    reason = f"{alone} units of a size of their own stay in place" if alone else ""
    return (1 + count) / (1 + resamples), reason


def detectable(units: int, power: float = NORMAL_80) -> float:
    """The smallest |correlation| that so many independent units detect in 80% of studies at the 5%
    level, two-sided.

    tanh((1.96 + 0.84) / sqrt(k - 3)), by Fisher's z; NaN for fewer than 4 units.
    """
    return tanh((NORMAL_975 + power) / sqrt(units - 3)) if units > 3 else nan
