"""Word vectors in blocks, the form of all readers and checks: one block is in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from files.errors import InputError
from stats.arrays import Singles

Counts = NDArray[np.int64]
Block = tuple[list[str], Singles]
"""n words and their vectors, float32 of shape (n, dim)."""

FLOATS_PER_BLOCK = 4_000_000


def check_blocks(
    blocks: Iterable[Block], path: Path, *, vocab: Collection[str] | None = None
) -> Iterator[Block]:
    """Yield the blocks restricted to ``vocab`` (None: all words), checked.

    Raises ``InputError`` for a NaN or infinite value, for a repeated word, and if no word is left.
    """
    yielded: set[str] = set()
    for words, rows in blocks:
        selected = [i for i, word in enumerate(words) if vocab is None or word in vocab]
        if len(selected) < len(words):
            words, rows = [words[i] for i in selected], rows[selected]
        refuse_nonfinite(words, rows, path)
        for word in words:
            if word in yielded:
                problem = f"the word {word!r} comes twice"
                raise InputError(f"{path}: {problem}; delete one of its rows")
            yielded.add(word)
        if words:
            yield words, rows
    if not yielded:
        raise InputError(_no_vectors(path, vocab))


def refuse_nonfinite(words: list[str], rows: Singles, path: Path) -> None:
    """Raise ``InputError`` for the first word whose vector has a NaN or an infinite value."""
    step = max(1, FLOATS_PER_BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(words), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            word = words[start + int(np.argmin(finite.all(axis=1)))]
            problem = f"the vector of {word!r} holds a NaN or infinite value"
            raise InputError(f"{path}: {problem}; delete its row or train the vectors again")


def gather(blocks: Iterable[Block]) -> KeyedVectors:
    """Collect all blocks in one ``KeyedVectors``."""
    names: list[str] = []
    matrix = np.empty((0, 0), dtype=np.float32)
    for words, rows in blocks:
        start = len(names)
        names += words
        # Growing in place moves pages without copying: the peak stays near the matrix' size
        matrix.resize((len(names), rows.shape[1]), refcheck=False)
        matrix[start:] = rows
    return keyed(names, matrix)


def keyed(words: list[str], matrix: Singles, counts: Counts | None = None) -> KeyedVectors:
    """Wrap a float32 matrix (n, dim) without a copy; ``counts`` (n,) become gensim's 'count'."""
    vectors = KeyedVectors(matrix.shape[1])
    vectors.index_to_key = words
    vectors.key_to_index = {word: i for i, word in enumerate(words)}
    vectors.vectors = matrix
    vectors.next_index = len(words)
    if counts is not None:
        vectors.expandos["count"] = counts
    return vectors


def with_matrix(vectors: KeyedVectors, matrix: Singles) -> KeyedVectors:
    """Return plain vectors with the words and counts of ``vectors`` and the rows of ``matrix``."""
    counts = vectors.expandos.get("count")
    return keyed(list(vectors.index_to_key), matrix, None if counts is None else np.array(counts))


def select(vectors: KeyedVectors, vocab: Collection[str], path: Path) -> KeyedVectors:
    """Select the rows of ``vocab`` in order, with counts. Raises ``InputError`` for no rows."""
    index, counts = vectors.key_to_index, vectors.expandos.get("count")
    selected = sorted(index[word] for word in set(vocab) if word in index)
    if not selected:
        raise InputError(_no_vectors(path, vocab))
    words = [vectors.index_to_key[i] for i in selected]
    rows = np.asarray(vectors.vectors[selected], dtype=np.float32)
    return keyed(words, rows, None if counts is None else counts[selected])


def split_blocks(vectors: KeyedVectors) -> Iterator[Block]:
    """Yield the vocabulary of ``vectors`` in blocks, in index order."""
    step = max(1, FLOATS_PER_BLOCK // max(1, vectors.vector_size))
    for start in range(0, len(vectors), step):
        block = slice(start, start + step)
        yield vectors.index_to_key[block], np.asarray(vectors.vectors[block], dtype=np.float32)


def encode(text: str, path: Path) -> bytes:
    """Encode text for ``path``. Raises ``InputError`` for a half surrogate, as in broken words."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = repr(text[max(0, error.start - 20) : error.end + 20])
        reason = f"{shown} cannot be written as UTF-8 ({error.reason})"
        raise InputError(f"{path}: {reason}; rename or drop the word") from None


def _no_vectors(path: Path, vocab: Collection[str] | None) -> str:
    if vocab is None:
        return f"{path} holds no vectors"
    examples = ", ".join(repr(word) for word in sorted(vocab)[:5])
    problem = f"none of the {len(vocab)} requested words is in it ({examples})"
    return f"{path}: {problem}; check its language, case and tokenisation"
