"""The measures of a resolver that are compared between groups of documents; each in [0, 1], larger
is better, of sums of tallies (..., WIDTH).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from extrinsic.coreference.challenge.tallies import (
    DOCUMENTS,
    KEPT,
    KEPT_OTHERS,
    MENTIONS,
    N_SCORED,
    NAMES,
    OTHERS,
    RESOLVED,
    RIGHT,
    Floats,
)
from extrinsic.coreference.scorer import COUNTED, METRICS, rates
from extrinsic.measures import FN, FP, TP

RECALL, PRECISION, F1 = range(3)


class Measure(NamedTuple):
    """``of`` sums of tallies; ``support`` is how many ``items`` it rests on, and where that is 0 it
    is undefined.
    """

    of: Callable[[Floats], Floats]
    support: Callable[[Floats], Floats]
    items: str

    def values(self, tallies: Floats) -> Floats:
        """The measure, shape (...,); NaN where it is undefined."""
        undefined = self.support(tallies) == 0
        return np.where(undefined, np.nan, self.of(tallies))

    def first(self, groups: Floats) -> Floats:
        """The measure of the first of the groups, (..., groups, WIDTH) to (...,)."""
        return self.values(groups[..., 0, :])

    def difference(self, groups: Floats) -> Floats:
        """That of the first minus that of the second."""
        values = self.values(groups)
        return np.subtract(values[..., 0], values[..., 1])

    def quotient(self, groups: Floats) -> Floats:
        """That of the second over that of the first; NaN where that is 0."""
        values = self.values(groups)
        over, under = values[..., 1], values[..., 0]
        return np.divide(over, under, out=np.full_like(over, np.nan), where=under > 0)


def _conll(place: int) -> Callable[[Floats], Floats]:
    def of(tallies: Floats) -> Floats:
        counted = tallies[..., :N_SCORED].reshape(*tallies.shape[:-1], len(COUNTED), 4)
        found: Floats = rates(counted)[..., METRICS.index("conll"), place]
        return found

    return of


def _share(over: int, under: int) -> Callable[[Floats], Floats]:
    return lambda tallies: _ratio(tallies[..., over], tallies[..., under])


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under != 0)


def _names(*cells: int) -> Callable[[Floats], Floats]:
    places = [NAMES.start + cell for cell in cells]
    return lambda tallies: np.sum(tallies[..., places], axis=-1)


def _of_names(weight: int, *errors: int) -> Callable[[Floats], Floats]:
    def of(tallies: Floats) -> Floats:
        found = weight * _names(TP)(tallies)
        return _ratio(found, found + _names(*errors)(tallies))

    return of


def _column(place: int) -> Callable[[Floats], Floats]:
    return lambda tallies: tallies[..., place]


CASES = "cases"
# The mean of MUC, B-cubed and CEAF-e, as the authors of WinoBias and of paper 001 have it
CLUSTERS = {
    "precision": Measure(_conll(PRECISION), _column(RESOLVED), f"{CASES} with a link"),
    "recall": Measure(_conll(RECALL), _column(DOCUMENTS), CASES),
    "f1": Measure(_conll(F1), _column(DOCUMENTS), CASES),
}
# Of names said to be what the pronoun refers to, as the scorer of GAP has it
NAMED = {
    "precision": Measure(_of_names(1, FP), _names(FP, TP), "names linked"),
    "recall": Measure(_of_names(1, FN), _names(FN, TP), "names referred to"),
    "f1": Measure(_of_names(2, FP, FN), _names(FP, FN, TP), "names linked or referred to"),
}
ACCURACY = {"accuracy": Measure(_share(RIGHT, DOCUMENTS), _column(DOCUMENTS), CASES)}
# Values of each group; no gap is made of them
CANDIDATES = {
    "mention_recall": Measure(_share(KEPT, MENTIONS), _column(MENTIONS), "mentions"),
    "other_recall": Measure(_share(KEPT_OTHERS, OTHERS), _column(OTHERS), "other names"),
}
