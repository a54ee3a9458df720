r"""The measures of a classifier that are compared between groups, and their intervals.

Each counts, among some cells of a group's confusion matrix, the items of others:

    precision = tp / (tp + fp)           recall = tp / (tp + fn)      fpr = fp / (fp + tn)
    F1 = 2 tp / (2 tp + fp + fn)         fnr = fn / (tp + fn)
    accuracy = (tp + tn) / all           selection rate = (tp + fp) / all
    base rate = (tp + fn) / all, of the items, not of the classifier: it has no gap

F1 is 2 J / (1 + J) of the share J = tp / (tp + fp + fn), so all have the interval of a proportion.
``tests/extrinsic/test_gap_coverage.py`` simulates how often the intervals hold.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from extrinsic.intervals import Estimate, Floats, wilson

Counts = NDArray[np.int64]

TN, FP, FN, TP = range(4)


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
        """The measure of the cells (4,) of at least one item, with Wilson's interval of k / n. It
        holds given n, as k is then binomial. Where items come in clusters, ``effect`` is how many
        times the variance is that of as many single items, and k and n are divided by it.
        """
        k, n = int(cells[..., self.counted].sum()) / effect, int(self.support(cells)) / effect
        low, high = self._of(wilson(k, n, level), np.ones(2)).tolist()
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
    "base_rate": Measure((FN, TP), EVERY, "item"),
}


def constant_value(measure: str, cells: Counts) -> float:
    """The better F1 or accuracy of the two classifiers that give every item the same label, of the
    cells (4,) of at least one item; NaN of all other measures, on which one of the two is perfect
    or undefined.
    """
    if measure not in ("f1", "accuracy"):
        return nan
    negatives, positives = cells[TN] + cells[FP], cells[FN] + cells[TP]
    same = np.array([[0, negatives, 0, positives], [negatives, 0, positives, 0]])
    return float(np.nanmax(MEASURES[measure].values(same)))


def from_base_rates(measure: str, one: Counts, other: Counts, both: Counts) -> float:
    """Compute the measure of one side minus that of the other if each had the recall and false
    positive rate of ``both`` together: what their base rates alone would make. Cells (4,); NaN
    where there is no such rate.
    """
    with np.errstate(invalid="ignore"):
        rates = np.array([both[FP] / (both[TN] + both[FP]), both[TP] / (both[FN] + both[TP])])

        def expected(cells: Counts) -> float:
            of = np.array([cells[TN] + cells[FP], cells[FN] + cells[TP]])
            wrong, right = rates * of
            made = np.array([of[0] - wrong, wrong, of[1] - right, right])
            return float(MEASURES[measure].values(made))

        return round(expected(one) - expected(other), 12) + 0.0  # no rate of one class moves
