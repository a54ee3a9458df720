"""Text word vectors (word2vec, GloVe, fastText .vec): read exactly and fast, in blocks.

pyarrow's CSV parser takes a chunk of lines when every row is plain. Any chunk that holds something
else (a word with spaces, a stray carriage return, a bad row) is read again line by line, which is
the definition of the format and the one place that raises errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

from files.errors import InputError
from files.text import open_binary
from files.vectors.detect import Layout, is_number

if TYPE_CHECKING:
    from files.vectors.blocks import Block, Floats

CHUNK = 32 << 20
LONGEST_ROW = 2 << 20  # MAX_DIM numbers of 40 characters
BOM = b"\xef\xbb\xbf"
SPACE = re.compile("[ \t\r\x0b\x0c]")
Line = tuple[int, bytes]


class Options(NamedTuple):
    """pyarrow's options for a file."""

    read: csv.ReadOptions
    parse: csv.ParseOptions
    convert: csv.ConvertOptions


def read_text_blocks(
    path: Path, layout: Layout, *, wanted: Collection[str] | None = None
) -> Iterator[Block]:
    """The rows of a text file in blocks, each float32 the one nearest to what is written.

    A row is a word and ``layout.dim`` numbers apart by spaces or tabs; the word is everything
    before the last ``dim`` numbers. Blank lines are skipped. With ``wanted``, lines that start with
    no word of it are neither parsed nor checked. Raises ``InputError`` naming the line.
    """
    heads = None if wanted is None else {_head(word.encode("utf-8", "replace")) for word in wanted}
    options: Options | None = None
    number, rows = 1, 0
    with open_binary(path, longest_line=LONGEST_ROW) as raw:
        if layout.count is not None:
            raw.readline()
            number = 2
        for chunk in _chunks(raw):
            options = options or _csv_options(layout, chunk)
            block = _read_plain(chunk, options) if heads is None else None
            if block is None:
                numbered = enumerate(chunk.split(b"\n"), number)
                lines = [(i, line) for i, line in numbered if line.strip()]
                rows += len(lines)
                if heads is not None:
                    lines = [(i, line) for i, line in lines if _head(line) in heads]
                block = _read_lines(path, layout, lines)
            else:
                rows += len(block[0])
            number += chunk.count(b"\n")
            yield block
    _check_count(path, layout, rows)


def _chunks(raw: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, about ``CHUNK`` bytes at a time; the last gets its newline if it lacks one."""
    while chunk := raw.read(CHUNK):
        if not chunk.endswith(b"\n"):
            chunk += raw.readline()
        yield chunk if chunk.endswith(b"\n") else chunk + b"\n"


def _csv_options(layout: Layout, chunk: bytes) -> Options:
    """pyarrow's options for rows like the first of ``chunk``."""
    names = [str(i) for i in range(layout.dim + 1)]
    delimiter = "\t" if b"\t" in chunk[: chunk.index(b"\n")] else " "
    types = {"0": pa.string()} | dict.fromkeys(names[1:], pa.float32())
    return Options(
        csv.ReadOptions(column_names=names, block_size=max(4 << 20, 64 * layout.dim)),
        csv.ParseOptions(
            delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False
        ),
        csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
    )


def _read_plain(chunk: bytes, options: Options) -> Block | None:
    """The rows of a chunk of plain rows: word, delimiter, numbers. None for any other chunk."""
    end = chunk.index(b"\n")
    # fastText ends its lines in a space, which pyarrow would take for one more field.
    plain = chunk.replace(b" \n", b"\n") if chunk[end - 1 : end] == b" " else chunk
    try:
        table = csv.read_csv(pa.BufferReader(plain), *options)
    except pa.ArrowInvalid:
        return None
    words = table.column(0).to_pylist()
    # pyarrow takes a lone carriage return for a line end and drops a byte order mark.
    if (
        len(words) != chunk.count(b"\n")
        or "" in words
        or SPACE.search("\n".join(words))
        or chunk.startswith(BOM)
    ):
        return None
    return words, _matrix(table)


def _matrix(table: pa.Table) -> Floats:
    """The number columns of the table as one float32 array (rows, columns - 1)."""
    matrix = np.empty((table.num_rows, table.num_columns - 1), dtype=np.float32)
    start = 0
    for batch in table.to_batches():
        part = matrix[start : start + batch.num_rows]
        for column in range(matrix.shape[1]):
            part[:, column] = batch.column(column + 1).to_numpy()
        start += batch.num_rows
    return matrix


def _head(line: bytes) -> bytes:
    """The first token of a line; empty where there is none."""
    return next(iter(line.split(None, 1)), b"")


def _read_lines(path: Path, layout: Layout, lines: Iterable[Line]) -> Block:
    """Numbered lines, none of them blank, read one by one."""
    words, rows = [], []
    for number, line in lines:
        word, *numbers = line.rsplit(None, layout.dim)
        tokens = word.split()
        if len(numbers) < layout.dim or not tokens or any(is_number(token) for token in tokens[1:]):
            raise _width_error(path, layout, number, line)
        words.append(_word(path, number, word.lstrip()))
        rows.append(_floats(path, number, numbers))
    return words, np.array(rows, dtype=np.float32).reshape(-1, layout.dim)


def _word(path: Path, number: int, word: bytes) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = word.decode("utf-8", "backslashreplace")
        bad = f"line {number}: the word '{shown}' is not UTF-8 ({error.reason})"
        raise InputError(f"{path}: {bad}; convert the file with iconv") from None


def _floats(path: Path, number: int, tokens: list[bytes]) -> Floats:
    try:
        return compute.cast(pa.array(tokens, pa.string()), pa.float32()).to_numpy()
    except pa.ArrowInvalid:
        token = next((token for token in tokens if not is_number(token)), tokens[0])
        bad = f"line {number}: {token.decode('utf-8', 'backslashreplace')!r} is not a number"
        raise InputError(f"{path}: {bad}; mend or delete the line") from None


def _width_error(path: Path, layout: Layout, number: int, line: bytes) -> InputError:
    found = len(line.split()) - 1
    source = "the first line" if layout.count is None else "the header"
    return InputError(
        f"{path}: line {number} has {found} fields after its word, where {source} says"
        f" {layout.dim}; if it is the last line the file is cut: copy it again; if it is the first"
        " row the header is wrong: correct it"
    )


def _check_count(path: Path, layout: Layout, rows: int) -> None:
    if layout.count is not None and rows != layout.count:
        raise InputError(
            f"{path}: the header says {layout.count} rows, the file has {rows}; it is cut: copy it"
            f" again, or its header is wrong: write '{rows} {layout.dim}' on its first line"
        )
