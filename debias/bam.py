"""Bias alignment model (DebIE): the mean of each vector and its image in the other group."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.debias.examples import PAIRS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import choice
from biasbridge.files.eraser import Eraser
from biasbridge.intrinsic.lookup import unit_rows

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

NOTHING = 1e-10  # singular values below this share of the largest count as 0


@choice
class Bam(LinearEraser):
    """f(x) = (x + x M) / 2, M the orthogonal map that brings the first words of the pairs nearest
    to the second: M = U V' of the singular value decomposition A'B = U S V' of their unit vectors A
    and B (Lauscher et al., 2020; their code has V' in place of U V'). Dimensions that too few pairs
    leave undetermined are rotated as little as possible.
    """

    name: ClassVar[str] = "bam"
    needed_roles: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm at most 1; it changes nearly all dimensions."""
        first, second = (unit_rows(examples.pairs[:, side]) for side in (0, 1))
        change = np.eye(first.shape[1]) - nearest_map(first.T @ second)
        zero = np.zeros(len(change))
        return Eraser(change / 2, np.eye(len(change)), zero, zero)


def nearest_map(products: Floats) -> Floats:
    """Compute the orthogonal M = U V' of a matrix U S V', (dim, dim); if singular values of 0 leave
    several, the one nearest the identity.
    """
    u, sizes, vt = np.linalg.svd(products)
    rank = int((sizes > sizes[0] * NOTHING).sum())
    null_u, _, null_vt = np.linalg.svd(u[:, rank:].T @ vt[rank:].T)
    return np.asarray(u[:, :rank] @ vt[:rank] + u[:, rank:] @ null_u @ null_vt @ vt[rank:])
