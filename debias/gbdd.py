"""General bias direction debiasing (DebIE)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from debias.linear import GROUPS, Examples, LinearEraser
from files import choice
from files.eraser import Eraser
from intrinsic.lookup import unit_rows


@choice
class Gbdd(LinearEraser):
    """f(x) = x - (x . b) b, b the first right singular vector of the unit differences x_i - y_j of
    every word of X and every word of Y, of unit length themselves (Lauscher et al., 2020).
    """

    name: ClassVar[str] = "gbdd"
    asks: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm 1, rank 1."""
        first, second = unit_rows(found.first), unit_rows(found.second)
        differences = (first[:, None] - second[None]).reshape(-1, first.shape[1])
        differences = unit_rows(differences[differences.any(axis=1)])
        return Eraser.removing(np.linalg.eigh(differences.T @ differences)[1].T[-1:])
