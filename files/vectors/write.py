"""Writing of word vectors: word2vec text or binary, GloVe, also gzipped, or a mapped folder."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import compute

from files.atomic import atomic_path
from files.errors import InputError, nearest
from files.text import require_written_archive
from files.vectors.blocks import Block, check_blocks, encode, split_blocks
from files.vectors.detect import is_number
from files.vectors.mapped import save_mapped

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ASCII_SPACE = " \t\n\r\x0b\x0c"
SUFFIXES = {
    ".txt": "word2vec_text",
    ".vec": "word2vec_text",
    ".glove": "glove",
    ".bin": "word2vec_binary",
    "": "mapped",
}
WRITABLE = ("word2vec_text", "word2vec_binary", "glove", "mapped")


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
    require_written_archive(path)
    form = format or _format_of(path)
    if form not in WRITABLE:
        allowed = f"{', '.join(WRITABLE)}{nearest(form, WRITABLE)}"
        raise InputError(f"{path}: cannot write the format {form!r}; allowed are {allowed}")
    if form == "mapped":
        save_mapped(vectors, path)
        return
    encode = _binary_rows if form == "word2vec_binary" else _text_rows
    with atomic_path(path) as work, _opened(work) as out:
        if form != "glove":
            out.write(f"{len(vectors)} {vectors.vector_size}\n".encode())
        for block in check_blocks(split_blocks(vectors), path):
            out.write(encode(block, path))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write; gzip without name and time, for reproducible bytes."""
    with path.open("wb") as plain:
        if path.suffix != ".gz":
            yield plain
            return
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=plain, mtime=0) as packed:
            yield packed  # type: ignore[misc]


def _text_rows(block: Block, path: Path) -> bytes:
    words, rows = block
    for word in words:
        _refuse_text(word, path)
    numbers = compute.cast(pa.array(rows.ravel()), pa.string())
    offsets = pa.array(np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32))
    joined = compute.binary_join(pa.ListArray.from_arrays(offsets, numbers), " ")
    encode(" ".join(words), path)
    lines = compute.binary_join_element_wise(pa.array(words, pa.string()), joined, " ")
    return b"\n".join(line.as_buffer() for line in lines) + b"\n"


def _refuse_text(word: str, path: Path) -> None:
    """Raise ``InputError`` for a word that a line of text would not preserve."""
    edge = not word or word[0] in ASCII_SPACE or word[-1] in ASCII_SPACE or "\n" in word
    if edge or any(is_number(token) for token in word.encode("utf-8", "replace").split()[1:]):
        reason = f"the word {word!r} would be read as numbers in a text file"
        raise InputError(f"{path}: {reason}; rename it, or write a mapped folder")


def _binary_rows(block: Block, path: Path) -> bytes:
    words, rows = block
    for word in words:
        if not word or " " in word or "\n" in word:
            raise InputError(
                f"{path}: the word {word!r} is empty or holds a space or newline, which ends a word"
                " in word2vec's binary format; rename it, or write a mapped folder"
            )
    values = np.ascontiguousarray(rows, dtype="<f4")
    names = (encode(word, path) for word in words)
    return b"".join(name + b" " + row.tobytes() for name, row in zip(names, values, strict=True))


def _format_of(path: Path) -> str:
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in SUFFIXES or (path.suffix == ".gz" and not suffix):
        allowed = ", ".join(s for s in SUFFIXES if s)
        remedy = f"allowed are {allowed}, each also as .gz, none for a mapped folder"
        raise InputError(f"{path}: no format has the suffix {path.suffix!r}; {remedy}")
    return SUFFIXES[suffix]
