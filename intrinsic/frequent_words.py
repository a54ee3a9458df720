"""Frequent words of vectors, the candidates for nearest neighbours; cached by setting."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated
from weakref import WeakKeyDictionary

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError
from biasbridge.files.choice import Count
from biasbridge.files.names import SIGNS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Floats32 = NDArray[np.float32]

# Letters with their signs, and underscores between them
LETTERS = re.compile(rf"[^\W\d_](?:(?:[^\W\d]|[{SIGNS}])*(?:[^\W\d_]|[{SIGNS}]))?")
MAX_LENGTH = 20  # of words
BATCH = 256
# An alphabetical order: this share of neighbouring rows, of so many words
SORTED, FEWEST, ORDERED = 0.95, 20, 1_000
VocabularySize = Annotated[Count, doc("number of the most frequent words searched")]
Setting = tuple[int, frozenset[str]]
_cache: WeakKeyDictionary[KeyedVectors, dict[Setting, FrequentWords]] = WeakKeyDictionary()


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
        for start in range(0, len(units), BATCH):
            batch = slice(start, start + BATCH)
            cosines: Floats32 = units[batch] @ self.matrix.T
            is_known = own_index[batch] >= 0
            cosines[np.flatnonzero(is_known), own_index[batch][is_known]] = -np.inf
            nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
            neighbours[batch] = np.take_along_axis(nearest, order, axis=1)
        return neighbours


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
        if len(word) < MAX_LENGTH and LETTERS.fullmatch(word)
    ]
    rows = vectors.vectors[[vectors.key_to_index[word] for word in words]]
    return [words[i] for i in np.flatnonzero(np.any(rows != 0, axis=1)).tolist()]


def is_by_frequency(vectors: KeyedVectors) -> bool:
    """Test whether the order of rows can be that of frequency: it is neither alphabetical nor
    against the words' counts.
    """
    words = [word.casefold() for word in vectors.index_to_key[:ORDERED]]
    counts = vectors.expandos.get("count", ())[:ORDERED]
    n_pairs = max(1, len(words) - 1)
    risen, fallen = (
        sum(map(compare, words, words[1:])) / n_pairs for compare in (operator.lt, operator.gt)
    )
    against = sum(map(operator.lt, counts, counts[1:])) / n_pairs
    return len(words) < FEWEST or (max(risen, fallen) < SORTED and against <= 1 - SORTED)


def _gather(vectors: KeyedVectors, size: int, left_out: Collection[str]) -> FrequentWords:
    indices = [
        i
        for i, word in enumerate(vectors.index_to_key[:size])
        if word == word.lower()
        and len(word) < MAX_LENGTH
        and word not in left_out
        and LETTERS.fullmatch(word)
    ]
    rows = np.asarray(vectors.vectors[indices], dtype=np.float32)
    norms: Floats32 = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    is_valid = (norms > 0) & np.isfinite(norms)
    if is_valid.sum() < 2:
        searched = f"the {min(size, len(vectors))} most frequent words"
        raise InputError(f"fewer than two of {searched} are neutral lower-case words")
    names = [vectors.index_to_key[indices[i]] for i in np.flatnonzero(is_valid).tolist()]
    return FrequentWords(names, rows[is_valid] / norms[is_valid, None])
