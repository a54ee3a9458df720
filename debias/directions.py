"""Directions of difference between groups and pairs of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasbridge.files import InputError
from biasbridge.intrinsic.directions import NO_LENGTH
from biasbridge.intrinsic.lookup import unit_rows

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


def unit_differences(pairs: Floats) -> Floats:
    """Subtract the second from the first unit vector of each pair: (m, 2, dim) -> (m, dim)."""
    rows = unit_rows(pairs.reshape(-1, pairs.shape[-1])).reshape(pairs.shape)
    return rows[:, 0] - rows[:, 1]


def main_axes(rows: Floats, components: int) -> tuple[Floats, Floats]:
    """Compute the first principal axes of centred rows (n, dim), and the shares of variance that
    all axes explain: (components, dim), (min(n, dim),). Raises ``InputError`` if the rows span
    fewer dimensions.
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    rank = int((sizes > NO_LENGTH).sum())
    if components > rank:
        raise InputError(
            f"components={components}: the words or texts span {rank} dimensions; give fewer"
            " components, or more words"
        )
    return axes[:components], sizes**2 / (sizes**2).sum()


def unit(row: Floats) -> Floats:
    """Scale a row to length 1. Raises ``InputError`` if it is zero."""
    length = float(np.linalg.norm(row))
    if not length > 0:
        raise InputError("the two groups have the same mean; no direction separates them")
    return row / length
