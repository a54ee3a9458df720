"""Words to vectors, with an account of the words that were not there."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

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


class Found:
    """What a look-up gave: the items in the vocabulary, those it lacks, and the vectors of the former.

    ``items`` are the words found, each in a tuple of its own, or the pairs or rows; ``words`` are the same with the words of an item
    joined by ``:``, and ``lost`` those that were not found. ``raw`` holds the vectors as they are, (items, dim), or
    (items, width, dim) for pairs and rows, and ``matrix`` the same at unit length; both in float64. ``values`` are the numbers of the
    items found, where the word set has numbers.
    """

    def __init__(self, items: list[tuple[str, ...]], lost: tuple[str, ...], raw: Floats, values: tuple[float, ...] = ()) -> None:
        self.items, self.lost, self.raw, self.values = items, lost, raw, values
        self.words = tuple(":".join(item) for item in items)

    @cached_property
    def matrix(self) -> Floats:
        """The vectors at unit length. Raises ``InputError`` for a vector that is zero or not finite, for it has no direction."""
        flat = self.raw.reshape(-1, self.raw.shape[-1])
        return unit_rows(flat, tuple(word for item in self.items for word in item)).reshape(self.raw.shape)

    def first(self, size: int) -> Found:
        """The first ``size`` items found."""
        return Found(self.items[:size], self.lost, self.raw[:size], self.values[:size])


def find(vectors: KeyedVectors, words: Iterable[str], *, case: str = "exact") -> Found:
    """The vectors of ``words`` in the order given; words outside the vocabulary are listed as lost.

    ``case="lower"`` tries the exact form first and then the lower-cased one. Words that lead to the same entry count once.
    Raises ``InputError`` for another ``case``.
    """
    return _find(vectors, [(word,) for word in words], (), case)


def find_set(vectors: KeyedVectors, wordset: WordSet, *, case: str = "exact") -> Found:
    """As ``find``, for a word set: a pair or row is found if all its words are."""
    return _find(vectors, wordset.items, wordset.values, case)


def _find(vectors: KeyedVectors, items: list[tuple[str, ...]], values: tuple[float, ...], case: str) -> Found:
    if case not in CASES:
        raise InputError(f"unknown case {case!r}; choose from {', '.join(CASES)}")
    index = vectors.key_to_index
    rows: dict[tuple[str, ...], list[int]] = {}
    lost: dict[str, str] = {}
    numbers: dict[tuple[str, ...], float] = {}
    for place, item in enumerate(items):
        entries = [_entry(word, index, case) for word in item]
        known = tuple(entry for entry in entries if entry is not None)
        if len(known) < len(item):
            lost.setdefault(":".join(item).lower() if case == "lower" else ":".join(item), ":".join(item))
            continue
        rows[known] = [index[entry] for entry in known]
        if values:
            numbers.setdefault(known, values[place])
    width = len(items[0]) if items else 1
    order = np.asarray([row for found in rows.values() for row in found], dtype=np.intp)
    raw = np.asarray(vectors.vectors[order], dtype=np.float64)
    shape = (len(rows), raw.shape[1]) if width == 1 else (len(rows), width, raw.shape[1])
    return Found(list(rows), tuple(lost.values()), raw.reshape(shape), tuple(numbers.values()))


def _entry(word: str, index: dict[str, int], case: str) -> str | None:
    if word in index:
        return word
    return word.lower() if case == "lower" and word.lower() in index else None


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


def shortage(wordset: WordSet, found: Found, min_found: float, fewest: int = 1) -> str:
    """Why too few items of a set were found to go on, or an empty string when there are enough.

    Enough is at least the share ``min_found`` of the set's different items, and at least ``fewest``.
    """
    total = len(found.words) + len(found.lost)
    needed = max(fewest, math.ceil(min_found * total - 1e-9))  # 0.55 * 100 is 55.00000000000001
    if len(found.words) >= needed:
        return ""
    named = NAMED_WORDS if wordset.width == 1 else 2
    missing = ", ".join(found.lost[:named]) + (", ..." if len(found.lost) > named else "")
    what = {1: "words", 2: "pairs"}.get(wordset.width, "rows")
    lacking = f": missing {missing}" if missing else ""
    return f"word set {wordset.name!r} has {len(found.words)} of {total} {what} (needs at least {needed}){lacking}"


def losses(found: Iterable[Found]) -> dict[str, Any]:
    """The columns of a score row that say what became of its words: n_found, n_lost, and the lost items joined by commas."""
    found = list(found)
    lost = [word for each in found for word in each.lost]
    return {"n_found": sum(len(each.words) for each in found), "n_lost": len(lost), "lost": ",".join(lost)}
