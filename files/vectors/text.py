"""Word vectors as text (word2vec, GloVe, fastText .vec), parsed in chunks by pyarrow."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import csv

from biasbridge.files.errors import InputError
from biasbridge.files.text import open_binary
from biasbridge.files.vectors.blocks import NUMBERED
from biasbridge.files.vectors.detect import Layout, is_number

if TYPE_CHECKING:
    from biasbridge.files.vectors.blocks import Block, OddRows
    from biasbridge.stats.arrays import Singles

CHUNK = 32 << 20
MAX_NUMBERED = 0.05  # share of words with numbers; above it the dimension is wrong
LONGEST_ROW = 2 << 20  # MAX_DIM numbers of 40 characters
UNEVEN = (b"  ", b"\t", b"\r", b"\x0b", b"\x0c")  # absent from rows separated by single spaces
Line = tuple[int, bytes]


def read_text_blocks(path: Path, layout: Layout, odd: OddRows) -> Iterator[Block]:
    """Yield the rows of a text file in blocks, numbers as the nearest float32.

    A row is a word and ``layout.dim`` numbers separated by spaces or tabs; the word is everything
    before the last ``dim`` numbers. Few words may hold numbers (``windows 10``). Blank lines are
    skipped. Raises ``InputError`` with the line.
    """
    number, n_rows = 1, 0
    with open_binary(path, longest_line=LONGEST_ROW) as raw:
        if layout.count is not None:
            raw.readline()
            number = 2
        for chunk in _chunks(raw):
            chunk = chunk.removeprefix(BOM_UTF8) if number == 1 else chunk
            lines = [(i, line) for i, line in enumerate(chunk.split(b"\n"), number) if line.strip()]
            number += chunk.count(b"\n")
            n_rows += len(lines)
            if lines:
                is_uneven = any(mark in chunk for mark in UNEVEN)
                yield _read_lines(path, layout, odd, lines, is_uneven)
    if len(odd.words[NUMBERED]) > MAX_NUMBERED * n_rows:
        raise InputError(odd.first_numbered)
    _check_count(path, layout, n_rows, odd)


def _chunks(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield whole lines, about ``CHUNK`` bytes at a time."""
    while chunk := raw.read(CHUNK):
        yield chunk + raw.readline()


def _read_lines(
    path: Path, layout: Layout, odd: OddRows, lines: list[Line], is_uneven: bool
) -> Block:
    words, rows = [], []
    for number, line in lines:
        word, _, numbers = line.strip(b" ").partition(b" ")
        if is_uneven or not numbers or numbers.count(b" ") != layout.dim - 1:
            word, numbers = _split(path, layout, odd, number, line)
        words.append(_decode(path, number, word))
        rows.append(numbers)
    return words, _parse(path, [number for number, _ in lines], rows, layout.dim)


def _split(
    path: Path, layout: Layout, odd: OddRows, number: int, line: bytes
) -> tuple[bytes, bytes]:
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
            f"{path}: line {number} has {n_fields} fields after its word, where {source} says"
            f" {layout.dim}; if it is the last line the file is cut: copy it again; if it is the"
            " first row the header is wrong: correct it"
        )
        is_first_row = number == (1 if layout.count is None else 2)
        if not has_number or is_first_row:
            raise InputError(problem)
        odd.first_numbered = odd.first_numbered or problem
        odd.words[NUMBERED].append(_decode(path, number, word))
    return word.lstrip(), b" ".join(numbers)


def _decode(path: Path, number: int, word: bytes) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = word.decode("utf-8", "backslashreplace")
        problem = f"line {number}: the word '{shown}' is not UTF-8 ({error.reason})"
        raise InputError(f"{path}: {problem}; convert the file with iconv") from None


def _parse(path: Path, line_numbers: list[int], rows: list[bytes], dim: int) -> Singles:
    """Parse the numbers of each row, float32 (rows, dim)."""
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


def _check_count(path: Path, layout: Layout, n_rows: int, odd: OddRows) -> None:
    if layout.count is None or n_rows == layout.count:
        return
    odd.header = f"the header says {layout.count} rows, the file has {n_rows}"
    if abs(n_rows - layout.count) > 1:
        raise InputError(
            f"{path}: {odd.header}; it is cut: copy"
            f" it again, or its header is wrong: write '{n_rows} {layout.dim}' on its first line"
        )
