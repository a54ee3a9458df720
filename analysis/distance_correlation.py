"""Dependence of any shape: the distance correlation of what is left of two measurements."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING

import scipy

from analysis.pairwise import distance_products, distances
from analysis.within import NO_SPREAD

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.within import Residuals


def distance_correlation(of: Residuals) -> tuple[float, float]:
    """The bias-corrected distance correlation of what is left of x and y (Székely & Rizzo, 2013)
    and its p (Shen, Panda & Vogelstein, 2022).

    C = sum A B / sqrt(sum A^2 sum B^2),  A, B: distances of x and of y, centred so that C is 0 on
    average where the two are independent;  p = P(chi^2_1 > free C + 1)

    The value is sqrt(max(0, C)), in [0, 1]; NaN below 4 units or where a side is constant.
    """
    if len(of.u) < 4:
        return nan, nan
    xy, xx, yy = (_centred_products(*two) for two in ((of.u, of.v), (of.u, of.u), (of.v, of.v)))
    if not (xx > 0 and yy > 0):
        return nan, nan
    c = xy / sqrt(xx * yy)
    return sqrt(max(0.0, c)), float(scipy.special.chdtrc(1, max(0.0, of.free * c + 1)))


def _centred_products(x: Floats, y: Floats) -> float:
    """sum over i != j of A_ij B_ij, A and B centred so that every row adds up to 0 (Huo & Székely,
    2016), and 0 where that is what rounding leaves.
    """
    n, a, b = len(x), distances(x), distances(y)
    whole = distance_products(x, y)
    found = whole - 2 * float(a @ b) / (n - 2)
    found += float(a.sum()) * float(b.sum()) / ((n - 1) * (n - 2))
    return found if abs(found) > NO_SPREAD * whole else 0.0
