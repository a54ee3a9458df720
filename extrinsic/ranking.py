r"""Areas under the ROC curve by group, and their intervals (Borkan et al., 2019).

    AUC of a group       its positives against its negatives
    BPSN AUC             positives of the background against the group's negatives
    BNSP AUC             the group's positives against negatives of the background

the background being all other items. A low BPSN AUC means that the group's harmless items score
like others' harmful ones (false positives), a low BNSP AUC that its harmful items score like
others' harmless ones (false negatives), whatever the threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from extrinsic.intervals import Estimate, Floats, quantile

STEPS = 60


class Ranking(NamedTuple):
    """Whose positives are ranked against whose negatives: the group's own or the background's."""

    own_positives: bool = True
    own_negatives: bool = True

    larger_is_better: bool = True


RANKINGS = {
    "auc": Ranking(),
    "bpsn_auc": Ranking(own_positives=False),
    "bnsp_auc": Ranking(own_negatives=False),
}
# What compares a group with all others already
BACKGROUND = tuple(name for name, each in RANKINGS.items() if not all(each[:2]))


def placements(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """For each positive the share of the negatives below it, for each negative that of the
    positives above it, ties half (DeLong et al., 1988). The mean of either is the AUC.
    """
    return _below(positives, negatives), 1 - _below(negatives, positives)


def _below(values: Floats, others: Floats) -> Floats:
    ranked = np.sort(others)
    left, right = (np.searchsorted(ranked, values, side) for side in ("left", "right"))
    shares: Floats = (left + right) / (2 * len(others))
    return shares


def area(value: float, n_positives: int, n_negatives: int, level: float, effect: float) -> Estimate:
    """An AUC with its score interval: all A' with |A - A'| <= z sqrt(effect V(A')), V by Hanley and
    McNeil (1982), as Newcombe (2006, Statistics in Medicine 25, his method 5) has it but for his
    equal sizes. Never of zero width. ``effect`` as in ``Measure.estimate``.

        V(A) = A (1 - A) (1 + (m - 1) (1 - A) / (2 - A) + (n - 1) A / (1 + A)) / (m n)

    of m positives and n negatives.
    """
    z = quantile(level)

    def outside(other: float) -> bool:
        spread = 1 + (n_positives - 1) * (1 - other) / (2 - other)
        spread += (n_negatives - 1) * other / (1 + other)
        variance = effect * other * (1 - other) * spread / (n_positives * n_negatives)
        return (value - other) ** 2 > z**2 * variance

    bounds = []
    for end in (0.0, 1.0):
        out, within = end, value
        for _ in range(STEPS):
            middle = (out + within) / 2
            out, within = (middle, within) if outside(middle) else (out, middle)
        bounds.append(within)
    return Estimate(value, *bounds)
