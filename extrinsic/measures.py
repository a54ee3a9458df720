r"""Measures of a classifier that are compared between groups, and their intervals.

Each is a ratio of counts in a group's confusion matrix:

    precision = tp / (tp + fp)           recall = tp / (tp + fn)      fpr = fp / (fp + tn)
    F1 = 2 tp / (2 tp + fp + fn)         fnr = fn / (tp + fn)
    accuracy = (tp + tn) / all           selection rate = (tp + fp) / all
    base rate = (tp + fn) / all, a property of the items: no gap is computed

F1 is 2 J / (1 + J) of the share J = tp / (tp + fp + fn), so all have the interval of a proportion.
``tests/extrinsic/test_coverage.py`` simulates the coverage of the intervals.

Areas under the ROC curve (Borkan et al., 2019) rank items by their scores:

    AUC of a group       its positives against its negatives
    BPSN AUC             positives of the background against the group's negatives
    BNSP AUC             the group's positives against negatives of the background

The background is all other items. A low BPSN AUC means that the group's negatives score like other
positives (false positives), a low BNSP AUC that its positives score like other negatives (false
negatives), at any threshold.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.stats.intervals import Estimate, quantile
from biasbridge.stats.proportions import wilson

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


Counts = NDArray[np.int64]

TN, FP, FN, TP = range(4)
_ALL_CELLS = (TN, FP, FN, TP)
_AUC_BISECTIONS = 60


class Measure(NamedTuple):
    """The share k / n of the items in the cells ``among`` that are in the cells ``counted``, in
    [0, 1]; with a ``weight`` w it is w k / (n + (w - 1) k), which is F1 for w = 2.

    ``item`` is what a reason calls one of the n. Cells (..., 4) are tn, fp, fn, tp.
    """

    counted: tuple[int, ...]
    among: tuple[int, ...]
    item: str
    weight: int = 1

    def support(self, cells: Counts) -> Counts:
        """Return n, the denominator, of cells (..., 4); at 0 the measure is undefined."""
        n: Counts = cells[..., self.among].sum(axis=-1)
        return n

    def values(self, cells: Counts) -> Floats:
        """Compute the measure of cells (..., 4); NaN where it is undefined."""
        with np.errstate(invalid="ignore"):
            return self._ratio(cells[..., self.counted].sum(axis=-1), self.support(cells))

    def estimate(self, cells: Counts, level: float, effect: float = 1) -> Estimate:
        """Compute the measure with Wilson's interval of k / n, given n.

        Parameters
        ----------
        cells : array of shape (4,)
            Counts of tn, fp, fn, tp, with n > 0.
        level : float
            Confidence level, in (0, 1).
        effect : float, default=1
            Design effect of clustered items: the variance relative to independent items. k and n
            are divided by it.

        Returns
        -------
        Estimate
            Value and interval, in [0, 1].
        """
        k, n = int(cells[..., self.counted].sum()) / effect, int(self.support(cells)) / effect
        low, high = self._ratio(wilson(k, n, level), np.ones(2)).tolist()
        value = float(self.values(cells))
        return Estimate(value, min(low, value), max(high, value))  # rounding aside, at 0 and 1

    def influences(self, cells: Counts) -> Floats:
        """Compute the first-order change of the measure by one more item in each cell, (4,):

        (1[counted] - J 1[among]) / n * dF / dJ,    J = k / n,    F = w J / (1 + (w - 1) J)
        """
        n = float(self.support(cells))
        share = float(cells[..., self.counted].sum()) / n
        changes = np.zeros(4)
        changes[list(self.among)] -= share
        changes[list(self.counted)] += 1
        slope = self.weight / (1 + (self.weight - 1) * share) ** 2
        return changes / n * slope

    def _ratio(self, k: Counts | Floats, n: Counts | Floats) -> Floats:
        return self.weight * k / (n + (self.weight - 1) * k)


# Title, meaning and sign of each: MEASURE_FACTS
MEASURES = {
    "precision": Measure((TP,), (FP, TP), "predicted positive"),
    "recall": Measure((TP,), (FN, TP), "actual positive"),
    "f1": Measure((TP,), (FP, FN, TP), "actual or predicted positive", weight=2),
    "fpr": Measure((FP,), (TN, FP), "actual negative"),
    "fnr": Measure((FN,), (FN, TP), "actual positive"),
    "accuracy": Measure((TN, TP), _ALL_CELLS, "item"),
    "selection_rate": Measure((FP, TP), _ALL_CELLS, "item"),
    "base_rate": Measure((FN, TP), _ALL_CELLS, "item"),
}


def majority_baseline(measure: str, cells: Counts) -> float:
    """Compute the better F1 or accuracy of the two classifiers that label all items alike, from
    cells (4,); NaN for other measures, where a constant classifier is perfect or undefined.
    """
    if measure not in ("f1", "accuracy"):
        return nan
    negatives, positives = cells[TN] + cells[FP], cells[FN] + cells[TP]
    constant_cells = np.array([[0, negatives, 0, positives], [negatives, 0, positives, 0]])
    return float(np.nanmax(MEASURES[measure].values(constant_cells)))


def expected_from_base_rates(measure: str, first: Counts, second: Counts, union: Counts) -> float:
    """Compute the gap that base rates alone would cause.

    Parameters
    ----------
    measure : str
        Name in ``MEASURES``.
    first, second, union : array of shape (4,)
        Cells of the two sides and of their items together.

    Returns
    -------
    float
        Measure of the first minus the second, in [-1, 1], if each had the recall and false positive
        rate of the union; NaN where such a rate is undefined.
    """
    with np.errstate(invalid="ignore"):
        fpr, recall = union[FP] / (union[TN] + union[FP]), union[TP] / (union[FN] + union[TP])

        def expected_value(cells: Counts) -> float:
            negatives, positives = cells[TN] + cells[FP], cells[FN] + cells[TP]
            fp, tp = fpr * negatives, recall * positives
            expected_cells = np.array([negatives - fp, fp, positives - tp, tp])
            return float(MEASURES[measure].values(expected_cells))

        # Rounded: rates of a single class have a gap of exactly 0
        return round(expected_value(first) - expected_value(second), 12) + 0.0


class Ranking(NamedTuple):
    """Source of the ranked positives and negatives: the group or its background."""

    own_positives: bool = True
    own_negatives: bool = True


RANKINGS = {
    "auc": Ranking(),
    "bpsn_auc": Ranking(own_positives=False),
    "bnsp_auc": Ranking(own_negatives=False),
}
ECE = "ece"  # expected calibration error (``biasbridge.extrinsic.calibration``)
SCORED = (*RANKINGS, ECE)  # need scores
# These compare a group with all other items already
BACKGROUND_RANKINGS = tuple(name for name, ranking in RANKINGS.items() if not all(ranking))


def placements(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Compute the share of negatives below each positive, and of positives above each negative,
    ties half (DeLong et al., 1988). The mean of either is the AUC.
    """
    return _shares_below(positives, negatives), 1 - _shares_below(negatives, positives)


def _shares_below(values: Floats, reference: Floats) -> Floats:
    ranked = np.sort(reference)
    below, not_above = (np.searchsorted(ranked, values, side) for side in ("left", "right"))
    shares: Floats = (below + not_above) / (2 * len(reference))
    return shares


def auc_estimate(
    auc: float, n_positives: int, n_negatives: int, level: float, effect: float
) -> Estimate:
    """Compute the score interval of an AUC (Newcombe, 2006, Statistics in Medicine 25, his method 5
    without his equal sizes).

    All A' with |A - A'| <= z sqrt(effect V(A')), with the variance of Hanley and McNeil (1982)

        V(A) = A (1 - A) (1 + (m - 1) (1 - A) / (2 - A) + (n - 1) A / (1 + A)) / (m n)

    of m positives and n negatives.

    Parameters
    ----------
    auc : float
        In [0, 1].
    n_positives, n_negatives : int
        At least 1.
    level : float
        Confidence level, in (0, 1).
    effect : float
        Design effect, as in ``Measure.estimate``.

    Returns
    -------
    Estimate
        In [0, 1], never of zero width.
    """
    z = quantile(level)

    def is_outside(candidate: float) -> bool:
        factor = 1 + (n_positives - 1) * (1 - candidate) / (2 - candidate)
        factor += (n_negatives - 1) * candidate / (1 + candidate)
        variance = effect * candidate * (1 - candidate) * factor / (n_positives * n_negatives)
        return (auc - candidate) ** 2 > z**2 * variance

    bounds = []
    for end in (0.0, 1.0):
        outside, inside = end, auc
        for _ in range(_AUC_BISECTIONS):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if is_outside(middle) else (outside, middle)
        bounds.append(inside)
    return Estimate(auc, *bounds)
