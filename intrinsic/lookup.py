"""Look-up of words in vectors: word sets, queries, frequent words, and directions of base pairs."""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args
from weakref import WeakKeyDictionary

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError
from biasbridge.files.choice import Count
from biasbridge.files.language import SIGNS, known_form, lower_forms, normalise_text
from biasbridge.intrinsic.resampling import RESAMPLES, draw_items
from biasbridge.intrinsic.words import WordSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.words import Query
    from biasbridge.stats.arrays import Floats


LetterCase = Literal["exact", "lower"]
CASES = get_args(LetterCase)
UnitLength = Annotated[bool, doc("whether to scale vectors to unit length")]
_MAX_LISTED = 5  # missing words
DirectionMethod = Literal["pca", "mean", "first"]
_DIRECTION_METHODS = get_args(DirectionMethod)
DirectionKind = Annotated[DirectionMethod, doc("how the direction is computed from the base pairs")]
NO_LENGTH = 1e-12
_SPANS_NOTHING = (
    "the words of a base pair have the same vector, or the pairs cancel, so they span no direction;"
    " use other pairs"
)
Floats32 = NDArray[np.float32]
# Letters with their signs, and underscores between them
_WORD_LETTERS = re.compile(rf"[^\W\d_](?:(?:[^\W\d]|[{SIGNS}])*(?:[^\W\d_]|[{SIGNS}]))?")
_MAX_LENGTH = 20  # of words
NEIGHBOUR_BATCH = 256
# An alphabetical order: this share of neighbouring rows, of so many words
_SORTED, _FEWEST, _ORDERED = 0.95, 20, 1_000
VocabularySize = Annotated[Count, doc("number of the most frequent words searched")]
_VocabularySetting = tuple[int, frozenset[str]]
_cache: WeakKeyDictionary[KeyedVectors, dict[_VocabularySetting, FrequentWords]] = (
    WeakKeyDictionary()
)
_EXCLUDED = "excluded"  # role of words left out of a vocabulary, not measured themselves


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


@dataclass(frozen=True)
class ResolvedQuery:
    """Word sets of a query found in vectors, by role.

    excluded_words: those of base pairs and of the role ``excluded``, which are not neutral. cut:
    items found but not used. is_resample: whether its score needs no test.
    """

    query: Query
    vectors: KeyedVectors
    sets: Mapping[str, ResolvedWords]
    excluded_words: frozenset[str]
    cut: tuple[str, ...] = ()
    is_resample: bool = False

    def __getitem__(self, role: str) -> ResolvedWords:
        return self.sets[role]

    @property
    def targets(self) -> dict[str, ResolvedWords]:
        """Groups of target words: X, Y, X3, ..."""
        return self._groups("XY")

    @property
    def attributes(self) -> dict[str, ResolvedWords]:
        """Groups of attribute words: A, B, A3, ..."""
        return self._groups("AB")

    def _groups(self, letters: str) -> dict[str, ResolvedWords]:
        """Return the groups by number, whatever the order of the file."""
        numbers = {
            role: int(role[1:] or letters.index(role[0]) + 1)
            for role in self.sets
            if role[0] in letters
        }
        return {role: self.sets[role] for role in sorted(numbers, key=numbers.__getitem__)}

    @property
    def word_sets(self) -> dict[str, ResolvedWords]:
        """All sets except the excluded words."""
        return {role: words for role, words in self.sets.items() if role != _EXCLUDED}

    def truncated(self, sizes: Mapping[str, int]) -> ResolvedQuery:
        """Return a copy with the sets of these roles cut to their first items."""
        sets = {
            role: words.take(np.arange(len(words.items))[: sizes.get(role)])
            for role, words in self.sets.items()
        }
        cut = [word for role in sets for word in self[role].words[len(sets[role].words) :]]
        return dataclasses.replace(self, sets=sets, cut=tuple(cut))

    def resampled(self, rng: np.random.Generator) -> ResolvedQuery:
        """Return a copy with every set drawn with replacement."""
        sizes = {role: len(words.items) for role, words in self.sets.items()}
        return self.take({role: rng.integers(n, size=n) for role, n in sizes.items() if n})

    def joint_resamples(self) -> Iterator[ResolvedQuery]:
        """Yield the resamples of ``biasbridge.intrinsic.resampling``; some sets may be empty."""
        draws = {role: draw_items(role, words.words) for role, words in self.word_sets.items()}
        for i in range(RESAMPLES):
            counts = {role: times[:, i] for role, times in draws.items()}
            yield self.take({role: np.repeat(np.arange(len(n)), n) for role, n in counts.items()})

    def take(self, places: Mapping[str, NDArray[np.intp]]) -> ResolvedQuery:
        """Return a copy with the items of these roles at ``places``, which may repeat."""
        sets = {role: self[role].take(indices) for role, indices in places.items()}
        return dataclasses.replace(self, sets={**self.sets, **sets}, is_resample=True)

    def shortages(self, min_found: float, fewest: Mapping[str, int]) -> list[str]:
        """Return the sets with too few items; ``fewest`` by role, 1 by default."""
        descriptions = (
            _describe_shortage(self.query[role], words, min_found, fewest.get(role, 1))
            for role, words in self.word_sets.items()
        )
        return [description for description in descriptions if description]

    def overlaps(self) -> list[str]:
        """Return the groups that cannot be compared because they share words."""
        return [
            f"{first} and {second} of query {self.query.name!r} share {', '.join(sorted(shared))};"
            " a word can be in one of them only"
            for groups in (self.targets, self.attributes)
            for first, second in combinations(groups, 2)
            if (shared := set(groups[first].words) & set(groups[second].words))
        ]

    def require_directions(self) -> None:
        """Raise ``InputError`` for a vector, or a base pair, without a direction."""
        for words in self.word_sets.values():
            _ = words.matrix
        if "pairs" in self.sets:
            pair_differences(self["pairs"].matrix)


def placeholder(words: Iterable[str]) -> KeyedVectors:
    """Return a stand-in for vectors of words, all alike, to look words up before a training."""
    names = [*words]
    index = {word: row for row, word in enumerate(names)}
    rows = np.ones((len(names), 1), dtype=np.float32)
    parts = SimpleNamespace(index_to_key=names, key_to_index=index, vectors=rows)
    return cast("KeyedVectors", parts)


class FrequentWords:
    """Words, their positions (``index``), and their unit vectors, float32 (n, dim)."""

    def __init__(self, words: list[str], matrix: Floats32) -> None:
        self.words, self.matrix = words, matrix
        self.index = {word: i for i, word in enumerate(words)}

    def neighbours(
        self, rows: ArrayLike, k: int, *, names: Collection[str] = ()
    ) -> NDArray[np.intp]:
        """Return the positions of each row's k nearest words by cosine, nearest first.

        Rows with ``names`` skip their own word. Shapes: rows (n, dim) -> (n, k). Raises
        ``InputError`` for fewer than k other words.
        """
        if not 0 < k < len(self.words):
            size = f"the vocabulary searched has {len(self.words)} words"
            raise InputError(f"neighbours={k}: {size}; ask for fewer, at least 1")
        units = np.asarray(rows, dtype=np.float32)
        neighbours = np.empty((len(units), k), dtype=np.intp)
        own_index = np.array([self.index.get(name, -1) for name in names] or [-1] * len(units))
        for start in range(0, len(units), NEIGHBOUR_BATCH):
            batch = slice(start, start + NEIGHBOUR_BATCH)
            cosines: Floats32 = units[batch] @ self.matrix.T
            is_known = own_index[batch] >= 0
            cosines[np.flatnonzero(is_known), own_index[batch][is_known]] = -np.inf
            nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
            neighbours[batch] = np.take_along_axis(nearest, order, axis=1)
        return neighbours


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
    requested = [tuple(_spelling(word, vectors) for word in item) for item in requested]
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


def resolve_query(
    vectors: KeyedVectors, query: Query, takes: Callable[[str], bool], *, case: str
) -> ResolvedQuery:
    """Look up the word sets of a query in the roles that ``takes`` accepts, as ``find`` does."""
    sets = {
        role: find_set(vectors, wordset, case=case)
        for role, wordset in query.sets.items()
        if takes(role)
    }
    pairs = sets["pairs"].items if "pairs" in sets else []
    excluded = query[_EXCLUDED].words if _EXCLUDED in query.sets else ()
    if case == "lower":
        excluded = (*excluded, *(form for word in excluded for form in lower_forms(word)))
    spelled = (_spelling(normalise_text(word), vectors) for word in excluded)
    excluded_words = frozenset([*(word for pair in pairs for word in pair), *spelled])
    return ResolvedQuery(query, vectors, sets, excluded_words)


def _spelling(word: str, vectors: KeyedVectors) -> str:
    """Return a word as the vectors spell it, by which neighbours leave it out."""
    row = vectors.key_to_index.get(word)
    return word if row is None else vectors.index_to_key[row]


def _describe_shortage(
    wordset: WordSet, resolved: ResolvedWords, min_found: float, fewest: int = 1
) -> str:
    """Describe fewer items than ``fewest`` or the share ``min_found``; empty if enough."""
    total = len(resolved.words) + len(resolved.lost)
    needed = max(fewest, math.ceil(min_found * total - 1e-9))  # 0.55 * 100 is 55.00000000000001
    if len(resolved.words) >= needed:
        return ""
    n_listed = _MAX_LISTED if wordset.width == 1 else 2
    dots = ", ..." * (len(resolved.lost) > n_listed)
    missing = ", ".join(resolved.lost[:n_listed]) + dots
    unit = {1: "words", 2: "pairs"}.get(wordset.width, "rows")
    count = f"word set {wordset.name!r} has {len(resolved.words)} of {total} {unit}"
    return f"{count} (needs at least {needed})" + (f": missing {missing}" if missing else "")


def frequent_words(
    vectors: KeyedVectors, size: int, left_out: frozenset[str] = frozenset()
) -> FrequentWords:
    """Return the neutral words among the ``size`` most frequent ones.

    Neutral: lower-case letters, under 20 characters, not in ``left_out``, vector not zero. Vectors
    are ordered by frequency, as word2vec, fastText and GloVe write them.
    """
    cached = _cache.setdefault(vectors, {})
    if (size, left_out) not in cached:
        cached[size, left_out] = _gather(vectors, size, left_out)
    return cached[size, left_out]


def clear_frequent_words(vectors: KeyedVectors) -> None:
    """Clear the cache of vectors that may have changed since; call it before scoring them."""
    _cache.pop(vectors, None)


def most_frequent(vectors: KeyedVectors, size: int) -> list[str]:
    """Return the words of letters, under 20 characters, among the ``size`` most frequent ones.

    In any case, letters may be joined by underscores; words with a zero vector are left out.
    """
    words = [
        word
        for word in vectors.index_to_key[:size]
        if len(word) < _MAX_LENGTH and _WORD_LETTERS.fullmatch(word)
    ]
    rows = vectors.vectors[[vectors.key_to_index[word] for word in words]]
    return [words[i] for i in np.flatnonzero(np.any(rows != 0, axis=1)).tolist()]


def is_by_frequency(vectors: KeyedVectors) -> bool:
    """Test whether rows may be by frequency: neither alphabetical nor against their counts."""
    words = [word.casefold() for word in vectors.index_to_key[:_ORDERED]]
    counts = vectors.expandos.get("count", ())[:_ORDERED]
    n_pairs = max(1, len(words) - 1)
    risen, fallen = (
        sum(map(compare, words, words[1:])) / n_pairs for compare in (operator.lt, operator.gt)
    )
    against = sum(map(operator.lt, counts, counts[1:])) / n_pairs
    return len(words) < _FEWEST or (max(risen, fallen) < _SORTED and against <= 1 - _SORTED)


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


def pair_differences(pairs: ArrayLike) -> tuple[Floats, Floats]:
    """Return the vector from the second to the first word of every pair, and its length."""
    rows = _pairs(pairs)
    differences = rows[:, 0] - rows[:, 1]
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", differences, differences))
    if not lengths.min() > NO_LENGTH:
        raise InputError(_SPANS_NOTHING)
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
    if kind not in _DIRECTION_METHODS:
        raise InputError(f"unknown direction {kind!r}; choose from {', '.join(_DIRECTION_METHODS)}")
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
        raise InputError(_SPANS_NOTHING)
    return first if first @ mean >= 0 else -first


def subspace(pairs: ArrayLike, k: int) -> Floats:
    """Return the first k principal components of pair-centred unit vectors, (k, dim).

    Raises ``InputError`` if the pairs span fewer directions.
    """
    rows = _pairs(pairs)
    units = unit_rows(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)
    _, values, basis = np.linalg.svd(units[:, 0] - units[:, 1], full_matrices=False)
    if (n_spanned := int((values > NO_LENGTH).sum())) < k:
        raise InputError(f"the base pairs span {n_spanned} directions, not {k}; give more pairs")
    return np.asarray(basis[:k])


def _pairs(pairs: ArrayLike) -> Floats:
    rows = np.asarray(pairs, dtype=np.float64)
    if rows.ndim != 3 or rows.shape[1] != 2 or not len(rows):
        raise InputError(f"expected base pairs of shape (n, 2, dim), not {rows.shape}")
    return rows


def _unit(row: Floats) -> Floats:
    length = float(np.linalg.norm(row))
    if not length > NO_LENGTH:
        raise InputError(_SPANS_NOTHING)
    return row / length


def _gather(vectors: KeyedVectors, size: int, left_out: Collection[str]) -> FrequentWords:
    indices = [
        i
        for i, word in enumerate(vectors.index_to_key[:size])
        if word == word.lower()
        and len(word) < _MAX_LENGTH
        and word not in left_out
        and _WORD_LETTERS.fullmatch(word)
    ]
    rows = np.asarray(vectors.vectors[indices], dtype=np.float32)
    norms: Floats32 = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    is_valid = (norms > 0) & np.isfinite(norms)
    if is_valid.sum() < 2:
        searched = f"the {min(size, len(vectors))} most frequent words"
        raise InputError(f"fewer than two of {searched} are neutral lower-case words")
    names = [vectors.index_to_key[indices[i]] for i in np.flatnonzero(is_valid).tolist()]
    return FrequentWords(names, rows[is_valid] / norms[is_valid, None])
