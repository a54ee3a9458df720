"""Word vectors in blocks, the form of all readers and checks: one block is in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from biasbridge.files.errors import InputError
from biasbridge.files.names import normalise_text
from biasbridge.stats.arrays import Singles

Counts = NDArray[np.int64]
Block = tuple[list[str], Singles]
"""n words and their vectors, float32 of shape (n, dim)."""

FLOATS_PER_BLOCK = 4_000_000
ASCII_SPACE = " \t\n\r\x0b\x0c"
BLANK, REPEATED = "blank, left out", "repeated, left out: the first row counts"
NUMBERED = "with a number after a space"


class OddRows:
    """What is odd in a file and does not cost it: words by kind, and a header off by one."""

    def __init__(self, path: Path) -> None:
        self.path, self.header, self.first_numbered = path, "", ""
        self.words: defaultdict[str, list[str]] = defaultdict(list)

    def select(self, words: Sequence[str], known: set[str]) -> list[int]:
        """Return the rows of words that are not blank and not in ``known``; add these to it."""
        selected = []
        for row, word in enumerate(words):
            if not word.strip(ASCII_SPACE):
                self.words[BLANK].append(word)
            elif word in known:
                self.words[REPEATED].append(word)
            else:
                known.add(word)
                selected.append(row)
        return selected

    def note(self, vectors: KeyedVectors) -> KeyedVectors:
        """Attach the lines of ``reading_notes`` to vectors; return them."""
        lines = [self.header] if self.header else []
        for kind, words in filter(itemgetter(1), self.words.items()):
            examples = ", ".join(map(repr, words[:3])) + ", ..." * (len(words) > 3)
            lines.append(f"{len(words)} word{'s' * (len(words) > 1)} {kind} ({examples})")
        vars(vectors)["reading_notes"] = [f"{self.path.name}: {line}" for line in lines]
        return vectors


def reading_notes(vectors: KeyedVectors) -> list[str]:
    """Return what was odd in the file of the vectors, a line for each kind."""
    return list(vars(vectors).get("reading_notes", ()))


class WordIndex(dict[str, int]):
    """Rows by word as a file spells it; other words are looked up in their normal form."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(zip(words, range(len(words)), strict=True))
        self._normal: dict[str, int] = {}
        for row, word in enumerate(words):
            is_plain = word.isascii() and word.isalnum()  # fast
            if not is_plain and (form := normalise_text(word)) != word:
                self._normal.setdefault(form, row)

    def __missing__(self, word: str) -> int:
        return self._normal[normalise_text(word)]

    def __contains__(self, word: object) -> bool:
        is_written = super().__contains__(word)
        return is_written or (bool(self._normal) and normalise_text(str(word)) in self._normal)

    def get(self, word: str, default: Any = None) -> Any:
        """Return the row of a word, or the default."""
        return self[word] if word in self else default  # noqa: SIM401 (is ``get``)


def check_blocks(blocks: Iterable[Block], odd: OddRows) -> Iterator[Block]:
    """Yield the blocks without odd rows.

    Raises ``InputError`` for a NaN or infinite value, and if no word is left.
    """
    known: set[str] = set()
    for words, rows in blocks:
        selected = odd.select(words, known)
        if len(selected) < len(words):
            words, rows = [words[i] for i in selected], rows[selected]
        refuse_nonfinite(words, rows, odd.path)
        if words:
            yield words, rows
    if not known:
        raise InputError(f"{odd.path} holds no vectors")


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
    vectors.key_to_index = WordIndex(words)
    vectors.vectors = matrix
    vectors.next_index = len(words)
    if counts is not None:
        vectors.expandos["count"] = counts
    return vectors


def with_matrix(vectors: KeyedVectors, matrix: Singles) -> KeyedVectors:
    """Return plain vectors with the words and counts of ``vectors`` and the rows of ``matrix``."""
    counts = vectors.expandos.get("count")
    return keyed(list(vectors.index_to_key), matrix, None if counts is None else np.array(counts))


def split_blocks(vectors: KeyedVectors, path: Path) -> Iterator[Block]:
    """Yield the vocabulary of ``vectors`` in blocks, in index order, to be written to ``path``.

    Raises ``InputError`` for a NaN or infinite value, and for no words.
    """
    step = max(1, FLOATS_PER_BLOCK // max(1, vectors.vector_size))
    for start in range(0, len(vectors), step):
        block = slice(start, start + step)
        words = vectors.index_to_key[block]
        rows = np.asarray(vectors.vectors[block], dtype=np.float32)
        refuse_nonfinite(words, rows, path)
        yield words, rows
    if not len(vectors):
        raise InputError(f"{path} holds no vectors")


def sound(vectors: KeyedVectors, odd: OddRows) -> KeyedVectors:
    """Return the vectors without blank and repeated words, noted in ``odd``."""
    words = vectors.index_to_key
    rows = odd.select(words, set())
    if len(rows) < len(words):
        counts = vectors.expandos.get("count")
        matrix = np.asarray(vectors.vectors[rows], dtype=np.float32)
        names = [words[row] for row in rows]
        vectors = keyed(names, matrix, None if counts is None else np.asarray(counts)[rows])
    return odd.note(vectors)


def checked(vectors: KeyedVectors, name: str) -> KeyedVectors:
    """Return vectors made in memory as those of a file are read, on the same matrix if possible.
    Raises ``InputError`` for a NaN or infinite value.
    """
    refuse_nonfinite(vectors.index_to_key, np.asarray(vectors.vectors), Path(name))
    return sound(with_matrix(vectors, vectors.vectors), OddRows(Path(name)))


def encode(text: str, path: Path) -> bytes:
    """Encode text for ``path``. Raises ``InputError`` for a half surrogate, as in broken words."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = repr(text[max(0, error.start - 20) : error.end + 20])
        reason = f"{shown} cannot be written as UTF-8 ({error.reason})"
        raise InputError(f"{path}: {reason}; rename or drop the word") from None
