"""Bias alignment model (DebIE): the average of the vectors and their mirror across the groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from debias.examples import PAIRS, Examples, Floats
from debias.linear import LinearEraser
from files import choice
from files.eraser import Eraser
from intrinsic.lookup import unit_rows

NOTHING = 1e-10  # of the largest singular value; below it a direction is left open


@choice
class Bam(LinearEraser):
    """f(x) = (x + x M) / 2, M the orthogonal map that brings the first words of the pairs nearest
    to the second: M = U V' of the singular value decomposition A'B = U S V' of their unit vectors A
    and B (Lauscher et al., 2020; their code has V' in the place of U V'). What fewer pairs than
    dimensions leave open is turned as little as possible.
    """

    name: ClassVar[str] = "bam"
    asks: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm at most 1; it changes nearly all dimensions."""
        first, second = (unit_rows(found.pairs[:, side]) for side in (0, 1))
        change = np.eye(first.shape[1]) - nearest_map(first.T @ second)
        none = np.zeros(len(change))
        return Eraser(change / 2, np.eye(len(change)), none, none)


def nearest_map(products: Floats) -> Floats:
    """The orthogonal M = U V' of a matrix U S V', (dim, dim); of all that its singular values of 0
    leave open the one nearest the identity.
    """
    u, sizes, vt = np.linalg.svd(products)
    rank = int((sizes > sizes[0] * NOTHING).sum())
    rest, _, turned = np.linalg.svd(u[:, rank:].T @ vt[rank:].T)
    return np.asarray(u[:, :rank] @ vt[:rank] + u[:, rank:] @ rest @ turned @ vt[rank:])
