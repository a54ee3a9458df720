"""Word vectors in every common format, read and written as gensim ``KeyedVectors``.

The project's own format, *mapped*, is a folder that opens fast and whose matrix all processes
share: ``words.txt`` with a word a line, ``vectors.npy``, a float32 matrix with a row a word, and
``counts.npy``, if there, the words' corpus counts (int64).
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec
from numpy.typing import NDArray

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.paths import atomic_path
from biasbridge.files.text import require_written_archive
from biasbridge.files.vector_files import detect_format, detect_layout, is_number, locate_vectors
from biasbridge.files.vector_readers import (
    ASCII_SPACE,
    MAX_NUMBERED,
    OddRows,
    VectorBlock,
    check_blocks,
    checked,
    encode,
    gather,
    keyed,
    read_binary_blocks,
    read_fasttext,
    read_indexed,
    read_text_blocks,
    reading_notes,
    refuse_nonfinite,
    select_words,
    sound,
    split_blocks,
    with_matrix,
)

__all__ = [
    "WRITABLE",
    "checked",
    "detect_format",
    "keyed",
    "open_mapped",
    "read_vectors",
    "reading_notes",
    "require_writable",
    "save_mapped",
    "save_vectors",
    "with_matrix",
]
WRITABLE = ("word2vec_text", "word2vec_binary", "glove", "mapped")
_FORMATS = {
    ".txt": "word2vec_text",
    ".vec": "word2vec_text",
    ".glove": "glove",
    ".bin": "word2vec_binary",
    "": "mapped",
}
_BLOCK_READERS = {
    "word2vec_text": read_text_blocks,
    "glove": read_text_blocks,
    "word2vec_binary": read_binary_blocks,
}
_REWRITE = "write it again with save_mapped"


def read_vectors(path: str | Path, *, trusted: bool = False) -> KeyedVectors:
    """Read the word vectors of a file or folder, in the file's order.

    The content decides the format: word2vec text or binary, GloVe, fastText .vec or .bin (the
    latter gives ``FastTextKeyedVectors``), a mapped folder or the store's result folder with one,
    a folder of a matrix and the table of its words, ``package:NAME`` for such a folder in an
    installed package, or gensim's own pickle. Text and binary may be .gz, .bz2 or .xz, or the only
    file of a .zip. Zero vectors are allowed. Blank words and later rows of a repeated word are left
    out, and a header may be off by one row: ``reading_notes`` counts them. Of ConceptNet's concepts
    (``/c/en/word``, ``/c/es/palabra``) the English ones are read, without their prefix; of the
    sub-words of sentencepiece and BPE (``▁he``) those that are words.

    trusted: open gensim's own pickle, which can run code.

    Raises ``InputError`` with the file and the line or word if the file is missing, empty,
    truncated, in no known format, disagrees with its header, holds NaN, infinite or ragged rows, a
    word that is not UTF-8.
    """
    path = locate_vectors(path)
    layout = detect_layout(path)
    if layout.format in _BLOCK_READERS:
        odd = OddRows(path)
        blocks = _BLOCK_READERS[layout.format](layout, odd)
        return odd.note(select_words(gather(check_blocks(blocks, odd)), odd))
    if layout.format == "indexed":
        return read_indexed(path)
    if layout.format == "mapped":
        vectors = open_mapped(path)
    elif layout.format == "gensim":
        vectors = sound(_read_gensim(path, trusted), OddRows(path))
    else:
        vectors = read_fasttext(path)
    refuse_nonfinite(vectors.index_to_key, vectors.vectors, path)
    return vectors


def save_vectors(vectors: KeyedVectors, path: str | Path, *, format: str | None = None) -> None:
    """Write the vocabulary's vectors in index order; a reader sees the whole file or none.

    ``format`` is ``"word2vec_text"`` (with header), ``"word2vec_binary"``, ``"glove"`` (text
    without header) or ``"mapped"``; default: by suffix (.txt or .vec, .bin, .glove, each also as
    .gz; none for a mapped folder). Reading back gives the same float32 bits: text has the shortest
    decimals that do (at most 9 significant digits).

    Raises ``InputError`` for another format or suffix, for NaN or infinite values, and for words
    that the format cannot hold.
    """
    path = Path(path)
    form = require_writable(vectors.index_to_key, path, format)
    if form == "mapped":
        save_mapped(vectors, path)
        return
    encode_rows = _binary_rows if form == "word2vec_binary" else _text_rows
    with atomic_path(path) as work, ExitStack() as stack:
        out: IO[bytes] | gzip.GzipFile = stack.enter_context(work.open("wb"))
        if path.suffix == ".gz":  # without name and time, for reproducible bytes
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=out, mtime=0)
            out = stack.enter_context(packed)
        if form != "glove":
            out.write(f"{len(vectors)} {vectors.vector_size}\n".encode())
        for block in split_blocks(vectors, path):
            out.write(encode_rows(block, path))


def require_writable(words: Sequence[str], path: Path, format: str | None = None) -> str:
    """Return the format in which ``save_vectors`` writes; raise ``InputError`` for another format
    or suffix, and for words that it cannot hold.
    """
    require_written_archive(path)
    form = format or _format_of(path)
    if form not in WRITABLE:
        allowed = f"{', '.join(WRITABLE)}{nearest(form, WRITABLE)}"
        raise InputError(f"{path}: cannot write the format {form!r}; allowed are {allowed}")
    if form == "word2vec_binary":
        for word in words:
            if not word or " " in word or "\n" in word:
                raise InputError(
                    f"{path}: the word {word!r} is empty or holds a space or newline, which ends a"
                    " word in word2vec's binary format; rename it, or write a mapped folder"
                )
    elif form != "mapped":
        _require_text(words, path)
    return form


def save_mapped(vectors: KeyedVectors, folder: str | Path) -> None:
    """Write the vocabulary's vectors, and gensim's 'count' if set, as a new mapped folder.

    Raises ``InputError`` for a folder that exists and is not empty, for NaN or infinite values, and
    for words with a newline.
    """
    folder = Path(folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder} exists; give a new folder, or delete it first")
    words = vectors.index_to_key
    if split := next((word for word in words if "\n" in word), None):
        problem = f"the word {split!r} holds a newline, which ends a word in words.txt"
        raise InputError(f"{folder}: {problem}; rename or drop it")
    with atomic_path(folder) as work:
        work.mkdir()
        with (work / "words.txt").open("wb") as names, (work / "vectors.npy").open("wb") as matrix:
            shape = (len(words), vectors.vector_size)
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(matrix, header)
            for block_words, rows in split_blocks(vectors, folder):
                names.write(encode("".join(f"{word}\n" for word in block_words), folder))
                matrix.write(np.ascontiguousarray(rows, dtype="<f4").data)
        if (counts := vectors.expandos.get("count")) is not None:
            np.save(work / "counts.npy", np.asarray(counts, dtype="<i8"), allow_pickle=False)


def open_mapped(folder: str | Path) -> KeyedVectors:
    """Open a mapped folder; the matrix is read-only and stays on disk until used.

    Raises ``InputError`` if a file is missing or damaged or if words and rows do not match. Only
    ``read_vectors`` checks the values; those that this project wrote are finite.
    """
    folder = Path(folder)
    try:
        words = (folder / "words.txt").read_bytes().decode("utf-8").split("\n")
        matrix = _map(folder / "vectors.npy")
        counts = _map(folder / "counts.npy") if (folder / "counts.npy").exists() else None
    except Exception as error:  # numpy evaluates the header as Python, which may raise anything
        reason = f"{type(error).__name__}: {error}"
        damage = f"{folder} is not a mapped folder of vectors, or is damaged ({reason})"
        raise InputError(f"{damage}; {_REWRITE}") from error
    if words.pop() != "" or not words:
        raise InputError(f"{folder}: words.txt is cut, its last line has no end; {_REWRITE}")
    if counts is not None and counts.dtype.kind not in "iu":
        raise InputError(f"{folder}: counts.npy is {counts.dtype}; allowed are whole numbers")
    is_matrix = matrix.ndim == 2 and matrix.shape[1] > 0 and matrix.flags.c_contiguous
    if not is_matrix or matrix.dtype != np.float32:
        kind = f"vectors.npy is {matrix.dtype} of shape {matrix.shape}"
        raise InputError(f"{folder}: {kind}; allowed is a float32 matrix in C order")
    if len(words) != len(matrix) or (counts is not None and counts.shape != (len(words),)):
        rows = f"{len(words)} words, {len(matrix)} vectors"
        rows += "" if counts is None else f", counts of shape {counts.shape}"
        raise InputError(f"{folder}: its files do not match ({rows}); {_REWRITE}")
    vectors = keyed(words, matrix, counts)
    is_repeated = len(vectors.key_to_index) < len(words)
    return sound(vectors, OddRows(folder)) if is_repeated else vectors


def _read_gensim(path: Path, trusted: bool) -> KeyedVectors:
    if not trusted:
        raise InputError(
            f"{path} is a Python pickle (gensim's own format), which can run any code when opened."
            " Save it with save_word2vec_format. Or, if you know who wrote it, give --trusted"
            " (embedding.trusted=true in a run, words.trusted=true for words.neighbours,"
            " trusted=True in Python)"
        )
    try:
        loaded: object = KeyedVectors.load(str(path), mmap="r")
    except Exception as error:  # a pickle may raise anything
        reason = f"gensim cannot load it ({type(error).__name__}: {error})"
        raise InputError(f"{path}: {reason}; save it again with this gensim") from error
    vectors = loaded.wv if isinstance(loaded, Word2Vec) else loaded
    if not isinstance(vectors, KeyedVectors):
        problem = f"{path} holds a {type(vectors).__name__}, not word vectors"
        raise InputError(f"{problem}; save the model's .wv")
    return vectors


def _text_rows(block: VectorBlock, path: Path) -> bytes:
    import pyarrow as pa
    from pyarrow import compute

    words, rows = block
    numbers = compute.cast(pa.array(rows.ravel()), pa.string())
    offsets = pa.array(np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32))
    joined = compute.binary_join(pa.ListArray.from_arrays(offsets, numbers), " ")
    encode(" ".join(words), path)
    lines = compute.binary_join_element_wise(pa.array(words, pa.string()), joined, " ")
    return b"\n".join(line.as_buffer() for line in lines) + b"\n"


def _require_text(words: Sequence[str], path: Path) -> None:
    """Raise ``InputError`` for words that lines of text would not preserve."""
    numbered = 0
    for row, word in enumerate(words):
        is_edged = not word or word[0] in ASCII_SPACE or word[-1] in ASCII_SPACE or "\n" in word
        tokens = [] if word.isalnum() else word.encode("utf-8", "replace").split()[1:]
        numbered += (has_number := any(map(is_number, tokens)))
        if is_edged or (has_number and (not row or numbered > MAX_NUMBERED * len(words))):
            reason = f"the word {word!r} would be read as numbers in a text file"
            raise InputError(f"{path}: {reason}; rename it, or write a mapped folder")


def _binary_rows(block: VectorBlock, path: Path) -> bytes:
    words, rows = block
    values = np.ascontiguousarray(rows, dtype="<f4")
    names = (encode(word, path) for word in words)
    return b"".join(name + b" " + row.tobytes() for name, row in zip(names, values, strict=True))


def _format_of(path: Path) -> str:
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in _FORMATS or (path.suffix == ".gz" and not suffix):
        allowed = ", ".join(s for s in _FORMATS if s)
        remedy = f"allowed are {allowed}, each also as .gz, none for a mapped folder"
        raise InputError(f"{path}: no format has the suffix {path.suffix!r}; {remedy}")
    return _FORMATS[suffix]


def _map(path: Path) -> NDArray[Any]:
    """Map a ``.npy`` file read-only; numpy refuses Python objects: nothing is unpickled."""
    return np.lib.format.open_memmap(path, mode="r").view(np.ndarray)
