"""General bias direction debiasing (DebIE)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from biasbridge.debias.examples import GROUPS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import InputError, choice
from biasbridge.files.eraser import Eraser
from biasbridge.intrinsic.lookup import unit_rows


@choice
class Gbdd(LinearEraser):
    """f(x) = x - (x . b) b, b the first right singular vector of the unit differences x_i - y_j of
    every word of X and every word of Y, of unit length themselves (Lauscher et al., 2020).
    """

    name: ClassVar[str] = "gbdd"
    family: ClassVar[str] = "pair subspace"
    needed_roles: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank 1. Raises ``InputError`` if all vectors are equal."""
        from scipy.spatial.distance import cdist  # slow to import

        first, second = unit_rows(examples.first), unit_rows(examples.second)
        squares = cdist(first, second, "sqeuclidean")
        if not squares.any():
            raise InputError("the two groups have the same vectors; no direction separates them")
        # Sum of w (x - y)(x - y)', w = 1 / |x - y|^2, without listing all differences
        weights = np.divide(1, squares, out=np.zeros_like(squares), where=squares > 0)
        cross = first.T @ weights @ second
        products = (first.T * weights.sum(axis=1)) @ first - cross
        products += (second.T * weights.sum(axis=0)) @ second - cross.T
        return Eraser.removing(np.linalg.eigh(products)[1].T[-1:])
