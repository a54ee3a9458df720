"""Bias alignment model (DebIE): the average of the vectors and their mirror across the groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from debias.examples import PAIRS, Examples
from debias.linear import LinearEraser
from files import choice
from files.eraser import Eraser
from intrinsic.lookup import unit_rows


@choice
class Bam(LinearEraser):
    """f(x) = (x + x M) / 2, M the orthogonal map that brings the first words of the pairs nearest
    to the second: M = U V' of the singular value decomposition A'B = U S V' of their unit vectors A
    and B (Lauscher et al., 2020; their code has V' in the place of U V').
    """

    name: ClassVar[str] = "bam"
    asks: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm at most 1; it changes nearly all dimensions."""
        first, second = (unit_rows(found.pairs[:, side]) for side in (0, 1))
        u, _, vt = np.linalg.svd(first.T @ second)
        dim = len(u)
        return Eraser((np.eye(dim) - u @ vt) / 2, np.eye(dim), np.zeros(dim), np.zeros(dim))
