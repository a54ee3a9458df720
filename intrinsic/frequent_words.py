"""The frequent words of the vectors, to search for neighbours among; made once for each vectors and
setting.
"""

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
    """Words, the same by place in ``index``, and their vectors at unit length (n, dim) in
    float32.
    """

    def __init__(self, words: list[str], matrix: Singles) -> None:
        self.words, self.matrix = words, matrix
        self.index = {word: place for place, word in enumerate(words)}

    def neighbours(
        self, rows: ArrayLike, k: int, *, names: Collection[str] = ()
    ) -> NDArray[np.intp]:
        """The places of the k nearest words by cosine of every row, nearest first, leaving out the
        word itself by its name.

        Shapes: rows (n, dim) -> (n, k). Raises ``InputError`` if the vocabulary has fewer than k
        other words.
        """
        if not 0 < k < len(self.words):
            raise InputError(
                f"neighbours={k}: the vocabulary searched has {len(self.words)} words; ask for"
                " fewer, at least 1"
            )
        units = np.asarray(rows, dtype=np.float32)
        found = np.empty((len(units), k), dtype=np.intp)
        own = np.array([self.index.get(name, -1) for name in names] or [-1] * len(units))
        for start in range(0, len(units), BATCH):
            cosines = units[start : start + BATCH] @ self.matrix.T
            here = own[start : start + BATCH]
            cosines[np.flatnonzero(here >= 0), here[here >= 0]] = -np.inf
            nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
            found[start : start + BATCH] = np.take_along_axis(nearest, order, axis=1)
        return found


def frequent(
    vectors: KeyedVectors, size: int, left_out: frozenset[str] = frozenset()
) -> FrequentWords:
    """The neutral words among the ``size`` most frequent ones: lower-case letters, shorter than 20
    characters, less those left out.

    The vectors' own order is that of frequency, as word2vec, fastText and GloVe write it. Zero
    vectors are left out.
    """
    made = _made.setdefault(vectors, {})
    key = (size, left_out)
    if key not in made:
        made[key] = _gather(vectors, size, left_out)
    return made[key]


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
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    kept = (norms > 0) & np.isfinite(norms)
    if kept.sum() < 2:
        raise InputError(
            f"fewer than two of the {min(size, len(vectors))} most frequent words are neutral"
            " lower-case words"
        )
    names = [vectors.index_to_key[place] for place, keep in zip(places, kept, strict=True) if keep]
    return FrequentWords(names, rows[kept] / norms[kept, None])
