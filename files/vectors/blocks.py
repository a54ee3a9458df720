"""Word vectors in blocks, which all readers give and all checks take: memory stays at one block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from files.errors import InputError

Floats = NDArray[np.float32]
Counts = NDArray[np.int64]
Block = tuple[list[str], Floats]
"""n words and their vectors, float32 of shape (n, dim)."""

FLOATS_PER_BLOCK = 4_000_000


def check_blocks(
    blocks: Iterable[Block], path: Path, *, wanted: Collection[str] | None = None
) -> Iterator[Block]:
    """The blocks with only the ``wanted`` words (None: all), none twice, every value finite.

    Raises ``InputError`` for a NaN or infinite value, for a word that comes twice, and when nothing
    is left.
    """
    seen: set[str] = set()
    for words, rows in blocks:
        keep = [i for i, word in enumerate(words) if wanted is None or word in wanted]
        if len(keep) < len(words):
            words, rows = [words[i] for i in keep], rows[keep]
        refuse_nonfinite(words, rows, path)
        for word in words:
            if word in seen:
                twice = f"the word {word!r} comes twice"
                raise InputError(f"{path}: {twice}; delete one of its rows")
            seen.add(word)
        if words:
            yield words, rows
    if not seen:
        raise InputError(_nothing(path, wanted))


def refuse_nonfinite(words: list[str], rows: Floats, path: Path) -> None:
    """Raise ``InputError`` naming the first word whose vector holds a NaN or an infinite value."""
    step = max(1, FLOATS_PER_BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(words), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            word = words[start + int(np.argmin(finite.all(axis=1)))]
            bad = f"the vector of {word!r} holds a NaN or infinite value"
            raise InputError(f"{path}: {bad}; delete its row or train the vectors again")


def gather(blocks: Iterable[Block]) -> KeyedVectors:
    """All blocks as one ``KeyedVectors`` in memory."""
    names: list[str] = []
    matrix = np.empty((0, 0), dtype=np.float32)
    for words, rows in blocks:
        start = len(names)
        names += words
        # Growing in place moves pages and copies nothing, so that the peak stays near the size of
        # the matrix.
        matrix.resize((len(names), rows.shape[1]), refcheck=False)
        matrix[start:] = rows
    return keyed(names, matrix)


def keyed(words: list[str], matrix: Floats, counts: Counts | None = None) -> KeyedVectors:
    """``KeyedVectors`` around a float32 matrix (n, dim), not copied; ``counts`` (n,): 'count'."""
    vectors = KeyedVectors(matrix.shape[1])
    vectors.index_to_key = words
    vectors.key_to_index = {word: i for i, word in enumerate(words)}
    vectors.vectors = matrix
    vectors.next_index = len(words)
    if counts is not None:
        vectors.expandos["count"] = counts
    return vectors


def with_matrix(vectors: KeyedVectors, matrix: Floats) -> KeyedVectors:
    """Plain vectors with the words and counts of ``vectors`` and the rows of ``matrix``."""
    counts = vectors.expandos.get("count")
    return keyed(list(vectors.index_to_key), matrix, None if counts is None else np.array(counts))


def select(vectors: KeyedVectors, wanted: Collection[str], path: Path) -> KeyedVectors:
    """The rows of the ``wanted`` words in order, with counts. ``InputError`` when there is none."""
    index, counts = vectors.key_to_index, vectors.expandos.get("count")
    found = sorted(index[word] for word in set(wanted) if word in index)
    if not found:
        raise InputError(_nothing(path, wanted))
    words = [vectors.index_to_key[i] for i in found]
    rows = np.asarray(vectors.vectors[found], dtype=np.float32)
    return keyed(words, rows, None if counts is None else counts[found])


def split_blocks(vectors: KeyedVectors) -> Iterator[Block]:
    """The vocabulary of ``vectors`` as blocks, in index order."""
    step = max(1, FLOATS_PER_BLOCK // max(1, vectors.vector_size))
    for start in range(0, len(vectors), step):
        part = slice(start, start + step)
        yield vectors.index_to_key[part], np.asarray(vectors.vectors[part], dtype=np.float32)


def encode(text: str, path: Path) -> bytes:
    """UTF-8 for writing to ``path``; ``InputError`` for a half surrogate, as of broken words."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = repr(text[max(0, error.start - 20) : error.end + 20])
        reason = f"{shown} cannot be written as UTF-8 ({error.reason})"
        raise InputError(f"{path}: {reason}; rename or drop the word") from None


def _nothing(path: Path, wanted: Collection[str] | None) -> str:
    if wanted is None:
        return f"{path} holds no vectors"
    some = ", ".join(repr(word) for word in sorted(wanted)[:5])
    none = f"none of the {len(wanted)} words asked for is in it ({some})"
    return f"{path}: {none}; check its language, case and tokenisation"
