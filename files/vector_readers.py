"""Readers of word vectors by format: text, word2vec's binary one, fastText's models, installed
matrices.

Vectors come in blocks, of which one is in memory at a time, are checked, and become gensim's
``KeyedVectors``.
"""

from __future__ import annotations

import mmap
import struct
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from gensim.models.fasttext import FastTextKeyedVectors
from numpy.typing import NDArray

from biasbridge.files.errors import InputError
from biasbridge.files.language import normalise_text
from biasbridge.files.text import OPENERS, open_binary, open_plain
from biasbridge.files.vector_files import VectorLayout, indexed_files, is_number
from biasbridge.stats.arrays import Singles

Counts = NDArray[np.int64]
VectorBlock = tuple[list[str], Singles]
"""n words and their vectors, float32 of shape (n, dim)."""
_FLOATS_PER_BLOCK = 4_000_000
TEXT_CHUNK, BINARY_CHUNK = 32 << 20, 16 << 20  # bytes read at a time
ASCII_SPACE = " \t\n\r\x0b\x0c"
MAX_NUMBERED = 0.05  # share of words with numbers; above it the dimension is wrong
_LONGEST_WORD = 10_000  # bytes, in binary files; beyond it they are damaged
_UNEVEN = (b"  ", b"\t", b"\r", b"\x0b", b"\x0c")  # absent from rows separated by single spaces
_MIN_MARKED = 0.1  # share of words with the mark of a word, from which the others are pieces
_CONCEPT, _ENGLISH = "/c/", "/c/en/"  # of ConceptNet
_PIECES = "pieces"
_WORD_MARKS = (  # before and after a word, and what rows without them are
    *((_ENGLISH, "", "other languages"), ("▁", "", _PIECES), ("Ġ", "", _PIECES)),
    ("", "</w>", _PIECES),
)
_BLANK, _REPEATED = "blank, left out", "repeated; the first row counts, later ones are left out"
_NUMBERED = "with a number after a space"
# Of fastText's models: magic, version, 12 arguments, t, the dictionary's sizes; count and type of
# each word, after its zero byte; of the matrix whether it is quantised, its rows and columns
_FASTTEXT_HEADER = struct.Struct("<14id3i2q")
_FASTTEXT_WORD = struct.Struct("<qb")
_FASTTEXT_MATRIX = struct.Struct("<?2q")


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
                self.words[_BLANK].append(word)
            elif word in known:
                self.words[_REPEATED].append(word)
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


class _WordIndex(dict[str, int]):
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


def check_blocks(blocks: Iterable[VectorBlock], odd: OddRows) -> Iterator[VectorBlock]:
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
    step = max(1, _FLOATS_PER_BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(words), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            word = words[start + int(np.argmin(finite.all(axis=1)))]
            problem = f"the vector of {word!r} holds a NaN or infinite value"
            raise InputError(f"{path}: {problem}; delete its row or train the vectors again")


def select_words(vectors: KeyedVectors, odd: OddRows) -> KeyedVectors:
    """Return the words of a vocabulary of concepts or sub-words, without the mark of a word; other
    vectors unchanged.

    Marks are those of ConceptNet's English concepts, of sentencepiece (``▁he``), of byte-level BPE
    (``Ġhe``) and of BPE (``he</w>``). A row without the mark is a piece.
    """
    keys = vectors.index_to_key
    for before, after, others in _WORD_MARKS:
        size = len(before + after)
        rows = [n for n, key in enumerate(keys) if key.startswith(before) and key.endswith(after)]
        rows = [n for n in rows if len(keys[n]) > size]
        is_concept = before == _ENGLISH and all(key.startswith(_CONCEPT) for key in keys)
        if rows and (is_concept or (before != _ENGLISH and len(rows) >= _MIN_MARKED * len(keys))):
            words = [keys[n].removeprefix(before).removesuffix(after) for n in rows]
            mark = f"the prefix {before}" if before else f"the ending {after}"
            odd.words[f"with {mark} are read without it; {others} are left out"] = words
            return _take_rows(vectors, rows, words)
    return vectors


def _take_rows(vectors: KeyedVectors, rows: Any, words: list[str]) -> KeyedVectors:
    """Return vectors of some rows, with these words and their counts."""
    counts = vectors.expandos.get("count")
    matrix = np.asarray(vectors.vectors[rows], dtype=np.float32)
    return keyed(words, matrix, None if counts is None else np.asarray(counts)[rows])


def gather(blocks: Iterable[VectorBlock]) -> KeyedVectors:
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
    """Wrap a float32 matrix (n, dim) without a copy; ``counts`` (n,) become gensim's 'count'.

    Keys of other kinds become words: bytes are decoded, a missing key is blank.
    """
    if not all(isinstance(word, str) for word in words):
        words = list(map(_key_as_word, words))
    vectors = KeyedVectors(matrix.shape[1])
    vectors.index_to_key = words
    vectors.key_to_index = _WordIndex(words)
    vectors.vectors = matrix
    vectors.next_index = len(words)
    if counts is not None:
        vectors.expandos["count"] = counts
    return vectors


def with_matrix(vectors: KeyedVectors, matrix: Singles) -> KeyedVectors:
    """Return plain vectors with the words and counts of ``vectors`` and the rows of ``matrix``."""
    counts = vectors.expandos.get("count")
    return keyed(list(vectors.index_to_key), matrix, None if counts is None else np.array(counts))


def split_blocks(vectors: KeyedVectors, path: Path) -> Iterator[VectorBlock]:
    """Yield the vocabulary of ``vectors`` in blocks, in index order, to be written to ``path``.

    Raises ``InputError`` for a NaN or infinite value, and for no words.
    """
    step = max(1, _FLOATS_PER_BLOCK // max(1, vectors.vector_size))
    for start in range(0, len(vectors), step):
        block = slice(start, start + step)
        words = vectors.index_to_key[block]
        rows = np.asarray(vectors.vectors[block], dtype=np.float32)
        refuse_nonfinite(words, rows, path)
        yield words, rows
    if not len(vectors):
        raise InputError(f"{path} holds no vectors")


def sound(vectors: KeyedVectors, odd: OddRows) -> KeyedVectors:
    """Return the vectors without blank and repeated words, noted in ``odd``, as words."""
    if not all(isinstance(key, str) for key in vectors.index_to_key):
        vectors = with_matrix(vectors, vectors.vectors)
    words = vectors.index_to_key
    rows = odd.select(words, set())
    if len(rows) < len(words):
        vectors = _take_rows(vectors, rows, [words[row] for row in rows])
    return odd.note(select_words(vectors, odd))


def _key_as_word(key: Any) -> str:
    """Return a key of gensim as a word: NaN and None, which fill free rows, are blank."""
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    return "" if key is None or key != key else str(key)


def checked(vectors: KeyedVectors, name: str) -> KeyedVectors:
    """Return vectors made in memory as those of a file are read, on the same matrix if possible.
    Raises ``InputError`` for a NaN or infinite value.
    """
    plain = with_matrix(vectors, vectors.vectors)
    refuse_nonfinite(plain.index_to_key, np.asarray(plain.vectors), Path(name))
    return sound(plain, OddRows(Path(name)))


def encode(text: str, path: Path) -> bytes:
    """Encode text for ``path``. Raises ``InputError`` for a half surrogate, as in broken words."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = repr(text[max(0, error.start - 20) : error.end + 20])
        reason = f"{shown} cannot be written as UTF-8 ({error.reason})"
        raise InputError(f"{path}: {reason}; rename or drop the word") from None


def read_text_blocks(layout: VectorLayout, odd: OddRows) -> Iterator[VectorBlock]:
    """Yield the rows of a text file (word2vec, GloVe, fastText .vec) in blocks, numbers as the
    nearest float32.

    A row is a word and ``layout.dim`` numbers separated by spaces or tabs; the word is everything
    before the last ``dim`` numbers. Few words may hold numbers (``windows 10``). Blank lines are
    skipped. Raises ``InputError`` with the line.
    """
    number, n_rows = 1, 0
    with open_binary(odd.path) as raw:
        if layout.count is not None:
            raw.readline()
            number = 2
        while chunk := raw.read(TEXT_CHUNK):
            chunk += raw.readline()
            chunk = chunk.removeprefix(BOM_UTF8) if number == 1 else chunk
            lines = [(i, line) for i, line in enumerate(chunk.split(b"\n"), number) if line.strip()]
            number += chunk.count(b"\n")
            n_rows += len(lines)
            if lines:
                is_uneven = any(mark in chunk for mark in _UNEVEN)
                yield _read_rows(lines, layout, odd, is_uneven)
    if len(odd.words[_NUMBERED]) > MAX_NUMBERED * n_rows:
        raise InputError(odd.first_numbered)
    if layout.count not in (None, n_rows):
        odd.header = f"the header says {layout.count} rows, the file has {n_rows}"
        if abs(n_rows - (layout.count or 0)) > 1:
            raise InputError(
                f"{odd.path}: {odd.header}. Either the file is cut (copy it again), or its header"
                f" is wrong (write '{n_rows} {layout.dim}' on its first line)"
            )


def read_binary_blocks(layout: VectorLayout, odd: OddRows) -> Iterator[VectorBlock]:
    """Yield the rows of a word2vec binary file in blocks: ``COUNT DIM``, then of each row the word,
    a space and DIM little-endian float32.

    The newline that word2vec's own tool writes after each row is optional, and the header may be
    off by one row. Raises ``InputError`` if the file ends early, continues after its last row, or
    holds a word that is not UTF-8.
    """
    path, count, dim, size = odd.path, layout.count or 0, layout.dim, 4 * layout.dim
    buffer, start, n_rows = b"", 0, 0
    words: list[bytes] = []
    rows: list[bytes] = []
    with open_binary(path) as raw:
        raw.readline()
        while n_rows <= count:
            end = buffer.find(b" ", start)
            if end < 0 or end + 1 + size > len(buffer):
                yield _binary_block(words, rows, dim, path)
                words, rows = [], []
                buffer, start = buffer[start:] + raw.read(BINARY_CHUNK), 0
                end = buffer.find(b" ", 0, _LONGEST_WORD)
                if end < 0 or end + 1 + size > len(buffer):
                    break
            words.append(buffer[start:end].lstrip(b"\n"))
            start = end + 1 + size
            rows.append(buffer[end + 1 : start])
            n_rows += 1
        yield _binary_block(words, rows, dim, path)
        has_rest = bool((buffer[start:] + raw.read(1)).strip())
    if n_rows < count - (not has_rest) or not n_rows:
        raise InputError(
            f"{path}: ends or is damaged at row {n_rows + 1} of the {count} rows of dimension"
            f" {dim} that its header promises; copy it again, or correct the header"
        )
    if has_rest:
        raise InputError(
            f"{path}: continues after the {count} rows of dimension {dim} that its header promises;"
            " correct the header"
        )
    if n_rows != count:
        odd.header = f"the header says {count} rows, the file has {n_rows}"


def read_fasttext(path: Path) -> FastTextKeyedVectors:
    """Read input vectors, n-grams and counts of an unsupervised fastText model.

    A word's vector is the mean of its own and its n-grams' vectors, as in fastText and gensim.
    Bytes that are not UTF-8 become ``\\xNN``. gensim's own loader never returns on a file truncated
    within its words; this one raises ``InputError``, as for supervised and quantised models.
    """
    try:
        buffer: bytes | mmap.mmap
        if path.suffix in OPENERS:
            with open_binary(path) as unpacked:
                buffer = unpacked.read()
        else:
            with open_plain(path) as raw:
                buffer = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
        sizes: tuple[int, ...] = _FASTTEXT_HEADER.unpack_from(buffer)
        _, _, dim, *_, bucket, min_n, max_n, _, _, entries, n_words, n_labels, _, pruned = sizes
        if n_labels or pruned > 0:
            raise InputError(
                f"{path} is a supervised or quantised fastText model; give a .bin trained with"
                " skipgram or cbow"
            )
        if dim < 1 or min(bucket, min_n, max_n) < 0 or n_words < 1 or entries != n_words:
            raise ValueError("no model has these sizes")
        words, counts, position = _fasttext_words(buffer, entries)
        shape: tuple[bool, int, int] = _FASTTEXT_MATRIX.unpack_from(buffer, position)
        quantised, rows, columns = shape
        if quantised:
            raise InputError(f"{path} is a quantised fastText model; give the original .bin")
        if (rows, columns) != (n_words + bucket, dim):
            raise ValueError("its parts do not fit together")
        matrix = np.frombuffer(
            buffer, dtype="<f4", count=rows * columns, offset=position + _FASTTEXT_MATRIX.size
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
    vectors = FastTextKeyedVectors(dim, min_n, max_n, bucket)
    vectors.index_to_key = [words[i] for i in selected]
    vectors.key_to_index = _WordIndex(vectors.index_to_key)
    vectors.next_index = len(selected)
    vectors.expandos["count"] = counts[selected]
    vectors.vectors_vocab = matrix[:n_words][selected]
    vectors.vectors_ngrams = np.array(matrix[n_words:])
    vectors.recalc_char_ngram_buckets()
    with np.errstate(over="ignore"):  # an infinite mean is refused by name later
        vectors.adjust_vectors()
    odd.note(vectors)
    return vectors


def read_indexed(folder: Path) -> KeyedVectors:
    """Read the vectors of a folder; the table's only column of text holds the word of each row.
    Raises ``InputError`` if matrix and table do not match.
    """
    matrix_file, index_file = indexed_files(folder)
    try:
        index = pd.read_parquet(index_file)
        matrix = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{folder} holds damaged vectors: {error}; install it again") from None
    columns = [column.tolist() for _, column in index.items()]
    texts = [column for column in columns if all(isinstance(cell, str) for cell in column)]
    if len(texts) != 1:
        problem = f"{index_file} has {len(texts)} columns of text"
        raise InputError(f"{problem}; it needs one, of words")
    [words] = texts
    if matrix.ndim != 2 or len(matrix) != len(words):
        shape = " x ".join(map(str, matrix.shape))
        raise InputError(f"{matrix_file} is {shape}, and {index_file.name} has {len(words)} words")
    odd = OddRows(index_file)
    rows = odd.select(words, set())
    if not np.isfinite(matrix[rows]).all():
        raise InputError(f"{matrix_file} has numbers that are not finite")
    names = [words[row] for row in rows]
    return odd.note(keyed(names, np.asarray(matrix[rows], dtype=np.float32)))


def _read_rows(
    lines: list[tuple[int, bytes]], layout: VectorLayout, odd: OddRows, is_uneven: bool
) -> VectorBlock:
    """Read numbered lines of text."""
    words, rows = [], []
    for number, line in lines:
        word, _, numbers = line.strip(b" ").partition(b" ")
        if is_uneven or not numbers or numbers.count(b" ") != layout.dim - 1:
            word, numbers = _split(number, line, layout, odd)
        words.append(_decode(number, word, odd.path))
        rows.append(numbers)
    return words, _parse([number for number, _ in lines], rows, layout.dim, odd.path)


def _split(number: int, line: bytes, layout: VectorLayout, odd: OddRows) -> tuple[bytes, bytes]:
    """Split a line into its word, which may be blank or have spaces, and its numbers with single
    spaces.
    """
    word, *numbers = line.rsplit(None, layout.dim)
    if line[:1].isspace() and len(numbers) == layout.dim - 1:
        return b"", b" ".join([word, *numbers])
    tokens = word.split()
    has_number = any(map(is_number, tokens[1:]))
    if len(numbers) < layout.dim or not tokens or has_number:
        n_fields = len(line.split()) - 1
        source = "the first line" if layout.count is None else "the header"
        problem = (
            f"{odd.path}: line {number} has {n_fields} fields after its word, where {source} says"
            f" {layout.dim}. If it is the last line, the file is cut: copy it again. If it is the"
            " first row, the header is wrong: correct it"
        )
        is_first_row = number == (1 if layout.count is None else 2)
        if not has_number or is_first_row:
            raise InputError(problem)
        odd.first_numbered = odd.first_numbered or problem
        odd.words[_NUMBERED].append(_decode(number, word, odd.path))
    return word.lstrip(), b" ".join(numbers)


def _decode(number: int, word: bytes, path: Path) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = word.decode("utf-8", "backslashreplace")
        problem = f"line {number}: the word '{shown}' is not UTF-8 ({error.reason})"
        raise InputError(f"{path}: {problem}; convert the file with iconv") from None


def _parse(line_numbers: list[int], rows: list[bytes], dim: int, path: Path) -> Singles:
    """Parse the numbers of each row, float32 (rows, dim)."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(i) for i in range(dim)]
    try:
        table = csv.read_csv(
            pa.BufferReader(b"\n".join(rows)),
            csv.ReadOptions(column_names=names, block_size=max(4 << 20, 64 * dim)),
            csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.float32()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        for number, row in zip(line_numbers, rows, strict=True):
            if invalid := [token for token in row.split(b" ") if not is_number(token)]:
                token = invalid[0].decode("utf-8", "backslashreplace")
                reason = f"line {number}: {token!r} is not a number"
                raise InputError(f"{path}: {reason}; correct or delete the line") from None
        raise InputError(f"{path}: its numbers cannot be read ({error})") from None
    matrix = np.empty((table.num_rows, dim), dtype=np.float32)
    for column in range(dim):
        matrix[:, column] = table.column(column).to_numpy()
    return matrix


def _binary_block(words: list[bytes], rows: list[bytes], dim: int, path: Path) -> VectorBlock:
    matrix = np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, dim)
    try:
        return [word.decode("utf-8") for word in words], matrix
    except UnicodeDecodeError as error:
        shown = error.object.decode("utf-8", "backslashreplace")
        raise InputError(
            f"{path}: the word '{shown}' is not UTF-8. The file is damaged, its header gives the"
            " wrong dimension, or its words were truncated. Load it with gensim's"
            " unicode_errors='replace', and save it again"
        ) from None


def _fasttext_words(buffer: bytes | mmap.mmap, entries: int) -> tuple[list[str], Counts, int]:
    """Read the words, their counts and the position after them."""
    words: list[str] = []
    counts: list[int] = []
    position = _FASTTEXT_HEADER.size
    for _ in range(entries):
        end = buffer.find(b"\0", position, position + _LONGEST_WORD)
        if end < 0:
            raise ValueError(f"a word without an end within {_LONGEST_WORD:,} bytes")
        words.append(buffer[position:end].decode("utf-8", "backslashreplace"))
        counts.append(_FASTTEXT_WORD.unpack_from(buffer, end + 1)[0])
        position = end + 1 + _FASTTEXT_WORD.size
    return words, np.array(counts, dtype=np.int64), position
