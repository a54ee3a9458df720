"""Look-up of words in vectors, with the words that are out of vocabulary."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError
from biasbridge.files.names import known_form, normalise_text
from biasbridge.intrinsic.wordsets import WordSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gensim.models import KeyedVectors

    from biasbridge.stats.arrays import Floats


Case = Literal["exact", "lower"]
CASES = get_args(Case)
UnitLength = Annotated[bool, doc("whether to scale vectors to unit length")]
MAX_LISTED = 5  # missing words


class ResolvedWords:
    """Items of a word set found in vectors, missing ones, and the vectors found.

    items: the words found, each in a tuple of its own, or the pairs or rows. words: the same, the
    words of an item joined by ``:``. lost: items out of vocabulary. raw: vectors as they are,
    (items, dim), or (items, width, dim) for pairs and rows, float64. matrix: the same at unit
    length. values: numbers of the items found, if the word set has numbers.
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
        """Vectors at unit length; ``InputError`` for one that is zero or not finite."""
        flat = self.raw.reshape(-1, self.raw.shape[-1])
        try:
            return unit_rows(flat).reshape(self.raw.shape)
        except InputError:  # repeated with names
            return unit_rows(flat, tuple(word for item in self.items for word in item))

    def rows(self, normalize: bool) -> Floats:
        """Return the vectors at unit length, or as they are."""
        return self.matrix if normalize else self.raw

    def take(self, places: NDArray[np.intp]) -> ResolvedWords:
        """Return the items at ``places``, in this order; they may repeat."""
        values = tuple(self.values[place] for place in places) if self.values else ()
        return ResolvedWords(
            [self.items[place] for place in places], self.lost, self.raw[places], values
        )


def find(vectors: KeyedVectors, words: Iterable[str], *, case: str = "exact") -> ResolvedWords:
    """Look up words in vectors, in the given order.

    Parameters
    ----------
    vectors : KeyedVectors
    words : iterable of str
    case : {"exact", "lower"}, default="exact"
        "lower" tries the exact form first and then the lower-cased one. Words that lead to the same
        entry count once.

    Returns
    -------
    ResolvedWords
        The words found with their vectors, and the words out of vocabulary (``lost``).

    Raises
    ------
    InputError
        Another ``case``.
    """
    return find_set(vectors, WordSet("", tuple(words), "und", ""), case=case)


def find_set(vectors: KeyedVectors, wordset: WordSet, *, case: str = "exact") -> ResolvedWords:
    """Look up a word set as :func:`find` does; a pair or row is found if all its words are."""
    if case not in CASES:
        raise InputError(f"unknown case {case!r}; choose from {', '.join(CASES)}")
    index, width = vectors.key_to_index, wordset.width
    requested = [tuple(map(normalise_text, item)) for item in wordset.items]
    if case == "lower":
        requested = [tuple(known_form(word, index) for word in item) for item in requested]
    requested = [tuple(spelling(word, vectors) for word in item) for item in requested]
    items = [item for item in dict.fromkeys(requested) if all(map(index.__contains__, item))]
    in_vocabulary = set(items)
    missing: dict[str, str] = {}
    for name in (":".join(item) for item in requested if item not in in_vocabulary):
        missing.setdefault(name.lower() if case == "lower" else name, name)
    # The first number of a repeated item counts
    numbers = dict(zip(requested[::-1], wordset.values[::-1], strict=False))
    rows = vectors.vectors[[index[word] for item in items for word in item]]
    raw = np.asarray(rows, dtype=np.float64)
    shape = (len(items), *([width] if width > 1 else []), raw.shape[1])
    values = tuple(numbers[item] for item in items if numbers)
    return ResolvedWords(items, tuple(missing.values()), raw.reshape(shape), values)


def spelling(word: str, vectors: KeyedVectors) -> str:
    """Return a word as the vectors spell it, by which neighbours leave it out."""
    row = vectors.key_to_index.get(word)
    return word if row is None else vectors.index_to_key[row]


def unit_rows(rows: ArrayLike, names: tuple[str, ...] = ()) -> Floats:
    """Scale the rows of a matrix (n, dim) to unit length, in float64.

    Raises ``InputError`` for a row that is zero or not finite, with its name or else its number.
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(f"expected a matrix with a vector per row, not shape {matrix.shape}")
    norms: Floats = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    if not (norms.min(initial=1) > 0 and norms.max(initial=1) < math.inf):  # NaN fails both
        bad = int(np.flatnonzero(~((norms > 0) & np.isfinite(norms)))[0])
        problem = "zero" if norms[bad] == 0 else "not finite"
        name = repr(names[bad]) if names else f"row {bad}"
        raise InputError(
            f"the vector of {name} is {problem} and has no direction; remove the word, or repair it"
        )
    return np.asarray(matrix / norms[:, None])


def means(sets: Iterable[ArrayLike]) -> Floats:
    """Compute the mean vector of each set: n of (words, dim) -> (n, dim)."""
    return np.array([np.asarray(rows, dtype=np.float64).mean(axis=0) for rows in sets])


def unit_means(sets: Iterable[ArrayLike]) -> Floats:
    """Compute the mean of each set's unit vectors: n of (words, dim) -> (n, dim)."""
    return means(map(unit_rows, sets))


def describe_shortage(
    wordset: WordSet, resolved: ResolvedWords, min_found: float, fewest: int = 1
) -> str:
    """Describe a shortage of items; empty if there are enough.

    Enough: at least the share ``min_found`` of the different items, and at least ``fewest``.
    """
    total = len(resolved.words) + len(resolved.lost)
    needed = max(fewest, math.ceil(min_found * total - 1e-9))  # 0.55 * 100 is 55.00000000000001
    if len(resolved.words) >= needed:
        return ""
    n_listed = MAX_LISTED if wordset.width == 1 else 2
    dots = ", ..." * (len(resolved.lost) > n_listed)
    missing = ", ".join(resolved.lost[:n_listed]) + dots
    unit = {1: "words", 2: "pairs"}.get(wordset.width, "rows")
    count = f"word set {wordset.name!r} has {len(resolved.words)} of {total} {unit}"
    return f"{count} (needs at least {needed})" + (f": missing {missing}" if missing else "")
