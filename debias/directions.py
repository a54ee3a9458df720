"""Directions in which groups and pairs of vectors differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from files import InputError
from intrinsic.directions import NO_LENGTH
from intrinsic.lookup import unit_rows

Floats = NDArray[np.float64]


def unit_differences(pairs: Floats) -> Floats:
    """First minus second unit vector of each pair: (m, 2, dim) -> (m, dim)."""
    rows = unit_rows(pairs.reshape(-1, pairs.shape[-1])).reshape(pairs.shape)
    return rows[:, 0] - rows[:, 1]


def main_axes(rows: Floats, components: int) -> tuple[Floats, Floats]:
    """The first principal axes of centred rows (n, dim), and the share of their variance that each
    of all axes explains: (components, dim), (min(n, dim),). Raises ``InputError`` where the rows
    span fewer dimensions.
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    spanned = int((sizes > NO_LENGTH).sum())
    if components > spanned:
        raise InputError(
            f"components={components}: the words or texts span {spanned} dimensions; give fewer"
            " components, or more words"
        )
    return axes[:components], sizes**2 / (sizes**2).sum()


def unit(row: Floats) -> Floats:
    """The direction of a row. Raises ``InputError`` where it is zero."""
    length = float(np.linalg.norm(row))
    if not length > 0:
        raise InputError("the two groups have the same mean, so nothing sets them apart")
    return row / length
