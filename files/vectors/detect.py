"""The format of a file of word vectors, found from its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from files.errors import InputError
from files.text import open_binary
from files.vector_files import indexed_files, locate_vectors

FORMATS = (
    *("word2vec_text", "glove", "word2vec_binary", "mapped", "indexed", "fasttext_binary"),
    "gensim",
)
FASTTEXT_MAGIC = b"\xba\x16\x4f\x2f"  # int32 793712314, little-endian
SAMPLE = 1 << 20
MAX_DIM = 50_000
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(\d{1,15})[ \t]+(\d{1,15})[ \t\r]*")
NUMBER = re.compile(rb"(?i)[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf|infinity)")
NUMBERISH = re.compile(rb"[0-9.,eE+-]+")
FOREIGN = {
    b"\x1f\x8b": "is gzip-compressed: give it the suffix .gz",
    b"BZh": "is bzip2-compressed: give it the suffix .bz2",
    b"\xfd7zXZ": "is xz-compressed: give it the suffix .xz",
    b"PK\x03\x04": "is a zip archive: unpack it and give the file inside",
    b"\x93NUMPY": "is a bare matrix without words: give the folder that holds it beside words.txt",
    b"\x89HDF": "is an HDF5 file: export its vectors as word2vec text",
}


@dataclass(frozen=True)
class Layout:
    """A format of ``FORMATS``; of text and binary also the dimension, and the rows of a header."""

    format: str
    dim: int = 0
    count: int | None = None


def detect_format(path: str | Path) -> str:
    """The format in ``FORMATS`` of ``path``. Raises ``InputError`` when it holds no vectors."""
    return detect_layout(locate_vectors(path)).format


def detect_layout(path: Path) -> Layout:
    """As ``detect_format``, with the shape that the first lines give."""
    if path.is_dir():
        if (path / "words.txt").is_file() and (path / "vectors.npy").is_file():
            return Layout("mapped")
        if indexed_files(path):
            return Layout("indexed")
        raise InputError(
            f"{path} is a folder without words.txt and vectors.npy; give a file of vectors or a"
            " folder that save_mapped wrote"
        )
    sample = _sample(path)
    if not sample:
        raise InputError(f"{path} is empty")
    for magic, remedy in FOREIGN.items():
        if sample.startswith(magic):
            raise InputError(f"{path} {remedy}")
    if sample.startswith(FASTTEXT_MAGIC):
        return Layout("fasttext_binary")
    if sample[0] == 0x80 and sample[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Layout("gensim")
    first, _, rest = sample.partition(b"\n")
    header = HEADER.fullmatch(first)
    if header:
        return _with_header(path, int(header[1]), int(header[2]), rest)
    return _without_header(path, first)


def is_number(token: bytes) -> bool:
    """Whether the token spells a float, NaN and infinity included."""
    return NUMBER.fullmatch(token) is not None


def _sample(path: Path) -> bytes:
    with open_binary(path) as raw:
        return raw.read(SAMPLE)


def _with_header(path: Path, count: int, dim: int, rest: bytes) -> Layout:
    if not count or not 0 < dim <= MAX_DIM:
        promised = f"the header promises {count} vectors of dimension {dim}"
        allowed = f"allowed are 1 or more, of dimension 1 to {MAX_DIM}"
        raise InputError(f"{path}: {promised}; {allowed}")
    row = rest.partition(b"\n")[0]
    # A text row ends in dim numbers; a broken one is still mostly what looks like numbers, which
    # raw float32 is not.
    tokens = row.split()[1:]
    numberish = sum(NUMBERISH.fullmatch(token) is not None for token in tokens)
    text = _trailing_numbers(row) == dim or 0 < len(tokens) <= 2 * numberish
    return Layout("word2vec_text" if text else "word2vec_binary", dim, count)


def _without_header(path: Path, first: bytes) -> Layout:
    dim = _trailing_numbers(first)
    if not 0 < dim <= MAX_DIM:
        start = first[:40].decode("utf-8", "backslashreplace")
        raise InputError(
            f"{path} holds no word vectors: line 1 starts '{start}', not with a word and its"
            " numbers nor with 'COUNT DIMENSION'"
        )
    return Layout("glove", dim)


def _trailing_numbers(row: bytes) -> int:
    """How many numbers end the row, its first token aside: the dimension."""
    backwards = row.split()[:0:-1]
    return next((n for n, token in enumerate(backwards) if not is_number(token)), len(backwards))
