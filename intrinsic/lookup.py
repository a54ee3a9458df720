"""Words to unit vectors, with an account of the words that were not there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError
from intrinsic.wordsets import WordSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gensim.models import KeyedVectors

Floats = NDArray[np.float64]

CASES = ("exact", "lower")
NAMED_WORDS = 5


class Found(NamedTuple):
    """What a look-up gave: the vocabulary's words, the words it lacks, and the unit vectors (words, dim) of the former."""

    words: tuple[str, ...]
    lost: tuple[str, ...]
    matrix: Floats


def find(vectors: KeyedVectors, words: Iterable[str], *, case: str = "exact") -> Found:
    """The unit vectors of ``words`` in float64, in the order given; words outside the vocabulary are listed as lost.

    ``case="lower"`` tries the exact form first and then the lower-cased one. Words that lead to the same entry count once.
    Raises ``InputError`` for another ``case`` and for a word whose vector is zero or not finite, for it has no direction.
    """
    if case not in CASES:
        raise InputError(f"unknown case {case!r}; choose from {', '.join(CASES)}")
    index = vectors.key_to_index
    found: dict[str, int] = {}
    lost: dict[str, str] = {}
    for word in words:
        forms = (word, word.lower()) if case == "lower" else (word,)
        entry = next((form for form in forms if form in index), None)
        if entry is None:
            lost.setdefault(forms[-1], word)
        else:
            found[entry] = index[entry]
    rows = np.asarray(vectors.vectors[list(found.values())], dtype=np.float64)
    return Found(tuple(found), tuple(lost.values()), unit_rows(rows, tuple(found)))


def unit_rows(rows: ArrayLike, names: tuple[str, ...] = ()) -> Floats:
    """The rows of a matrix (n, dim) scaled to unit length, in float64.

    Raises ``InputError`` for a row that is zero or not finite, called by its entry in ``names`` or else by its number.
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(f"expected a matrix with one vector a row, not an array of shape {matrix.shape}")
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    bad = np.flatnonzero(~((norms > 0) & np.isfinite(norms)))
    if bad.size:
        what = "zero" if norms[bad[0]] == 0 else "not finite"
        name = repr(names[bad[0]]) if names else f"row {bad[0]}"
        raise InputError(f"the vector of {name} is {what}, so it has no direction; remove the word or repair the vectors")
    return matrix / norms[:, None]


def shortage(wordset: WordSet, found: Found, min_found: float) -> str:
    """Why too few words of a set were found to go on, or an empty string when there are enough.

    Enough is at least the share ``min_found`` of the set's different words, and at least one.
    """
    total = len(found.words) + len(found.lost)
    needed = max(1, math.ceil(min_found * total - 1e-9))  # 0.55 * 100 is 55.00000000000001
    if len(found.words) >= needed:
        return ""
    missing = ", ".join(found.lost[:NAMED_WORDS]) + (", ..." if len(found.lost) > NAMED_WORDS else "")
    return f"word set {wordset.name!r} has {len(found.words)} of {total} words (needs at least {needed}): missing {missing}"


def losses(found: Iterable[Found]) -> dict[str, Any]:
    """The columns of a score row that say what became of its words: n_found, n_lost, and the lost words joined by commas."""
    found = list(found)
    lost = [word for each in found for word in each.lost]
    return {"n_found": sum(len(each.words) for each in found), "n_lost": len(lost), "lost": ",".join(lost)}
