"""Mean difference: the direction between the means of two groups is projected out."""

from __future__ import annotations

from typing import ClassVar

from biasbridge.debias.directions import unit
from biasbridge.debias.examples import GROUPS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import choice
from biasbridge.files.eraser import Eraser


@choice
class MeanDifference(LinearEraser):
    """f(x) = x - (x . u) u, u = unit(mean(X) - mean(Y)) (Dev & Phillips, 2019, "linear projection",
    with two means).
    """

    name: ClassVar[str] = "mean_difference"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank 1."""
        direction = unit(examples.first.mean(axis=0) - examples.second.mean(axis=0))
        return Eraser.removing(direction[None])
