"""fastText's own .bin models: words and character n-grams, as gensim's ``FastTextKeyedVectors``."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from gensim.models.fasttext import FastTextKeyedVectors

from biasbridge.files.errors import InputError
from biasbridge.files.text import OPENERS, open_binary, open_plain
from biasbridge.files.vectors.blocks import OddRows, WordIndex

if TYPE_CHECKING:
    from biasbridge.files.vectors.blocks import Counts
    from biasbridge.stats.arrays import Singles

HEADER = struct.Struct("<14id3i2q")  # magic, version, 12 arguments, t, then the dictionary's sizes
ENTRY = struct.Struct("<qb")  # count and type, after each word and its zero byte
MATRIX = struct.Struct("<?2q")  # quantised, rows, columns
# Largest max_n: a word has up to max_n n-grams per character; fastText's default is 6.
LONGEST_NGRAM = 50
LONGEST_WORD = 10_000


def read_fasttext(path: Path) -> FastTextKeyedVectors:
    """Read input vectors, n-grams and counts of an unsupervised fastText model.

    A word's vector is the mean of its own and its n-grams' vectors, as in fastText and gensim.
    Bytes that are not UTF-8 become ``\\xNN``. gensim's own loader never returns on a file truncated
    within its words; this one raises ``InputError``, as for supervised and quantised models.
    """
    try:
        buffer = _bytes(path)
        sizes: tuple[int, ...] = HEADER.unpack_from(buffer)
        _, _, dim, *_, bucket, min_n, max_n, _, _, entries, n_words, n_labels, _, pruned = sizes
        if n_labels or pruned > 0:
            raise InputError(
                f"{path} is a supervised or quantised fastText model; give a .bin trained with"
                " skipgram or cbow"
            )
        if dim < 1 or min(bucket, min_n, max_n) < 0 or n_words < 1 or entries != n_words:
            raise ValueError("no model has these sizes")
        if max_n > LONGEST_NGRAM:
            problem = f"n-grams of up to {max_n} characters (maxn), allowed are {LONGEST_NGRAM}"
            raise InputError(f"{path} has {problem}; train it again with fewer")
        words, counts, position = _words(buffer, entries)
        shape: tuple[bool, int, int] = MATRIX.unpack_from(buffer, position)
        quantised, rows, columns = shape
        if quantised:
            raise InputError(f"{path} is a quantised fastText model; give the original .bin")
        if (rows, columns) != (n_words + bucket, dim):
            raise ValueError("its parts do not fit together")
        matrix = np.frombuffer(
            buffer, dtype="<f4", count=rows * columns, offset=position + MATRIX.size
        ).reshape(rows, columns)
        if not np.isfinite([matrix.min(), matrix.max()]).all():
            raise ValueError("it holds NaN or infinite values")
    except (struct.error, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        problem = f"the fastText model is cut or damaged ({error})"
        raise InputError(f"{path}: {problem}; copy it again") from error
    odd = OddRows(path)
    selected = odd.select(words, set())
    vectors = _build(words, counts, matrix, selected, bucket=bucket, min_n=min_n, max_n=max_n)
    odd.note(vectors)
    return vectors


def _bytes(path: Path) -> bytes | mmap.mmap:
    """Map the bytes of a file, or unpack a compressed one in memory."""
    if path.suffix in OPENERS:
        with open_binary(path) as unpacked:
            return unpacked.read()
    with open_plain(path) as raw:
        return mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)


def _words(buffer: bytes | mmap.mmap, entries: int) -> tuple[list[str], Counts, int]:
    """Read the words, their counts and the position after them."""
    words: list[str] = []
    counts: list[int] = []
    position = HEADER.size
    for _ in range(entries):
        end = buffer.find(b"\0", position, position + LONGEST_WORD)
        if end < 0:
            raise ValueError(f"a word without an end within {LONGEST_WORD:,} bytes")
        words.append(buffer[position:end].decode("utf-8", "backslashreplace"))
        counts.append(ENTRY.unpack_from(buffer, end + 1)[0])
        position = end + 1 + ENTRY.size
    return words, np.array(counts, dtype=np.int64), position


def _build(
    words: list[str],
    counts: Counts,
    matrix: Singles,
    selected: list[int],
    *,
    bucket: int,
    min_n: int,
    max_n: int,
) -> FastTextKeyedVectors:
    """Build the vectors of the selected words; the n-grams' rows follow the words'."""
    vectors = FastTextKeyedVectors(matrix.shape[1], min_n, max_n, bucket)
    vectors.index_to_key = [words[i] for i in selected]
    vectors.key_to_index = WordIndex(vectors.index_to_key)
    vectors.next_index = len(selected)
    vectors.expandos["count"] = counts[selected]
    vectors.vectors_vocab = matrix[: len(words)][selected]
    vectors.vectors_ngrams = np.array(matrix[len(words) :])
    vectors.recalc_char_ngram_buckets()
    with np.errstate(over="ignore"):  # an infinite mean is refused by name later
        vectors.adjust_vectors()
    return vectors
