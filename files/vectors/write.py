"""Writing of word vectors: word2vec text or binary, GloVe, also gzipped, or a mapped folder."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import compute

from biasbridge.files.atomic import atomic_path
from biasbridge.files.errors import InputError, nearest
from biasbridge.files.text import require_written_archive
from biasbridge.files.vectors.blocks import ASCII_SPACE, Block, encode, split_blocks
from biasbridge.files.vectors.detect import is_number
from biasbridge.files.vectors.mapped import save_mapped
from biasbridge.files.vectors.text import MAX_NUMBERED

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

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
    form = require_writable(vectors.index_to_key, path, format)
    if form == "mapped":
        save_mapped(vectors, path)
        return
    encode = _binary_rows if form == "word2vec_binary" else _text_rows
    with atomic_path(path) as work, _opened(work) as out:
        if form != "glove":
            out.write(f"{len(vectors)} {vectors.vector_size}\n".encode())
        for block in split_blocks(vectors, path):
            out.write(encode(block, path))


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


def _binary_rows(block: Block, path: Path) -> bytes:
    words, rows = block
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
