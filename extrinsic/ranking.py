r"""Areas under the ROC curve by group, and their intervals (Borkan et al., 2019).

    AUC of a group       its positives against its negatives
    BPSN AUC             positives of the background against the group's negatives
    BNSP AUC             the group's positives against negatives of the background

The background is all other items. A low BPSN AUC means that the group's negatives score like other
positives (false positives), a low BNSP AUC that its positives score like other negatives (false
negatives), at any threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.stats.intervals import Estimate, quantile

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

STEPS = 60


class Ranking(NamedTuple):
    """Source of the ranked positives and negatives: the group or its background."""

    own_positives: bool = True
    own_negatives: bool = True

    larger_is_better: bool = True


RANKINGS = {
    "auc": Ranking(),
    "bpsn_auc": Ranking(own_positives=False),
    "bnsp_auc": Ranking(own_negatives=False),
}
# These compare a group with all other items already
BACKGROUND_RANKINGS = tuple(name for name, ranking in RANKINGS.items() if not all(ranking[:2]))


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
        for _ in range(STEPS):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if is_outside(middle) else (outside, middle)
        bounds.append(inside)
    return Estimate(auc, *bounds)
