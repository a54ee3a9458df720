"""word2vec's binary format: ``COUNT DIM``, then rows: word, space, DIM little-endian float32."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from biasbridge.files.errors import InputError
from biasbridge.files.text import open_binary

if TYPE_CHECKING:
    from biasbridge.files.vectors.blocks import Block, OddRows
    from biasbridge.files.vectors.detect import Layout

CHUNK = 16 << 20
LONGEST_WORD = 10_000


def read_binary_blocks(path: Path, layout: Layout, odd: OddRows) -> Iterator[Block]:
    """Yield the rows of a word2vec binary file in blocks.

    The newline that word2vec's own tool writes after each row is optional, and the header may be
    off by one row. Raises ``InputError`` if the file ends early, continues after its last row, or
    holds a word that is not UTF-8.
    """
    with open_binary(path) as raw:
        raw.readline()
        yield from _blocks(path, raw, layout, odd)


def _blocks(path: Path, raw: IO[bytes], layout: Layout, odd: OddRows) -> Iterator[Block]:
    count, dim, size = layout.count or 0, layout.dim, 4 * layout.dim
    buffer, start = b"", 0
    words: list[bytes] = []
    rows: list[bytes] = []
    n_rows = 0
    while n_rows <= count:
        end = buffer.find(b" ", start)
        if end < 0 or end + 1 + size > len(buffer):
            yield _block(path, words, rows, dim)
            words, rows = [], []
            buffer, start = buffer[start:] + raw.read(CHUNK), 0
            end = buffer.find(b" ", 0, LONGEST_WORD)
            if end < 0 or end + 1 + size > len(buffer):
                break
        word = buffer[start:end].lstrip(b"\n")
        start = end + 1 + size
        n_rows += 1
        words.append(word)
        rows.append(buffer[end + 1 : start])
    yield _block(path, words, rows, dim)
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


def _block(path: Path, words: list[bytes], rows: list[bytes], dim: int) -> Block:
    matrix = np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, dim)
    try:
        return [word.decode("utf-8") for word in words], matrix
    except UnicodeDecodeError as error:
        shown = error.object.decode("utf-8", "backslashreplace")
        raise InputError(
            f"{path}: the word '{shown}' is not UTF-8: the file is damaged, its header gives the"
            " wrong dimension, or its words were truncated; load it with gensim's"
            " unicode_errors='replace' and save it again"
        ) from None
