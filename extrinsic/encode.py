"""Posts as row numbers of a matrix of the vectors they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.files import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

_UNKNOWN_WORD = "<UNK>"


@dataclass(frozen=True)
class Encoded:
    """n posts over their own vocabulary.

    ``tokens`` (total,) has the tokens of all posts as rows of ``matrix``; post i is
    tokens[offsets[i]:offsets[i + 1]]. ``matrix`` (types + 1, dim) is float32; its row 0 is zero,
    for padding and unknown words. ``coverage`` is the share of tokens in the vectors' vocabulary,
    before unknown words take the vector of ``<UNK>``.
    """

    tokens: NDArray[np.int64]
    offsets: NDArray[np.int64]
    matrix: NDArray[np.float32]
    coverage: float

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each post, shape (n,)."""
        return np.diff(self.offsets)

    def padded(self, rows: NDArray[np.int64], *, shortest: int, longest: int) -> NDArray[np.int64]:
        """Return posts as (len(rows), width), cut after ``longest`` tokens, padded with 0.

        The width is that of the longest post, and at least ``shortest``.
        """
        lengths = np.minimum(self.lengths[rows], longest)
        columns = np.arange(max(shortest, lengths.max(initial=0)))
        inside = columns < lengths[:, None]
        rectangle = np.zeros(inside.shape, dtype=np.int64)
        rectangle[inside] = self.tokens[(self.offsets[rows, None] + columns)[inside]]
        return rectangle


def encode(texts: Iterable[str], vectors: KeyedVectors) -> Encoded:
    """Encode space-separated tokens: see :func:`encode_words`."""
    return encode_words([text.split() for text in texts], vectors)


def encode_words(posts: Sequence[Sequence[str]], vectors: KeyedVectors) -> Encoded:
    """Encode words; those without a vector take that of ``<UNK>``, or zeros.

    Raises ``InputError`` if no word has a vector and if a vector is not finite.
    """
    words = {word: 0 for post in posts for word in post}
    in_vocabulary = [word for word in words if word in vectors.key_to_index]
    total = sum(map(len, posts))
    if not in_vocabulary:
        problem = (
            f"none of the {len(words)} distinct words of the texts ({', '.join([*words][:5])})"
        )
        remedy = "tokenise them like the corpus of the vectors, lower case included"
        raise InputError(f"{problem} has a vector; {remedy}")
    words.update({word: row for row, word in enumerate(in_vocabulary, 1)})
    n_found = sum(words[word] > 0 for post in posts for word in post)
    if _UNKNOWN_WORD in vectors.key_to_index and len(in_vocabulary) < len(words):
        unknown_row = words.get(_UNKNOWN_WORD) or len(in_vocabulary) + 1
        in_vocabulary += [_UNKNOWN_WORD] * (unknown_row > len(in_vocabulary))
        words = {word: row or unknown_row for word, row in words.items()}
    rows = (words[word] for post in posts for word in post)
    tokens = np.fromiter(rows, dtype=np.int64, count=total)
    offsets = np.cumsum([0, *map(len, posts)])
    return Encoded(tokens, offsets, _matrix(in_vocabulary, vectors), n_found / total)


def _matrix(words: list[str], vectors: KeyedVectors) -> NDArray[np.float32]:
    matrix = np.zeros((len(words) + 1, vectors.vector_size), dtype=np.float32)
    matrix[1:] = vectors.vectors[[vectors.key_to_index[word] for word in words]]
    invalid = ~np.isfinite(matrix).all(axis=1)
    if invalid.any():
        word = words[int(np.flatnonzero(invalid)[0]) - 1]
        vector = f"the vector of {word!r} (and {invalid.sum() - 1} more)"
        raise InputError(f"{vector} is not finite; train or load the vectors again")
    return matrix
