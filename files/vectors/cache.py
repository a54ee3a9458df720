"""Files of vectors opened at once: converted the first time, mapped from then on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from files.atomic import atomic_path
from files.vectors.blocks import split_blocks
from files.vectors.detect import Layout, detect_layout
from files.vectors.mapped import open_mapped, write_folder
from files.vectors.read import Duplicates, read_vectors, stream_blocks

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

CACHE_LAYOUT = 1


def open_vectors(
    path: str | Path,
    *,
    cache: str | Path,
    vocab: Collection[str] | None = None,
    trusted: bool = False,
    duplicates: Duplicates = "refuse",
) -> KeyedVectors:
    """As ``read_vectors``, memory-mapped: the first call converts it into a folder under ``cache``.

    The folder's name is a hash of the file's resolved path, size, inode and times and of the
    options, so that a changed file is converted again. Two processes may convert at once: the first
    to finish wins. A fastText .bin gives its vocabulary's vectors, without n-grams. A mapped folder
    and a gensim pickle are opened where they are.
    """
    path = Path(path)
    layout = detect_layout(path)
    if layout.format in ("mapped", "gensim"):
        return read_vectors(path, vocab=vocab, trusted=trusted, duplicates=duplicates)
    folder = Path(cache) / _key(path, vocab, duplicates)
    if not folder.is_dir():
        try:
            with atomic_path(folder) as work:
                convert(path, layout, work, vocab, duplicates)
        except OSError:
            if not folder.is_dir():  # else another process was first
                raise
    return open_mapped(folder)


def convert(
    path: Path, layout: Layout, folder: Path, vocab: Collection[str] | None, duplicates: Duplicates
) -> None:
    """Write a file as a mapped folder; text and binary in the memory of one block."""
    blocks = stream_blocks(path, layout, vocab, duplicates)
    if blocks is not None:
        write_folder(blocks, folder)
    else:
        vectors = read_vectors(path, vocab=vocab)
        write_folder(split_blocks(vectors), folder, counts=vectors.expandos.get("count"))


def _key(path: Path, vocab: Collection[str] | None, duplicates: str) -> str:
    """The cache folder's name; it changes with the file and with what is read of it."""
    stat = path.stat()
    words = None if vocab is None else sorted(set(vocab))
    file = (str(path.resolve()), stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
    parts = json.dumps([CACHE_LAYOUT, *file, words, duplicates])
    return hashlib.sha256(parts.encode()).hexdigest()
