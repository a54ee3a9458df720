r"""The measures of a classifier that are compared between groups, and their intervals.

Each counts, among some cells of a group's confusion matrix, the items of one cell (tp or fp):

    precision = tp / (tp + fp)                       recall = tp / (tp + fn)
    F1        = 2 tp / (2 tp + fp + fn)              fpr    = fp / (fp + tn)

F1 is 2 J / (1 + J) of the share J = tp / (tp + fp + fn), so all four have the interval of a
proportion. ``tests/extrinsic/test_gap_coverage.py`` simulates how often the intervals hold.
"""

from __future__ import annotations

from math import hypot, nan
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
    """weight * k / (n + (weight - 1) * k), in [0, 1], of the k items of the cell ``counted`` among
    the n of the cells ``among``; one of the n is an ``item``.
    """

    counted: int
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
            return self._of(cells[..., self.counted], self.support(cells))

    def estimate(self, cells: Counts, level: float) -> Estimate:
        """The measure of the cells (4,) of at least one item, with Wilson's (1927) score interval:
        all p with |k / n - p| <= z sqrt(p (1 - p) / n), z the normal quantile of (1 + level) / 2.

            (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

        It holds given n, as k is then binomial, and never has zero width.
        """
        k, n, z = int(cells[self.counted]), int(self.support(cells)), quantile(level)
        half = z * np.sqrt(k * (n - k) / n + z**2 / 4)
        bounds = np.clip((k + z**2 / 2 + np.array([-half, half])) / (n + z**2), 0, 1)
        low, high = self._of(bounds, np.ones(2)).tolist()
        value = float(self.values(cells))
        return Estimate(value, min(low, value), max(value, high))  # rounding aside, at 0 and 1

    def _of(self, k: Counts | Floats, n: Counts | Floats) -> Floats:
        return self.weight * k / (n + (self.weight - 1) * k)


MEASURES = {
    "precision": Measure(TP, (FP, TP), "predicted positive"),
    "recall": Measure(TP, (FN, TP), "actual positive"),
    "f1": Measure(TP, (FP, FN, TP), "actual or predicted positive", weight=2),
    "fpr": Measure(FP, (TN, FP), "actual negative", larger_is_better=False),
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
