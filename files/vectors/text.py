"""Text word vectors (word2vec, GloVe, fastText .vec), in chunks whose numbers pyarrow parses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import csv

from files.errors import InputError
from files.text import open_binary
from files.vectors.detect import Layout, is_number

if TYPE_CHECKING:
    from files.vectors.blocks import Block, Floats

CHUNK = 32 << 20
LONGEST_ROW = 2 << 20  # MAX_DIM numbers of 40 characters
UNEVEN = (b"  ", b"\t", b"\r", b"\x0b", b"\x0c")  # what rows apart by single spaces have not
Line = tuple[int, bytes]


def read_text_blocks(
    path: Path, layout: Layout, *, wanted: Collection[str] | None = None
) -> Iterator[Block]:
    """The rows of a text file in blocks, each float32 the one nearest to what is written.

    A row is a word and ``layout.dim`` numbers apart by spaces or tabs; the word is everything
    before the last ``dim`` numbers. Blank lines are skipped. With ``wanted``, lines that start with
    no word of it are neither parsed nor checked. Raises ``InputError`` naming the line.
    """
    heads = None if wanted is None else {_head(word.encode("utf-8", "replace")) for word in wanted}
    number, rows = 1, 0
    with open_binary(path, longest_line=LONGEST_ROW) as raw:
        if layout.count is not None:
            raw.readline()
            number = 2
        for chunk in _chunks(raw):
            numbered = enumerate(chunk.split(b"\n"), number)
            lines = [(i, line) for i, line in numbered if line.strip()]
            number += chunk.count(b"\n")
            rows += len(lines)
            if heads is not None:
                lines = [(i, line) for i, line in lines if _head(line) in heads]
            if lines:
                yield _read_lines(path, layout, lines, any(mark in chunk for mark in UNEVEN))
    _check_count(path, layout, rows)


def _chunks(raw: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, about ``CHUNK`` bytes at a time."""
    while chunk := raw.read(CHUNK):
        yield chunk + raw.readline()


def _head(line: bytes) -> bytes:
    """The first token of a line; empty where there is none."""
    return next(iter(line.split(None, 1)), b"")


def _read_lines(path: Path, layout: Layout, lines: list[Line], uneven: bool) -> Block:
    words, rows = [], []
    for number, line in lines:
        word, _, numbers = line.strip(b" ").partition(b" ")
        if uneven or not numbers or numbers.count(b" ") != layout.dim - 1:
            word, numbers = _split(path, layout, number, line)
        words.append(_decode(path, number, word))
        rows.append(numbers)
    return words, _parse(path, [number for number, _ in lines], rows, layout.dim)


def _split(path: Path, layout: Layout, number: int, line: bytes) -> tuple[bytes, bytes]:
    """The word, which may have spaces, and its numbers with one space between."""
    word, *numbers = line.rsplit(None, layout.dim)
    tokens = word.split()
    if len(numbers) < layout.dim or not tokens or any(map(is_number, tokens[1:])):
        found = len(line.split()) - 1
        source = "the first line" if layout.count is None else "the header"
        raise InputError(
            f"{path}: line {number} has {found} fields after its word, where {source} says"
            f" {layout.dim}; if it is the last line the file is cut: copy it again; if it is the"
            " first row the header is wrong: correct it"
        )
    return word.lstrip(), b" ".join(numbers)


def _decode(path: Path, number: int, word: bytes) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = word.decode("utf-8", "backslashreplace")
        bad = f"line {number}: the word '{shown}' is not UTF-8 ({error.reason})"
        raise InputError(f"{path}: {bad}; convert the file with iconv") from None


def _parse(path: Path, places: list[int], rows: list[bytes], dim: int) -> Floats:
    """The numbers of each row, float32 (rows, dim); ``places`` are the rows' lines in the file."""
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
        for place, row in zip(places, rows, strict=True):
            if bad := [token for token in row.split(b" ") if not is_number(token)]:
                token = bad[0].decode("utf-8", "backslashreplace")
                reason = f"line {place}: {token!r} is not a number"
                raise InputError(f"{path}: {reason}; mend or delete the line") from None
        raise InputError(f"{path}: its numbers cannot be read ({error})") from None
    matrix = np.empty((table.num_rows, dim), dtype=np.float32)
    for column in range(dim):
        matrix[:, column] = table.column(column).to_numpy()
    return matrix


def _check_count(path: Path, layout: Layout, rows: int) -> None:
    if layout.count is not None and rows != layout.count:
        raise InputError(
            f"{path}: the header says {layout.count} rows, the file has {rows}; it is cut: copy it"
            f" again, or its header is wrong: write '{rows} {layout.dim}' on its first line"
        )
