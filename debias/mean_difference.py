"""Mean difference: the direction between the means of two groups is projected out."""

from __future__ import annotations

from typing import ClassVar

from debias.directions import unit
from debias.examples import GROUPS, Examples
from debias.linear import LinearEraser
from files import choice
from files.eraser import Eraser


@choice
class MeanDifference(LinearEraser):
    """f(x) = x - (x . u) u, u = unit(mean(X) - mean(Y)) (Dev & Phillips, 2019, "linear projection",
    with two means).
    """

    name: ClassVar[str] = "mean_difference"
    asks: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm 1, rank 1."""
        direction = unit(found.first.mean(axis=0) - found.second.mean(axis=0))
        return Eraser.removing(direction[None])
