"""Posts as integers into a small matrix of just the vectors they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from files import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

UNKNOWN = "<UNK>"


@dataclass(frozen=True)
class Encoded:
    """n posts over a vocabulary of their own.

    ``tokens`` (total,) holds the posts' tokens one after the other as rows of ``matrix``; post i is
    tokens[offsets[i]:offsets[i + 1]]. ``matrix`` (types + 1, dim) is float32; its row 0 is zero and
    stands for padding and for unknown words. ``coverage`` is the share of tokens found in the
    vectors, before unknown words take the vector of ``<UNK>``.
    """

    tokens: NDArray[np.int64]
    offsets: NDArray[np.int64]
    matrix: NDArray[np.float32]
    coverage: float

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each post, shape (n,)."""
        return np.diff(self.offsets)

    def padded(self, rows: NDArray[np.int64], *, shortest: int, longest: int) -> NDArray[np.int64]:
        """Posts as a rectangle (len(rows), width), cut after ``longest`` tokens, filled with 0.

        The width is that of the longest post, and at least ``shortest``.
        """
        lengths = np.minimum(self.lengths[rows], longest)
        columns = np.arange(max(shortest, lengths.max(initial=0)))
        inside = columns < lengths[:, None]
        rectangle = np.zeros(inside.shape, dtype=np.int64)
        rectangle[inside] = self.tokens[(self.offsets[rows, None] + columns)[inside]]
        return rectangle


def encode(texts: Iterable[str], vectors: KeyedVectors) -> Encoded:
    """Every space-separated token looked up: see :func:`encode_words`."""
    return encode_words([text.split() for text in texts], vectors)


def encode_words(posts: Sequence[Sequence[str]], vectors: KeyedVectors) -> Encoded:
    """Every word looked up; one without a vector takes that of ``<UNK>``, or zeros.

    Raises ``InputError`` when no word at all has a vector and when a vector needed is not finite.
    """
    words = {word: 0 for post in posts for word in post}
    known = [word for word in words if word in vectors.key_to_index]
    total = sum(map(len, posts))
    if not known:
        none = f"none of the {len(words)} distinct words of the texts ({', '.join([*words][:5])})"
        remedy = "tokenise them like the corpus of the vectors, lower case included"
        raise InputError(f"{none} has a vector; {remedy}")
    words.update({word: row for row, word in enumerate(known, 1)})
    found = sum(words[word] > 0 for post in posts for word in post)
    if UNKNOWN in vectors.key_to_index and len(known) < len(words):
        unknown = words.get(UNKNOWN) or len(known) + 1
        known += [UNKNOWN] * (unknown > len(known))
        words = {word: row or unknown for word, row in words.items()}
    places = (words[word] for post in posts for word in post)
    tokens = np.fromiter(places, dtype=np.int64, count=total)
    offsets = np.cumsum([0, *map(len, posts)])
    return Encoded(tokens, offsets, _matrix(known, vectors), found / total)


def _matrix(words: list[str], vectors: KeyedVectors) -> NDArray[np.float32]:
    """The vectors of ``words`` as float32 below a row of zeros."""
    matrix = np.zeros((len(words) + 1, vectors.vector_size), dtype=np.float32)
    matrix[1:] = vectors.vectors[[vectors.key_to_index[word] for word in words]]
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        word = words[int(np.flatnonzero(bad)[0]) - 1]
        vector = f"the vector of {word!r} (and {bad.sum() - 1} more)"
        raise InputError(f"{vector} is not finite; train or load the vectors again")
    return matrix
