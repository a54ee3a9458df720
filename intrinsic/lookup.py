"""Words to vectors, with an account of the words that were not there."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import InputError
from intrinsic.wordsets import WordSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gensim.models import KeyedVectors

Floats = NDArray[np.float64]

Case = Literal["exact", "lower"]
CASES = get_args(Case)
UnitLength = Annotated[bool, doc("whether vectors are scaled to unit length")]
NAMED_WORDS = 5


class Found:
    """What a look-up gave: the items found, those that are lost, and the vectors of the former.

    ``items`` are the words found, each in a tuple of its own, or the pairs or rows; ``words`` are
    the same with the words of an item joined by ``:``, and ``lost`` those that were not found.
    ``raw`` holds the vectors as they are, (items, dim), or (items, width, dim) for pairs and rows,
    and ``matrix`` the same at unit length; both in float64. ``values`` are the numbers of the items
    found, where the word set has numbers.
    """

    def __init__(
        self,
        items: list[tuple[str, ...]],
        lost: tuple[str, ...],
        raw: Floats,
        values: tuple[float, ...] = (),
    ) -> None:
        self.items, self.lost, self.raw, self.values = items, lost, raw, values
        self.words = (
            tuple(item[0] for item in items) if raw.ndim == 2 else tuple(map(":".join, items))
        )

    @cached_property
    def matrix(self) -> Floats:
        """The vectors at unit length; ``InputError`` for one that is zero or not finite."""
        flat = self.raw.reshape(-1, self.raw.shape[-1])
        try:
            return unit_rows(flat).reshape(self.raw.shape)
        except InputError:  # again, with names
            return unit_rows(flat, tuple(word for item in self.items for word in item))

    def rows(self, normalize: bool) -> Floats:
        """The vectors at unit length, or as they are."""
        return self.matrix if normalize else self.raw

    def take(self, places: NDArray[np.intp]) -> Found:
        """The items found at these places, in this order and as often as named."""
        values = tuple(self.values[place] for place in places) if self.values else ()
        return Found([self.items[place] for place in places], self.lost, self.raw[places], values)

    def first(self, size: int) -> Found:
        """The first ``size`` items found."""
        return Found(self.items[:size], self.lost, self.raw[:size], self.values[:size])


def find(vectors: KeyedVectors, words: Iterable[str], *, case: str = "exact") -> Found:
    """The vectors of ``words`` in the order given; words outside the vocabulary are listed as lost.

    ``case="lower"`` tries the exact form first and then the lower-cased one. Words that lead to the
    same entry count once. Raises ``InputError`` for another ``case``.
    """
    return find_set(vectors, WordSet("", tuple(words), "und", ""), case=case)


def find_set(vectors: KeyedVectors, wordset: WordSet, *, case: str = "exact") -> Found:
    """As ``find``, for a word set: a pair or row is found if all its words are."""
    if case not in CASES:
        raise InputError(f"unknown case {case!r}; choose from {', '.join(CASES)}")
    index, width = vectors.key_to_index, wordset.width
    asked = wordset.items
    if case == "lower":
        asked = [tuple(_known_form(word, index) for word in item) for item in asked]
    items = [item for item in dict.fromkeys(asked) if all(map(index.__contains__, item))]
    found = set(items)
    lost: dict[str, str] = {}
    for name in (":".join(item) for item in asked if item not in found):
        lost.setdefault(name.lower() if case == "lower" else name, name)
    # The number of an item that comes twice is its first
    numbers = dict(zip(asked[::-1], wordset.values[::-1], strict=False))
    rows = vectors.vectors[[index[word] for item in items for word in item]]
    raw = np.asarray(rows, dtype=np.float64)
    shape = (len(items), *([width] if width > 1 else []), raw.shape[1])
    values = tuple(numbers[item] for item in items if numbers)
    return Found(items, tuple(lost.values()), raw.reshape(shape), values)


def _known_form(word: str, index: Mapping[str, int]) -> str:
    return word if word in index or word.lower() not in index else word.lower()


def unit_rows(rows: ArrayLike, names: tuple[str, ...] = ()) -> Floats:
    """The rows of a matrix (n, dim) scaled to unit length, in float64.

    Raises ``InputError`` for a row that is zero or not finite, called by its entry in ``names`` or
    else by its number.
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(
            f"expected a matrix with one vector a row, not an array of shape {matrix.shape}"
        )
    norms: Floats = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    if not (norms.min(initial=1) > 0 and norms.max(initial=1) < math.inf):  # NaN fails both
        bad = int(np.flatnonzero(~((norms > 0) & np.isfinite(norms)))[0])
        what = "zero" if norms[bad] == 0 else "not finite"
        name = repr(names[bad]) if names else f"row {bad}"
        raise InputError(
            f"the vector of {name} is {what}, so it has no direction; remove the word, or repair it"
        )
    return np.asarray(matrix / norms[:, None])


def means(sets: Iterable[ArrayLike]) -> Floats:
    """The mean of each set's vectors. Shapes: n of (words, dim) -> (n, dim)."""
    return np.array([np.asarray(rows, dtype=np.float64).mean(axis=0) for rows in sets])


def unit_means(sets: Iterable[ArrayLike]) -> Floats:
    """The mean of each set's vectors at unit length. Shapes: n of (words, dim) -> (n, dim)."""
    return means(map(unit_rows, sets))


def describe_shortage(wordset: WordSet, found: Found, min_found: float, fewest: int = 1) -> str:
    """Why too few items of a set were found; empty when there are enough.

    Enough is at least the share ``min_found`` of its different items, and at least ``fewest``.
    """
    total = len(found.words) + len(found.lost)
    needed = max(fewest, math.ceil(min_found * total - 1e-9))  # 0.55 * 100 is 55.00000000000001
    if len(found.words) >= needed:
        return ""
    named = NAMED_WORDS if wordset.width == 1 else 2
    missing = ", ".join(found.lost[:named]) + (", ..." if len(found.lost) > named else "")
    what = {1: "words", 2: "pairs"}.get(wordset.width, "rows")
    has = f"word set {wordset.name!r} has {len(found.words)} of {total} {what}"
    return f"{has} (needs at least {needed})" + (f": missing {missing}" if missing else "")
