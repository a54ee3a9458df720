"""Tables from outside: delimited text and Parquet, by column names."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa

from files.errors import InputError, nearest
from files.text import OPENERS, open_binary, read_lines

BOM = "\ufeff"
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
# What a Parquet file with some wrong bytes makes pandas and pyarrow raise.
DAMAGED_PARQUET = (pa.ArrowException, KeyError, OSError, TypeError, ValueError)


def read_table(
    path: str | Path, *, separator: str | None = None, quoted: bool = True
) -> pd.DataFrame:
    """The table of a ``.parquet`` file, or of delimited UTF-8 text with a line of column names.

    Cells of text stay as written: ``01``, ``NA`` and an empty cell are text. ``.csv`` is separated
    by commas, ``.tsv`` and ``.tab`` by tabs, any other ending by the ``separator`` given, each also
    as ``.gz``, ``.bz2`` or ``.xz``. A cell in quotation marks may hold separators and line ends;
    ``quoted=False`` takes the marks as text. Blank lines are left out.

    Raises ``InputError``, with the line where there is one, for a file that is missing, empty,
    damaged, not UTF-8 or of unknown format, for a row with more or fewer cells than the header, and
    for a name that the header has twice.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    header, *rows = _rows(path, _separator(path, separator), quoted)
    if twice := sorted({name for name in header if header.count(name) > 1}):
        names = ", ".join(map(repr, twice))
        raise InputError(f"{path}: the header names {names} more than once; rename one")
    return pd.DataFrame(rows, columns=header, dtype=str)


def require_columns(table: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Raise ``InputError`` for the first column that ``table`` lacks: the nearest one, and all."""
    columns = [str(column) for column in table.columns]
    for name in names:
        if name not in columns:
            has = f"it has {', '.join(columns) or 'none'}"
            raise InputError(f"{what} has no column {name!r}{nearest(name, columns)}; {has}")


def _read_parquet(path: Path) -> pd.DataFrame:
    with open_binary(path) as raw:
        try:
            return pd.read_parquet(raw)
        except DAMAGED_PARQUET as error:
            reason = f"{path} is no Parquet file or is damaged ({' '.join(str(error).split())})"
            raise InputError(f"{reason}; copy or write it again") from error


def _separator(path: Path, given: str | None) -> str:
    plain = path.with_suffix("") if path.suffix in OPENERS else path
    separator = given or SEPARATORS.get(plain.suffix)
    if separator is None:
        allowed = f"{', '.join(SEPARATORS)}, each also with {', '.join(OPENERS)}, or .parquet"
        raise InputError(f"{path}: unknown format {plain.suffix!r}; give {allowed}")
    if len(separator) > 1 or separator in '"\r\n':
        raise InputError(f"separator={separator!r}: give one character, such as ';'")
    return separator


def _rows(path: Path, separator: str, quoted: bool) -> list[list[str]]:
    """The rows that are not blank, the header first, all of its length."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(_lines(path), delimiter=separator, quoting=quoting, strict=True)
    rows: list[list[str]] = []
    line = 1
    try:
        for row in reader:
            if row and rows and len(row) != len(rows[0]):
                cells = f"line {line} has {len(row)} cells, the header {len(rows[0])}"
                remedy = f"quote cells that hold the separator {separator!r}"
                raise InputError(f"{path}: {cells}; {remedy}")
            if row:
                rows.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}: line {line} is not delimited text ({error}); double the quotation marks"
            " within cells, or give quoted=false where they are text"
        ) from error
    if not rows:
        raise InputError(f"{path} is empty")
    return rows


def _lines(path: Path) -> Iterator[str]:
    """The lines with their ends, without a byte order mark."""
    for number, line in enumerate(read_lines(path)):
        yield f"{line if number else line.removeprefix(BOM)}\n"
