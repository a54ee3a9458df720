"""Documents as integers: words of a lexicon, sentence ends, gold clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.encode import encode_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.documents import Document

Integers = NDArray[np.int64]

LONGEST_WORD = 50
"""Bytes of a word that are read; longer ones, such as URLs, are truncated."""


@dataclass(frozen=True)
class Lexicon:
    """Distinct words of a collection of documents.

    ``rows`` (words,) are rows of ``matrix`` (types + 1, dim), the vectors; words without one share
    that of ``<UNK>``, or zeros. ``letters`` (words, longest) are the UTF-8 bytes of each word plus
    1, padded with 0. ``coverage``: share of the documents' tokens that have a vector.
    """

    index: Mapping[str, int]
    rows: Integers
    matrix: NDArray[np.float32]
    letters: NDArray[np.int16]
    coverage: float


@dataclass(frozen=True)
class Text:
    """Document of n tokens.

    ``words`` (types,) are the lexicon rows of its distinct words, ``word_index`` (n,) the index
    into these of each token. ``lengths`` are those of its sentences and ``tokens_left`` (n,) the
    number of tokens from each to the end of its sentence, itself included. ``mentions`` (m, 3) are
    first token, width and number of cluster.
    """

    words: Integers
    word_index: Integers
    lengths: Integers
    tokens_left: Integers
    mentions: Integers


def read_lexicon(documents: Sequence[Document], vectors: KeyedVectors) -> Lexicon:
    """Read the words of ``documents``, case kept, and their vectors.

    Raises ``InputError`` if no word has a vector and if a vector is not finite.
    """
    tokens = [document.tokens for document in documents]
    encoded = encode_words(tokens, vectors)
    index = {word: 0 for text in tokens for word in text}
    index = {word: number for number, word in enumerate(index)}
    rows = np.zeros(len(index), dtype=np.int64)
    rows[[index[word] for text in tokens for word in text]] = encoded.tokens
    return Lexicon(index, rows, encoded.matrix, letter_codes(index), encoded.coverage)


def letter_codes(words: Iterable[str]) -> NDArray[np.int16]:
    """Return UTF-8 bytes plus 1 of each word, padded with 0; shape (words, longest)."""
    encoded = [word.encode("utf-8", "surrogatepass")[:LONGEST_WORD] for word in words]
    lengths = np.array([len(letters) for letters in encoded], dtype=np.int64)
    inside = np.arange(lengths.max(initial=1)) < lengths[:, None]
    letters = np.zeros(inside.shape, dtype=np.int16)
    letters[inside] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    letters[inside] += 1
    return letters


def read_text(document: Document, lexicon: Lexicon) -> Text:
    """Encode a document whose words are all in ``lexicon``."""
    tokens = np.array([lexicon.index[word] for word in document.tokens], dtype=np.int64)
    words, word_index = np.unique(tokens, return_inverse=True)
    lengths = np.array([len(sentence) for sentence in document.sentences if sentence], np.int64)
    ends = np.repeat(lengths.cumsum(), lengths)
    mentions = [
        (first, end - first, number)
        for number, cluster in enumerate(document.clusters)
        for first, end in cluster
    ]
    return Text(
        words=words,
        word_index=word_index,
        lengths=lengths,
        tokens_left=ends - np.arange(len(tokens)),
        mentions=np.array(mentions, dtype=np.int64).reshape(-1, 3),
    )
