"""Tables: delimited text, JSON Lines and Parquet read by column names, CSV for any program."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype
from pydantic import TypeAdapter

from files.errors import InputError, nearest
from files.json_lines import read_json_lines
from files.printable import printable
from files.text import OPENERS, open_plain, read_lines, unpacked_name

BOM = "\ufeff"
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ",", "": ","}
JSON_LINES = ".jsonl"
JSON_OBJECT = TypeAdapter(dict[str, Any])
OTHERS = ("\t", ";")  # what spreadsheets write under the same endings
LARGEST = 2 << 30
MOST_COLUMNS = 10_000
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    quoted: bool = True,
    lists: str | None = None,
) -> pd.DataFrame:
    """Read the table of a ``.parquet`` file, of JSON Lines (``.jsonl``, an object a row), or of
    delimited UTF-8 text with a line of column names.

    Cells of text stay as written: ``01``, ``NA`` and an empty cell are text. Numbers and truth
    values of JSON become text, null and missing keys empty text; lists and objects stay. ``.tsv``
    and ``.tab`` are separated by tabs, ``.csv``, ``.txt`` and names without an ending by commas,
    or, where the line of names has none, by its tabs or semicolons; all by the ``separator`` where
    one is given. Text may be packed as ``.gz``, ``.bz2`` or ``.xz``. A cell in quotation marks may
    hold separators and line ends; ``quoted=False`` takes the marks as text. Blank lines are left
    out. Binary, list and struct cells of Parquet become text, but for columns whose names end with
    ``lists``.

    Raises ``InputError``, with the line where there is one, for a file that is missing, empty,
    damaged, not UTF-8 or of unknown format, for a row with more or fewer cells than the header, for
    a name that the header has twice, and for text of more than ``LARGEST`` bytes or
    ``MOST_COLUMNS`` columns.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        return _read_parquet(path, lists)
    if unpacked_name(path).suffix == JSON_LINES:
        return _read_json_lines(path)
    header, columns = _columns(path, _separator(path, separator), quoted)
    return pd.DataFrame(dict(zip(header, columns, strict=True)), dtype=str)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write the table as ``csv_text`` has it."""
    Path(path).write_text(csv_text(table), encoding="utf-8", newline="\n")


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV, safe to print and to open in a spreadsheet.

    A spreadsheet takes text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, which can
    send the table elsewhere: such text gets an apostrophe before it. Numbers, as text too, stay as
    they are. Control characters are escaped.
    """
    names = {name: _inert(name) for name in table.columns}
    return _mapped(table, _inert).rename(columns=names).to_csv(index=False, lineterminator="\n")


def without_control(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the control characters of its texts escaped."""
    return _mapped(table, lambda cell: printable(cell) if isinstance(cell, str) else cell)


def _mapped(table: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    """The table with the cells of its text columns changed."""
    text = table.select_dtypes(exclude=["number", "bool"])
    return table.assign(**{str(name): text[name].map(change) for name in text})


def _inert(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text[:1] in FORMULA and not NUMBER.fullmatch(text) else text


def require_columns(table: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Raise ``InputError`` for the first column that ``table`` lacks: the nearest one, and all."""
    columns = [str(column) for column in table.columns]
    for name in names:
        if name not in columns:
            has = f"it has {', '.join(columns) or 'none'}"
            raise InputError(f"{what} has no column {name!r}{nearest(name, columns)}; {has}")


def require_unique_columns(names: Iterable[object], what: str) -> None:
    """Raise ``InputError`` for names that stand in ``names`` more than once."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        repeated = ", ".join(sorted(map(repr, twice)))
        raise InputError(f"{what} names {repeated} more than once; rename one")


def _read_parquet(path: Path, lists: str | None) -> pd.DataFrame:
    with open_plain(path) as raw:
        try:
            table = pd.read_parquet(raw)
        except Exception as error:  # Arrow's own, and whatever its and pandas' metadata lead to
            reason = f"{path} is no Parquet file or is damaged ({' '.join(str(error).split())})"
            raise InputError(f"{reason}; copy or write it again") from error
    for place, (name, kind) in enumerate(zip(table, table.dtypes, strict=True)):
        if is_object_dtype(kind) and not (lists and str(name).endswith(lists)):
            table.isetitem(place, table.iloc[:, place].map(_as_text).array)
    return table


def _as_text(cell: object) -> object:
    """Return bytes and nested cells of Parquet as the text that CSV has; others as they are."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    nested = cell.tolist() if isinstance(cell, np.ndarray) else cell
    return str(nested) if isinstance(nested, list | tuple | dict) else cell


def _read_json_lines(path: Path) -> pd.DataFrame:
    columns: dict[str, list[object]] = {}
    for number, row in enumerate(read_json_lines(path, JSON_OBJECT, "JSON object")):
        if new := row.keys() - columns.keys():
            columns |= {name: [""] * number for name in row if name in new}
            _header(path, [*columns])
        for name, cells in columns.items():
            cell = row.get(name)
            is_nested = isinstance(cell, list | dict)
            cells.append(cell if is_nested else "" if cell is None else str(cell))
    return pd.DataFrame(columns)


def _separator(path: Path, given: str | None) -> str:
    plain = unpacked_name(path)
    separator = given or SEPARATORS.get(plain.suffix)
    if not given and separator == ",":
        names = next(iter(_lines(path)), "")
        separator = next((mark for mark in OTHERS if mark in names and "," not in names), ",")
    if separator is None:
        endings = ", ".join(filter(None, (*SEPARATORS, JSON_LINES)))
        allowed = f"{endings}, each also with {', '.join(OPENERS)}"
        raise InputError(f"{path}: unknown format {plain.suffix!r}; give {allowed}, or .parquet")
    if len(separator) > 1 or separator in '"\r\n':
        raise InputError(f"separator={separator!r}: give one character, such as ';'")
    return separator


def _columns(path: Path, separator: str, quoted: bool) -> tuple[list[str], list[list[str]]]:
    """The header, and the cells of each column: rows as lists take ten times the memory."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(_lines(path), delimiter=separator, quoting=quoting, strict=True)
    header: list[str] = []
    columns: list[list[str]] = []
    line = 1
    try:
        for row in reader:
            if not header and row:
                header, columns = _header(path, row), [[] for _ in row]
            elif row:
                if len(row) != len(header):
                    cells = f"line {line} has {len(row)} cells, the header {len(header)}"
                    remedy = f"quote cells that hold the separator {separator!r}"
                    raise InputError(f"{path}: {cells}; {remedy}")
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}: line {line} is not delimited text ({error}); double the quotation marks"
            " within cells, or give quoted=false where they are text"
        ) from error
    if not header:
        raise InputError(f"{path} is empty")
    return header, columns


def _header(path: Path, names: list[str]) -> list[str]:
    if len(names) > MOST_COLUMNS:
        many = f"the header has {len(names):,} columns, allowed are {MOST_COLUMNS:,}"
        raise InputError(f"{path}: {many}; keep those that are used")
    require_unique_columns(names, f"{path}: the header")
    return names


def _lines(path: Path) -> Iterator[str]:
    """The lines with their ends, without a byte order mark."""
    for number, line in enumerate(read_lines(path, largest=LARGEST)):
        yield f"{line if number else line.removeprefix(BOM)}\n"
