"""Direction of base pairs, such as that of gender: (she, he), (woman, man), ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import unit_rows

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Direction = Literal["pca", "mean", "first"]
DIRECTIONS = get_args(Direction)
DirectionKind = Annotated[Direction, doc("how the direction is computed from the base pairs")]
NO_LENGTH = 1e-12
SPANS_NOTHING = (
    "the words of a base pair have the same vector, or the pairs cancel, so they span no direction;"
    " use other pairs"
)


def pair_differences(pairs: ArrayLike) -> tuple[Floats, Floats]:
    """Return the vector from the second to the first word of every pair, and its length.

    Shapes: pairs (n, 2, dim) -> (n, dim), (n,). Raises ``InputError`` for words with one vector.
    """
    rows = _pairs(pairs)
    differences = rows[:, 0] - rows[:, 1]
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", differences, differences))
    if not lengths.min() > NO_LENGTH:
        raise InputError(SPANS_NOTHING)
    return differences, lengths


def direction(pairs: ArrayLike, kind: str = "pca", *, unit: bool = True) -> Floats:
    r"""Compute the direction of base pairs, from the second words to the first.

    * ``pca``: the first principal component of the pair-centred vectors (Bolukbasi et al., 2016),
      the rows a - m and b - m of every pair, m = (a + b) / 2; the first words lie on its positive
      side on average.
    * ``mean``: unit(mean over pairs of a - b).
    * ``first``: unit(a - b) of the first pair.

    Parameters
    ----------
    pairs : array of shape (n, 2, dim)
        Vectors of the base pairs.
    kind : {"pca", "mean", "first"}, default="pca"
    unit : bool, default=True
        Scale a and b to unit length first.

    Returns
    -------
    array of shape (dim,)
        A unit vector.

    Raises
    ------
    InputError
        A zero row, or pairs whose differences are zero or cancel.

    Examples
    --------
    >>> direction([[[0, 2], [3, 0]]], "first").round(3).tolist()
    [-0.707, 0.707]
    """
    if kind not in DIRECTIONS:
        raise InputError(f"unknown direction {kind!r}; choose from {', '.join(DIRECTIONS)}")
    rows = _pairs(pairs)
    if unit:
        rows = unit_rows(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)
    differences = rows[:, 0] - rows[:, 1]
    if kind == "first":
        return _unit(differences[0])
    mean: Floats = differences.mean(axis=0)
    if kind == "mean":
        return _unit(mean)
    # The centred rows are (a - b) / 2 and (b - a) / 2: their first component is that of a - b
    first: Floats = np.linalg.svd(differences, full_matrices=False)[2][0]
    if not np.abs(differences).max() > NO_LENGTH:
        raise InputError(SPANS_NOTHING)
    return first if first @ mean >= 0 else -first


def _pairs(pairs: ArrayLike) -> Floats:
    rows = np.asarray(pairs, dtype=np.float64)
    if rows.ndim != 3 or rows.shape[1] != 2 or not len(rows):
        raise InputError(f"expected base pairs of shape (n, 2, dim), not {rows.shape}")
    return rows


def _unit(row: Floats) -> Floats:
    length = float(np.linalg.norm(row))
    if not length > NO_LENGTH:
        raise InputError(SPANS_NOTHING)
    return row / length
