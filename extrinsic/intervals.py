"""Estimates with intervals, and what is made of several of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DISSENT = 4


class Estimate(NamedTuple):
    """A number and its interval; all NaN where it is undefined."""

    value: float
    low: float
    high: float


UNDEFINED = Estimate(nan, nan, nan)


def quantile(level: float) -> float:
    """z with P(|Z| <= z) = level, Z standard normal."""
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(k: float, n: float, level: float) -> Floats:
    """Wilson's (1927) score interval of the share k / n, (low, high): all p with
    |k / n - p| <= z sqrt(p (1 - p) / n), z as in ``quantile``; never of zero width.

        (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

    """
    z = quantile(level)
    half = z * np.sqrt(k * (n - k) / n + z**2 / 4)
    bounds: Floats = np.clip((k + z**2 / 2 + np.array([-half, half])) / (n + z**2), 0, 1)
    return bounds


def mean_estimate(values: Floats, level: float) -> Estimate:
    """The mean of two or more values (n,) and its t interval, mean -+ t_{n - 1} sd / sqrt(n).

    Of 10 to 117 values it covers more often than a percentile bootstrap, whatever their shape
    (``tests/extrinsic/test_retrieval.py``). Where all are equal the interval is unknown: NaN.
    """
    from scipy.special import stdtrit  # slow to import

    mean, n = float(values.mean()), len(values)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(values.std(ddof=1)) / sqrt(n)
    return Estimate(mean, mean - half, mean + half) if np.ptp(values) else Estimate(mean, nan, nan)


def share_estimate(shares: Floats, level: float) -> Estimate:
    """The mean p of shares in [0, 1] (n,) and Wilson's interval, k = p n and n divided by

        effect = v / (q (1 - q)),    q and v: mean and variance of the shares, one 0 and one 1

    which is 1 where all are 0 or 1, smaller where shares in between vary less than such would, and
    never 0: n equal shares may yet differ from others.
    """
    p, n = float(shares.mean()), len(shares)
    widened = np.concatenate([shares, [0.0, 1.0]])
    q = float(widened.mean())
    effect = float(widened.var()) / (q * (1 - q))
    low, high = wilson(p * n / effect, n / effect, level).tolist()
    return Estimate(p, min(low, p), max(high, p))  # rounding aside, at 0 and 1


def difference(a: Estimate, b: Estimate) -> Estimate:
    """a - b of independent groups, in [-1, 1], with Newcombe's (1998) hybrid score interval (his
    method 10), of the same level as theirs (low_a, high_a) and (low_b, high_b):

        low = a - b - sqrt((a - low_a)^2 + (high_b - b)^2)
        high = a - b + sqrt((high_a - a)^2 + (b - low_b)^2)

    For F1 it is the same construction from other intervals (MOVER; Zou and Donner, 2008).
    """
    value = a.value - b.value
    return Estimate(
        value,
        value - hypot(a.value - a.low, b.high - b.value),
        value + hypot(a.high - a.value, b.value - b.low),
    )


def combination(
    estimates: Sequence[Estimate], coefficients: Sequence[float], correlation: Floats
) -> Estimate:
    """sum c_i e_i of estimates that go together as ``correlation`` r (n, n) says, with the interval
    of Zou and Donner (2008, MOVER), which is ``difference`` for (1, -1) and no correlation:

        low = sum c_i e_i - sqrt(sum_ij r_ij d_i d_j)    d_i = c_i (e_i - low_i), or
                                                         c_i (high_i - e_i) where c_i < 0

    and high the other way round; but where r_ij says that two estimates move in the same direction
    while d_i and d_j are of opposite ones, d_i d_j is the mean of what both moving down and both
    moving up give: two estimates that are the same, and always move together, differ by nothing.
    """
    c = np.array(coefficients, dtype=np.float64)
    values, lows, highs = np.array(estimates, dtype=np.float64).T
    below, above = c * (values - lows), c * (highs - values)
    against = np.sign(np.outer(c, c)) * correlation < 0
    same = correlation > 0
    both_ways = np.where(
        same,
        np.outer(below, below) + np.outer(above, above),
        np.outer(below, above) + np.outer(above, below),
    )
    widths = []
    for d in (np.where(c > 0, below, above), np.where(c > 0, above, below)):
        products = np.where(against, both_ways / 2, np.outer(d, d))
        widths.append(sqrt(max(float((correlation * products).sum()), 0.0)))
    value = float(c @ values)
    return Estimate(value, value - widths[0], value + widths[1])


def effective_size(found: Estimate, level: float) -> float:
    """The number of items for which a proportion of this value has a Wilson interval of this width
    (of a proportion: its own): with h half the width, z as in ``quantile`` and u = z^2 / n,

        h^2 (1 + u)^2 = u p (1 - p) + u^2 / 4
    """
    h = (found.high - found.low) / 2
    a, b, c = h**2 - 0.25, 2 * h**2 - found.value * (1 - found.value), h**2
    u = (-b - sqrt(b**2 - 4 * a * c)) / (2 * a)
    return quantile(level) ** 2 / u


def correlation_of(influences: Sequence[Floats]) -> Floats:
    """Correlations of estimates by what each unit moves them; 0 of one that nothing moves, 1 with
    itself. Shape (n, n).

    Estimates of n units that all agree may yet differ in about 3 / n of others: as if ``DISSENT``
    further units had moved them independently, so that no difference is known for certain.
    """
    moved = np.stack(list(influences))
    covariance = moved @ moved.T
    spread = np.sqrt(np.diag(covariance))
    units = float((moved != 0).any(axis=0).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        found = covariance / np.outer(spread, spread) * units / (units + DISSENT)
    known: Floats = np.clip(np.nan_to_num(found), -1, 1)
    np.fill_diagonal(known, 1.0)
    return known
