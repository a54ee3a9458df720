r"""The measures of a classifier that are compared between groups, and their intervals.

Each counts, among some cells of a group's confusion matrix, the items of others:

    precision = tp / (tp + fp)           recall = tp / (tp + fn)      fpr = fp / (fp + tn)
    F1 = 2 tp / (2 tp + fp + fn)         fnr = fn / (tp + fn)
    accuracy = (tp + tn) / all           selection rate = (tp + fp) / all

F1 is 2 J / (1 + J) of the share J = tp / (tp + fp + fn), so all have the interval of a proportion.
``tests/extrinsic/test_gap_coverage.py`` simulates how often the intervals hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

TN, FP, FN, TP = range(4)


class Estimate(NamedTuple):
    """A number and its interval; all NaN where it is undefined."""

    value: float
    low: float
    high: float


UNDEFINED = Estimate(nan, nan, nan)


class Measure(NamedTuple):
    """weight * k / (n + (weight - 1) * k), in [0, 1], of the k items of the cells ``counted`` among
    the n of the cells ``among``; one of the n is an ``item``.
    """

    counted: tuple[int, ...]
    among: tuple[int, ...]
    item: str
    weight: int = 1
    larger_is_better: bool = True

    def support(self, cells: Counts) -> Counts:
        """n of cells (..., 4) in the order tn, fp, fn, tp; where it is 0 the measure is
        undefined.
        """
        n: Counts = cells[..., self.among].sum(axis=-1)
        return n

    def values(self, cells: Counts) -> Floats:
        """The measure of cells (..., 4); NaN where it is undefined."""
        with np.errstate(invalid="ignore"):
            return self._of(cells[..., self.counted].sum(axis=-1), self.support(cells))

    def estimate(self, cells: Counts, level: float, effect: float = 1) -> Estimate:
        """The measure of the cells (4,) of at least one item, with Wilson's (1927) score interval:
        all p with |k / n - p| <= z sqrt(p (1 - p) / n), z the normal quantile of (1 + level) / 2.

            (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

        It holds given n, as k is then binomial, and never has zero width. Where items come in
        clusters, ``effect`` is how many times the variance is that of as many single items, and k
        and n are divided by it.
        """
        k, n = int(cells[..., self.counted].sum()) / effect, int(self.support(cells)) / effect
        z = quantile(level)
        half = z * np.sqrt(k * (n - k) / n + z**2 / 4)
        bounds = np.clip((k + z**2 / 2 + np.array([-half, half])) / (n + z**2), 0, 1)
        low, high = self._of(bounds, np.ones(2)).tolist()
        value = float(self.values(cells))
        return Estimate(value, min(low, value), max(value, high))  # rounding aside, at 0 and 1

    def influences(self, cells: Counts) -> Floats:
        """How far one more item of each cell moves the measure of the cells (4,), to first order:

        (1[counted] - J 1[among]) / n * dF / dJ,    J = k / n,    F = w J / (1 + (w - 1) J)
        """
        n = float(self.support(cells))
        share = float(cells[..., self.counted].sum()) / n
        moved = np.zeros(4)
        moved[list(self.among)] -= share
        moved[list(self.counted)] += 1
        slope = self.weight / (1 + (self.weight - 1) * share) ** 2
        return moved / n * slope

    def _of(self, k: Counts | Floats, n: Counts | Floats) -> Floats:
        return self.weight * k / (n + (self.weight - 1) * k)


EVERY = (TN, FP, FN, TP)
MEASURES = {
    "precision": Measure((TP,), (FP, TP), "predicted positive"),
    "recall": Measure((TP,), (FN, TP), "actual positive"),
    "f1": Measure((TP,), (FP, FN, TP), "actual or predicted positive", weight=2),
    "fpr": Measure((FP,), (TN, FP), "actual negative", larger_is_better=False),
    "fnr": Measure((FN,), (FN, TP), "actual positive", larger_is_better=False),
    "accuracy": Measure((TN, TP), EVERY, "item"),
    "selection_rate": Measure((FP, TP), EVERY, "item"),
}


def quantile(level: float) -> float:
    """z with P(|Z| <= z) = level, Z standard normal."""
    return NormalDist().inv_cdf((1 + level) / 2)


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
