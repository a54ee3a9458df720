"""Word vectors in every common format, read and written as gensim ``KeyedVectors``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from gensim.models import KeyedVectors

from files.atomic import atomic_path
from files.errors import InputError, nearest
from files.vectors_binary import binary_blocks
from files.vectors_blocks import Block, blocks_of, checked, gather, refuse_nonfinite, select
from files.vectors_detect import Layout, detect_format, detect_layout
from files.vectors_fasttext import read_fasttext
from files.vectors_mapped import open_mapped, save_mapped, write_folder
from files.vectors_text import text_blocks
from files.vectors_write import write_file

__all__ = [
    "detect_format",
    "open_mapped",
    "open_vectors",
    "read_vectors",
    "save_mapped",
    "save_vectors",
]

CACHE_LAYOUT = 1
SUFFIXES = {
    ".txt": "word2vec_text",
    ".vec": "word2vec_text",
    ".glove": "glove",
    ".bin": "word2vec_binary",
    "": "mapped",
}
WRITABLE = ("word2vec_text", "word2vec_binary", "glove", "mapped")
Duplicates = Literal["refuse", "first"]


def read_vectors(
    path: str | Path,
    *,
    vocab: Collection[str] | None = None,
    trusted: bool = False,
    duplicates: Duplicates = "refuse",
) -> KeyedVectors:
    """The word vectors of a file or mapped folder, in the file's order.

    The content tells the format: word2vec text or binary, GloVe, fastText .vec or .bin (the latter
    gives ``FastTextKeyedVectors``), a mapped folder, or gensim's own pickle, which can run code and
    is opened only with ``trusted=True``. Text and binary may be .gz, .bz2 or .xz.

    With ``vocab`` only those words are kept: the file is streamed, the memory is that of the rows
    found, other rows are not checked, and the result is a plain ``KeyedVectors`` in memory.
    ``duplicates="first"`` keeps the first vector of a word that comes twice. Zero vectors are
    legal.

    Raises ``InputError``, naming the file and the line or word, when the file is missing, empty,
    cut, in no known format, disagrees with its header, holds NaN, infinite or ragged rows, a word
    twice or a word that is not UTF-8, or when it has none of ``vocab``.
    """
    path = Path(path)
    layout = detect_layout(path)
    blocks = _streamed(path, layout, vocab, duplicates)
    if blocks is not None:
        return gather(blocks)
    if layout.format == "mapped":
        vectors = open_mapped(path)
    elif layout.format == "gensim":
        vectors = _read_gensim(path, trusted)
    else:
        vectors = read_fasttext(path, wanted=None if vocab is None else frozenset(vocab))
    if vocab is not None:
        vectors = select(vectors, vocab, path)
    if layout.format != "mapped":
        refuse_nonfinite(vectors.index_to_key, vectors.vectors, path)
    return vectors


def open_vectors(
    path: str | Path,
    *,
    cache: str | Path,
    vocab: Collection[str] | None = None,
    trusted: bool = False,
    duplicates: Duplicates = "refuse",
) -> KeyedVectors:
    """As ``read_vectors``, memory-mapped: the first call converts the file into a folder under
    ``cache``, later ones open that at once.

    The folder's name is a hash of the file's resolved path, size and time and of the options, so
    that a changed file is converted again. Two processes may convert at once: the first to finish
    wins. A fastText .bin gives its vocabulary's vectors, without n-grams. A mapped folder and a
    gensim pickle are opened where they are.
    """
    path = Path(path)
    layout = detect_layout(path)
    if layout.format in ("mapped", "gensim"):
        return read_vectors(path, vocab=vocab, trusted=trusted, duplicates=duplicates)
    folder = Path(cache) / _key(path, vocab, duplicates)
    if not folder.is_dir():
        try:
            with atomic_path(folder) as work:
                _convert(path, layout, work, vocab, duplicates)
        except OSError:
            if not folder.is_dir():  # else another process was first
                raise
    return open_mapped(folder)


def save_vectors(vectors: KeyedVectors, path: str | Path, *, format: str | None = None) -> None:
    """Write the vocabulary's vectors in index order; a reader sees the whole file or none.

    ``format`` is ``"word2vec_text"`` (with header), ``"word2vec_binary"``, ``"glove"`` (text
    without header) or ``"mapped"``; by default the suffix tells: .txt or .vec, .bin, .glove, or
    none for a mapped folder. Files also as .gz. Reading back gives the same float32 bits.

    Raises ``InputError`` for another format or suffix, for NaN or infinite values, and for words
    that the format cannot hold.
    """
    path = Path(path)
    form = format or _format_of(path)
    if form not in WRITABLE:
        raise InputError(
            f"{path}: cannot write the format {form!r}; allowed are"
            f" {', '.join(WRITABLE)}{nearest(form, WRITABLE)}"
        )
    if form == "mapped":
        save_mapped(vectors, path)
    else:
        write_file(vectors, path, form)


def _streamed(
    path: Path, layout: Layout, vocab: Collection[str] | None, duplicates: str
) -> Iterator[Block] | None:
    """The checked blocks of a text or word2vec binary file; None for the other formats."""
    if duplicates not in ("refuse", "first"):
        raise InputError(f"duplicates is {duplicates!r}; allowed are 'refuse' and 'first'")
    readers = {"word2vec_text": text_blocks, "glove": text_blocks, "word2vec_binary": binary_blocks}
    if layout.format not in readers:
        return None
    wanted = None if vocab is None else frozenset(vocab)
    return checked(
        readers[layout.format](path, layout, wanted=wanted),
        path,
        wanted=wanted,
        duplicates=duplicates,
    )


def _convert(
    path: Path, layout: Layout, folder: Path, vocab: Collection[str] | None, duplicates: Duplicates
) -> None:
    """Write a text, binary or fastText file as a mapped folder; the first two in the memory of one
    block.
    """
    blocks = _streamed(path, layout, vocab, duplicates)
    if blocks is not None:
        write_folder(blocks, folder)
    else:
        vectors = read_vectors(path, vocab=vocab)
        write_folder(blocks_of(vectors), folder, counts=vectors.expandos.get("count"))


def _key(path: Path, vocab: Collection[str] | None, duplicates: str) -> str:
    """The cache folder's name; it changes with the file and with what is read of it."""
    stat = path.stat()
    parts = [
        CACHE_LAYOUT,
        str(path.resolve()),
        stat.st_size,
        stat.st_mtime_ns,
        None if vocab is None else sorted(set(vocab)),
        duplicates,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _read_gensim(path: Path, trusted: bool) -> KeyedVectors:
    """Vectors that gensim saved, alone or inside a model."""
    if not trusted:
        raise InputError(
            f"{path} is a Python pickle (gensim's own format), which can run any code when opened; "
            "pass trusted=True if you know who wrote it, or save it with save_word2vec_format"
        )
    try:
        vectors = KeyedVectors.load(str(path), mmap="r")
    except Exception as error:  # a pickle may raise anything
        raise InputError(
            f"{path}: gensim cannot load it ({type(error).__name__}: {error}); save it again with"
            " this gensim"
        ) from error
    vectors = getattr(vectors, "wv", vectors)
    if not isinstance(vectors, KeyedVectors):
        raise InputError(
            f"{path} holds a {type(vectors).__name__}, not word vectors; save the model's .wv"
        )
    return vectors


def _format_of(path: Path) -> str:
    """The format that the suffix names, a last .gz left aside."""
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in SUFFIXES or (path.suffix == ".gz" and not suffix):
        allowed = ", ".join(s for s in SUFFIXES if s)
        raise InputError(
            f"{path}: no format has the suffix {path.suffix!r}; allowed are {allowed}, each also as"
            " .gz, none for a mapped folder"
        )
    return SUFFIXES[suffix]
