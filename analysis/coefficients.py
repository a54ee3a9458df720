"""The correlation of two columns of numbers, pairs taken as independent: estimates, interval,
p-values, n and what stood in the way.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import atanh, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from analysis.arrays import Floats, Truths

EXACT_UP_TO = 8
NORMAL_975 = 1.959963984540054


class Coefficients(NamedTuple):
    """Pearson's r with its 95% interval, Spearman's rho and Kendall's tau-b, each with its
    two-sided p-value; NaN where undefined, and the reason.
    """

    n: int
    n_missing: int
    pearson: float = nan
    pearson_low: float = nan
    pearson_high: float = nan
    pearson_p: float = nan
    spearman: float = nan
    spearman_p: float = nan
    kendall: float = nan
    kendall_p: float = nan
    reason: str = ""


def both_finite(x: Floats, y: Floats) -> Truths:
    """Which pairs are known on both sides. Shapes: (n,), (n,) -> (n,)."""
    known: Truths = np.isfinite(x) & np.isfinite(y)
    return known


def coefficients(x: Floats, y: Floats, *, names: tuple[str, str] = ("x", "y")) -> Coefficients:
    """The correlation coefficients of paired values.

    All three lie in [-1, 1]; 0: no linear (r) or monotone (rho, tau) association; positive: y rises
    with x. Pairs in which either value is not finite are left out and counted in ``n_missing``.
    With fewer than 3 pairs, or a side that does not vary, nothing is defined: every estimate is NaN
    and ``reason`` says why, with the sides' ``names``. The p-values assume that the pairs are
    independent:

    * Pearson: exact for a bivariate normal population (0 when all points lie on a line).
    * Spearman: exact over all n! orderings, ties kept, for n <= 8; Student's t with n - 2 degrees
      of freedom above.
    * Kendall: scipy's, exact for small n without ties, else the normal approximation.

    Shapes: x (n,), y (n,).
    """
    both = both_finite(x, y)
    x, y = x[both], y[both]
    counted = Coefficients(n=len(x), n_missing=int((~both).sum()))
    if len(x) < 3:
        return counted._replace(reason=f"n = {len(x)}, fewer than 3 pairs")
    scaled_x, scaled_y = _spread_out(x), _spread_out(y)
    if scaled_x is None or scaled_y is None:
        sides = zip(names, (scaled_x, scaled_y), strict=True)
        constant = [name for name, scaled in sides if scaled is None]
        verb = "is" if len(constant) == 1 else "are"
        return counted._replace(reason=f"{' and '.join(constant)} {verb} constant")
    r, p = _pearson(scaled_x, scaled_y)
    low, high = fisher_interval(r, len(x))
    rho, rho_p = _spearman(x, y)
    tau = scipy.stats.kendalltau(x, y)
    return counted._replace(
        pearson=r,
        pearson_low=low,
        pearson_high=high,
        pearson_p=p,
        spearman=rho,
        spearman_p=rho_p,
        kendall=float(tau.statistic),
        kendall_p=float(tau.pvalue),
        reason=_without_interval(r, len(x)),
    )


def fisher_interval(r: float, n: int) -> tuple[float, float]:
    """The 95% interval of a Pearson correlation by Fisher's z (Fisher, 1921).

    z = atanh(r) = ln((1 + r) / (1 - r)) / 2 is close to normal with mean atanh(population r) and a
    standard deviation 1 / sqrt(n - 3) that does not depend on r, so

        [tanh(z - 1.96 / sqrt(n - 3)), tanh(z + 1.96 / sqrt(n - 3))]

    holds the population r in 95% of samples of independent pairs from a bivariate normal. It lies
    in [-1, 1] and is not symmetric about r. NaN below n = 4 and at |r| = 1, where z is infinite:
    points on a line do not say how far others would lie from it.
    """
    if n < 4 or abs(r) == 1:
        return nan, nan
    half = NORMAL_975 / sqrt(n - 3)
    return tanh(atanh(r) - half), tanh(atanh(r) + half)


def _without_interval(r: float, n: int) -> str:
    if n < 4:
        return f"n = {n}, no interval below 4 pairs"
    return "all pairs lie on a line, no interval" if abs(r) == 1 else ""


def _spread_out(values: Floats) -> Floats | None:
    """The values centred and scaled to a largest magnitude of 1, or None when they differ by
    rounding only.
    """
    largest = float(np.abs(values).max(initial=0))
    if largest == 0:
        return None
    centred = values / largest
    centred = centred - float(centred.mean())
    spread = float(np.abs(centred).max())
    return None if spread < 1e-13 else centred / spread


def _pearson(x: Floats, y: Floats) -> tuple[float, float]:
    result = scipy.stats.pearsonr(x, y)
    r = float(result.statistic)
    # An exact line often comes out as 0.9999999999999998, whose p at n = 3 would be 1e-8 and whose
    # interval [-1, 1].
    return (float(np.sign(r)), 0.0) if abs(r) > 1 - 1e-14 else (r, float(result.pvalue))


def _spearman(x: Floats, y: Floats) -> tuple[float, float]:
    n = len(x)
    result = scipy.stats.spearmanr(x, y)
    if n > EXACT_UP_TO:
        return float(result.statistic), float(result.pvalue)
    # Centred ranks are multiples of 1/2, so the products are exact and ties between orderings are
    # seen as ties.
    rank_x, rank_y = (scipy.stats.rankdata(values) - (n + 1) / 2 for values in (x, y))
    products = rank_x[_orderings(n)] @ rank_y
    return float(result.statistic), float(np.mean(np.abs(products) >= abs(rank_x @ rank_y)))


@cache
def _orderings(n: int) -> NDArray[np.int8]:
    """All n! orderings of n things, shape (n!, n)."""
    return np.array(list(permutations(range(n))), dtype=np.int8)
