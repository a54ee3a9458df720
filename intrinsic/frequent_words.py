"""The frequent words of the vectors, to search for neighbours among; made once a setting."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated
from weakref import WeakKeyDictionary

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import InputError
from files.choice import Count

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Singles = NDArray[np.float32]

LETTERS = re.compile(r"[^\W\d_](?:[^\W\d]*[^\W\d_])?")  # letters, joined by underscores at most
LONGEST = 20
BATCH = 256
Searched = Annotated[Count, doc("number of the most frequent words searched")]
Setting = tuple[int, frozenset[str]]
_made: WeakKeyDictionary[KeyedVectors, dict[Setting, FrequentWords]] = WeakKeyDictionary()


class FrequentWords:
    """Words, their places (``index``), and their vectors at unit length, float32 (n, dim)."""

    def __init__(self, words: list[str], matrix: Singles) -> None:
        self.words, self.matrix = words, matrix
        self.index = {word: place for place, word in enumerate(words)}

    def neighbours(
        self, rows: ArrayLike, k: int, *, names: Collection[str] = ()
    ) -> NDArray[np.intp]:
        """The places of each row's k nearest words by cosine, nearest first, less its own name.

        Shapes: rows (n, dim) -> (n, k). Raises ``InputError`` for fewer than k other words.
        """
        if not 0 < k < len(self.words):
            words = f"the vocabulary searched has {len(self.words)} words"
            raise InputError(f"neighbours={k}: {words}; ask for fewer, at least 1")
        units = np.asarray(rows, dtype=np.float32)
        found = np.empty((len(units), k), dtype=np.intp)
        own = np.array([self.index.get(name, -1) for name in names] or [-1] * len(units))
        for start in range(0, len(units), BATCH):
            cosines: Singles = units[start : start + BATCH] @ self.matrix.T
            here = own[start : start + BATCH]
            cosines[np.flatnonzero(here >= 0), here[here >= 0]] = -np.inf
            nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
            found[start : start + BATCH] = np.take_along_axis(nearest, order, axis=1)
        return found


def find_frequent(
    vectors: KeyedVectors, size: int, left_out: frozenset[str] = frozenset()
) -> FrequentWords:
    """The neutral of the ``size`` most frequent words: lower-case letters, under 20 characters.

    The vectors' own order is that of frequency, as word2vec, fastText and GloVe write it. Those of
    ``left_out`` and zero vectors are not among them.
    """
    made = _made.setdefault(vectors, {})
    if (size, left_out) not in made:
        made[size, left_out] = _gather(vectors, size, left_out)
    return made[size, left_out]


def forget_frequent(vectors: KeyedVectors) -> None:
    """Drop what was made of vectors, which may have changed since: whoever scores them begins so,
    and what is made then serves all metrics that are asked together.
    """
    _made.pop(vectors, None)


def most_frequent(vectors: KeyedVectors, size: int) -> list[str]:
    """Those of the ``size`` most frequent words that have letters alone, joined by underscores at
    most, are under 20 characters, in any case, and have a vector that is not zero.
    """
    words = [
        word
        for word in vectors.index_to_key[:size]
        if len(word) < LONGEST and LETTERS.fullmatch(word)
    ]
    rows = vectors.vectors[[vectors.key_to_index[word] for word in words]]
    return [words[i] for i in np.flatnonzero(np.any(rows != 0, axis=1)).tolist()]


def _gather(vectors: KeyedVectors, size: int, left_out: Collection[str]) -> FrequentWords:
    places = [
        place
        for place, word in enumerate(vectors.index_to_key[:size])
        if word == word.lower()
        and len(word) < LONGEST
        and word not in left_out
        and LETTERS.fullmatch(word)
    ]
    rows = np.asarray(vectors.vectors[places], dtype=np.float32)
    norms: Singles = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    kept = (norms > 0) & np.isfinite(norms)
    if kept.sum() < 2:
        most = f"the {min(size, len(vectors))} most frequent words"
        raise InputError(f"fewer than two of {most} are neutral lower-case words")
    names = [vectors.index_to_key[places[i]] for i in np.flatnonzero(kept).tolist()]
    return FrequentWords(names, rows[kept] / norms[kept, None])
