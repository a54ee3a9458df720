"""Tables: reading of delimited text, JSON, Excel and Parquet, writing of CSV."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype
from pydantic import TypeAdapter

from biasbridge.files.errors import InputError, nearest, printable
from biasbridge.files.extras import named_extra
from biasbridge.files.paths import atomic_path
from biasbridge.files.text import (
    OPENERS,
    open_binary,
    open_plain,
    parse_json,
    read_head,
    read_json_lines,
    read_lines,
    unpacked_name,
)

SEP_LINE = re.compile(r"^sep=(.)$", re.IGNORECASE)  # first line that Excel writes and reads
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ",", "": ","}
JSON_LINES = ".jsonl"
EXCEL = ".xlsx"
_SEPARATORS = (",", "\t", ";")  # of spreadsheets, with the same endings
_HEAD_LINES = 20  # that tell the separator
JSON_OBJECT = TypeAdapter(dict[str, Any])
_JSON_OBJECTS: TypeAdapter[Iterable[dict[str, Any]]] = TypeAdapter(list[dict[str, Any]])
_JSON_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_MAX_FIELDS = 100  # of the objects of a column; with more keys they hold data, such as counts
_JSON_HEAD = 1 << 16  # bytes of a .json file that tell its form
_UNQUOTED = "or give quoted=false if they are text"
_FORMULA = re.compile("'*[=+@-]")  # an apostrophe before one gets another, so that each comes off
_EXCEL_CELL = re.compile(rb"""[<:]c\s[^>]*?r=["']([A-Z]{1,3})(\d{1,7})["']""")
_FEWEST_CELLS, _MOST_SPARSE = 1_000_000, 4
_TEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # after a line's end an option of its
}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)

csv.field_size_limit(64 << 20)  # characters of a cell; the default is shorter than some posts


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    quoted: bool | None = True,
    lists: str | tuple[str, ...] | None = None,
) -> pd.DataFrame:
    """Read the table of a ``.parquet`` or ``.xlsx`` file, of JSON (an object a row, in lines or in
    an array: ``.jsonl``, ``.ndjson``, ``.json``), or of delimited text with a line of column names.

    Cells of text stay as written: ``01``, ``NA`` and an empty cell are text. Numbers and truth
    values of JSON and Excel become text, null and missing keys empty text; lists and objects stay.
    Fields of objects are columns too, ``meta.group``. Text is UTF-8, UTF-16 or Windows-1252, and
    may be packed as ``.gz``, ``.bz2`` or ``.xz``. Blank lines, cells beyond the header without
    text, and Excel's line ``sep=;`` are skipped. Endings are of either case. ``attrs["notes"]``
    names an encoding other than UTF-8.

    separator: default tabs for ``.tsv`` and ``.tab``; commas for ``.csv``, ``.txt`` and names
    without an ending, or the tabs or semicolons that give the header and the first rows as many
    cells. Lines before the header that begin with # and have other cells are left out. quoted:
    cells in quotation marks may hold separators and line ends; False: the marks are text; None:
    they are, with a note, where they cannot be quotes. lists:
    endings of the Parquet columns that keep lists; other binary, list and struct cells become text.

    Raises ``InputError`` for a file that is missing, empty, damaged, of unknown encoding or format,
    for a row with more or fewer cells than the header, for a repeated column name, for several
    sheets, and for quotation marks of two rows that swallow the rows between them.
    """
    path, notes = Path(path), list[str]()
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        table = _read_parquet(path, lists)
    elif suffix == EXCEL:
        table = _read_excel(path)
    elif table_suffix(path) == JSON_LINES:
        table = _read_json(path, notes)
    else:
        mark = _separator(path, separator)
        if (plain := _read_plain(path, mark, quoted)) is not None:
            return plain
        header, columns = _delimited(path, mark, quoted, notes)
        columns.reverse()  # each list is freed when its column is made
        table = pd.DataFrame({name: pd.Series(columns.pop(), dtype=str) for name in header})
    if notes:
        table.attrs["notes"] = notes
    return table


def table_suffix(path: Path) -> str:
    """Return the ending of a table's name, in lower case and without that of an archive;
    ``JSON_LINES`` for objects in lines or in an array also as ``.ndjson`` or ``.json``.
    """
    suffix = unpacked_name(path).suffix.lower()
    if suffix == ".json" and path.is_file():
        head = read_head(path, _JSON_HEAD)
        first, _, others = head.lstrip().partition("\n")
        is_row = first.startswith("{") and first.rstrip().endswith("}")
        is_table = (is_row and others.lstrip().startswith("{")) or _JSON_ARRAY.match(head)
        return JSON_LINES if is_table else suffix
    return JSON_LINES if suffix == ".ndjson" else suffix


def index_as_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the named levels of its index as columns."""
    named = [name for name in table.index.names if name is not None and name not in table]
    return table.reset_index(named) if named else table


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write the table in the form of ``csv_text``."""
    Path(path).write_text(csv_text(table), encoding="utf-8", newline="\n")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write the table as CSV, Excel, JSON Lines or Parquet, by the ending of its name."""
    with atomic_path(path) as work:
        suffix = path.suffix.lower()
        if suffix == ".parquet":
            with named_extra(path.name):
                import pyarrow  # noqa: F401 - pandas would name other writers where it is missing

                table.to_parquet(work, index=False)
        elif suffix == EXCEL:
            with named_extra(path.name):
                import_module("openpyxl")  # as for Parquet
                table.to_excel(work, index=False, engine="openpyxl")
        elif suffix == JSON_LINES:
            table.to_json(work, orient="records", lines=True, force_ascii=False)
        else:
            write_csv(table, work)


def csv_text(table: pd.DataFrame) -> str:
    """Return the table as CSV, safe to print and to open in a spreadsheet.

    A spreadsheet reads text that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, which can
    send data elsewhere: an apostrophe precedes such text, and ``unescape_formulas`` takes it off.
    Numbers, also as text, stay unchanged. Control characters are escaped.
    """
    names = {name: _escape_formula(name) for name in table.columns}
    return (
        _map_text_columns(table, _escape_formula)
        .rename(columns=names)
        .to_csv(index=False, lineterminator="\n")
    )


def escape_control(table: pd.DataFrame) -> pd.DataFrame:
    """Escape the control characters of the table's texts."""
    return _map_text_columns(table, lambda cell: printable(cell) if isinstance(cell, str) else cell)


def escape_tex(text: str) -> str:
    """Escape the characters that LaTeX would read as commands."""
    return "".join(_TEX.get(character, character) for character in text)


def _map_text_columns(table: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    text = table.select_dtypes(exclude=["number", "bool"])
    return table.assign(**{str(name): _map_cells(text[name], change) for name in text})


def _map_cells(column: pd.Series, change: Callable[[object], object]) -> pd.Series:
    if column.empty or not isinstance(column.dtype, pd.StringDtype):
        return column.map(change)
    # Each distinct text once: names of models and slices recur in every row
    return column.map({cell: change(cell) for cell in column.unique()})


def _escape_formula(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unescape_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Take the apostrophes of ``csv_text`` off a table that was read from such a file."""
    names = {name: unescape_formula(name) for name in table.columns}
    return _map_text_columns(table, unescape_formula).rename(columns=names)


def unescape_formula(cell: object) -> object:
    """Return a cell without the apostrophe of ``csv_text``."""
    is_escaped = isinstance(cell, str) and cell[:1] == "'" and _FORMULA.match(cell[1:])
    return str(cell)[1:] if is_escaped else cell


def require_columns(table: pd.DataFrame, names: Iterable[str], source: str) -> None:
    """Raise ``InputError`` for the first column that ``table`` lacks; it lists all columns."""
    columns = [str(column) for column in table.columns]
    for name in names:
        if name not in columns:
            listed = f"it has {', '.join(columns) or 'none'}"
            raise InputError(f"{source} has no column {name!r}{nearest(name, columns)}; {listed}")


def require_unique_columns(names: Iterable[object], source: str) -> None:
    """Raise ``InputError`` for repeated names."""
    if duplicates := [name for name, count in Counter(names).items() if count > 1]:
        repeated = ", ".join(sorted(map(repr, duplicates)))
        raise InputError(f"{source} names {repeated} more than once; rename one")


def _read_parquet(path: Path, lists: str | tuple[str, ...] | None) -> pd.DataFrame:
    import pyarrow  # noqa: F401 - pandas would name other readers where it is missing

    with open_plain(path) as raw:
        try:
            table = pd.read_parquet(raw)
        except Exception as error:  # Arrow's, and any that the metadata of Arrow and pandas cause
            reason = f"{path} is not a Parquet file, or is damaged ({' '.join(str(error).split())})"
            raise InputError(f"{reason}; copy or write it again") from error
    table = index_as_columns(table).reset_index(drop=True)
    for index, (name, kind) in enumerate(zip(table, table.dtypes, strict=True)):
        if is_object_dtype(kind) and not (lists and str(name).endswith(lists)):
            table.isetitem(index, table.iloc[:, index].map(_as_text).array)
    return table


def _as_text(cell: object) -> object:
    """Convert bytes and nested cells of Parquet to text as in CSV; others stay."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    nested = cell.tolist() if isinstance(cell, np.ndarray) else cell
    if isinstance(nested, list):  # numbers are quoted as names are: groups 3 and 7
        nested = [str(part) if isinstance(part, int) else part for part in nested]
    return str(nested) if isinstance(nested, list | tuple | dict) else cell


def _read_excel(path: Path) -> pd.DataFrame:
    """Read the only sheet with cells; numbers and dates become text."""
    import python_calamine  # noqa: F401 - as for Parquet

    with open_plain(path) as raw:
        content = io.BytesIO(raw.read())
    options: Any = {"sheet_name": None, "header": None, "dtype": object, "keep_default_na": False}
    try:
        _require_dense(content, path)
        sheets = pd.read_excel(content, engine="calamine", **options)
    except InputError:
        raise
    except BaseException as error:  # a panic of the reader, in Rust, is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        reason = f"{path} is not an Excel workbook, or is damaged ({' '.join(str(error).split())})"
        raise InputError(f"{reason}; save it again, or as CSV UTF-8") from error
    texts = {name: sheet.fillna("").map(str) for name, sheet in sheets.items()}
    filled = {name: sheet[(sheet != "").any(axis=1)] for name, sheet in texts.items()}
    filled = {name: sheet for name, sheet in filled.items() if len(sheet)}
    if len(filled) != 1:
        listed = f"{len(filled)} sheets with cells ({', '.join(map(repr, filled))})"
        remedy = "save the one with the table as CSV UTF-8, or delete the others"
        raise InputError(f"{path} has {listed}; {remedy}" if filled else f"{path} is empty")
    [sheet] = filled.values()
    header = _header(path, [str(name) for name in sheet.iloc[0]])
    rows: pd.DataFrame = sheet.iloc[1:, : len(header)].astype(str).set_axis(header, axis=1)
    return rows[(rows != "").any(axis=1)].reset_index(drop=True)


def _column_number(letters: bytes) -> int:
    return sum(26**place * (letter - 64) for place, letter in enumerate(reversed(letters)))


def _require_dense(content: io.BytesIO, path: Path) -> None:
    """Raise ``InputError`` for a sheet of few cells far apart: the reader fills all between them,
    and ends the process where memory is short.
    """
    with zipfile.ZipFile(content) as archive:
        for name in archive.namelist():
            columns, last, n_cells = set[bytes](), 0, 0
            sheet = archive.read(name) if name.startswith("xl/worksheets/") else b""
            for cell in _EXCEL_CELL.finditer(sheet):
                columns.add(cell[1])
                last, n_cells = max(last, int(cell[2])), n_cells + 1
            width = max(map(_column_number, columns), default=0)
            if width * last > _FEWEST_CELLS + _MOST_SPARSE * n_cells:
                problem = (
                    f"{path}: {n_cells:,} cells are spread over {last:,} rows and {width:,} columns"
                )
                raise InputError(f"{problem}; delete those far from the table, or save it as CSV")


def _read_json(path: Path, notes: list[str]) -> pd.DataFrame:
    rows: Iterable[dict[str, Any]] = read_json_lines(path, JSON_OBJECT, "JSON object", notes)
    if _JSON_ARRAY.match(read_head(path, _JSON_HEAD)):
        text = "\n".join(read_lines(path, notes))
        rows = parse_json(text, _JSON_OBJECTS, f"{path} is not an array of JSON objects")
    columns: dict[str, list[object]] = {}
    for number, row in enumerate(rows):
        if new := row.keys() - columns.keys():
            columns |= {name: [""] * number for name in row if name in new}
            _header(path, [*columns])
        for name, cells in columns.items():
            cells.append(_as_cell(row.get(name)))
    for name in (names := [*columns]):  # grows by the fields of objects
        objects = [cell if isinstance(cell, dict) else {} for cell in columns[name]]
        fields = dict.fromkeys(key for cell in objects for key in cell)
        for field in fields if len(fields) <= _MAX_FIELDS else ():
            if (nested := f"{name}.{field}") not in columns:
                columns[nested] = [_as_cell(cell.get(field)) for cell in objects]
                names.append(nested)
    return pd.DataFrame(columns)


def _as_cell(value: object) -> object:
    """Convert a value of JSON to text; lists and objects stay."""
    if isinstance(value, list | dict):
        return value
    return "" if value is None or value != value else str(value)  # null, and Python's NaN


def _separator(path: Path, chosen: str | None) -> str:
    suffix = table_suffix(path)
    separator = chosen or SEPARATORS.get(suffix)
    if not chosen and separator is not None:
        lines = [*islice(read_lines(path, []), _HEAD_LINES)]
        stated = SEP_LINE.fullmatch(lines[0])
        separator = stated[1] if stated else separator
        if separator == "," and not stated:
            header = next((line for line in lines if not line.startswith("#")), "")
            marks = sorted(_SEPARATORS, key=lambda mark: mark not in header)  # where no rows fit
            separator = max(marks, key=lambda mark: _count_cells(lines, mark))
    if separator is None:
        endings = ", ".join(filter(None, (*SEPARATORS, JSON_LINES)))
        allowed = f"{endings}, each also with {', '.join(OPENERS)}, or .parquet or {EXCEL}"
        allowed = "an array of objects, or an object a line" if suffix == ".json" else allowed
        raise InputError(f"{path}: unknown format {suffix!r}; give {allowed}")
    if len(separator) > 1 or separator in '"\r\n':
        raise InputError(f"separator={separator!r}: give one character, such as ';'")
    return separator


def _count_comments(lines: Sequence[str], separator: str) -> int:
    """Return how many lines before the header are blank or begin with # and have other cells."""
    others = [*takewhile(lambda x: x.startswith("#") or not SEP_LINE.sub("", x).strip(), lines)]
    counts = {line.count(separator) for line in others if line.startswith("#")}
    header = "".join(lines[len(others) : len(others) + 1])
    return len(others) if counts and header and header.count(separator) not in counts else 0


def _count_cells(lines: Sequence[str], separator: str) -> int:
    """Return the number of cells in each of the first rows; 0 where they differ, or for one row."""
    lines = [line for line in lines[_count_comments(lines, separator) :] if line.strip()]
    try:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator)]
    except csv.Error:
        return 0
    counts = counts[:-1] if len(lines) >= _HEAD_LINES - 1 else counts  # the last may be cut off
    return counts[0] if len(counts) > 1 and len({*counts}) == 1 < counts[0] else 0


def _read_plain(path: Path, separator: str, quoted: bool | None) -> pd.DataFrame | None:
    """Read the table of a plain file at once; None for one that needs ``_columns``, which words the
    errors: marks that quote, lines before the header, rows of unequal cells, not UTF-8.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    with open_binary(path) as stream:
        content = stream.read().removeprefix(codecs.BOM_UTF8)
    is_quoting = quoted is not False and b'"' in content
    has_lone_returns = content.count(b"\r") != content.count(b"\r\n")
    if is_quoting or has_lone_returns or b"\0" in content or not separator.isascii():
        return None
    try:
        first = content.partition(b"\n")[0].decode().rstrip("\r")
        if first.startswith("#") or not SEP_LINE.sub("", first).strip():
            return None
        names = _header(path, first.split(separator))
        cells = arrow_csv.read_csv(
            pa.BufferReader(content),
            arrow_csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1),
            arrow_csv.ParseOptions(delimiter=separator, quote_char=False),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
        )
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return None
    table: pd.DataFrame = cells.to_pandas()
    return table


class _QuotesError(InputError):
    """Quotation marks that cannot be quotes."""


def _delimited(
    path: Path, separator: str, quoted: bool | None, notes: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Read header and cells by column."""
    before = [*notes]
    try:
        return _columns(path, separator, quoted is not False, notes)
    except _QuotesError as error:
        if quoted is not None:
            raise
        notes[:] = before
        with suppress(InputError):
            cells = _columns(path, separator, False, notes)
            notes.append(f"{path}: quotation marks are read as text")
            return cells
        raise error from None


def _columns(
    path: Path, separator: str, quoted: bool, notes: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Read header and cells by column; rows as lists would take ten times the memory."""
    row_lines: list[str] = []  # of the row that is read
    n_comments = _count_comments([*islice(read_lines(path, []), _HEAD_LINES)], separator)
    if n_comments:
        notes.append(f"{path}: lines of # are left out before the header, line {n_comments + 1}")

    def read() -> Iterator[str]:
        for number, text in enumerate(read_lines(path, notes)):
            text = "" if number < n_comments else text
            row_lines.append(text if number else SEP_LINE.sub("", text))
            yield f"{row_lines[-1]}\n"

    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(read(), delimiter=separator, quoting=quoting, strict=True)
    header: list[str] = []
    columns: list[list[str]] = []
    doubtful: list[tuple[int, list[str], list[list[str]]]] = []  # several lines, each like a row
    line = 1
    try:
        for row in reader:
            if not header and row:
                header = _header(path, row)
                columns = [[] for _ in header]
            elif row:
                _add_row(row, columns, separator, f"{path}: line {line}")
                parts = [text.split(separator) for text in row_lines]
                if len(parts) > 1 and {*map(len, parts)} == {len(header)}:
                    doubtful.append((line, row, parts))
            row_lines.clear()
            line = reader.line_num + 1
    except csv.Error as error:
        raise _QuotesError(
            f"{path}: line {line} is not delimited text ({error}); double the quotation marks"
            f" within cells, {_UNQUOTED}"
        ) from error
    if not header:
        raise InputError(f"{path} is empty")
    cells = [{*column} for column in columns] if doubtful else []
    for number, row, parts in doubtful:
        if _holds_rows(row[: len(header)], parts, cells):
            problem = f"{path}: line {number}: a quotation mark holds {len(parts)} rows in one cell"
            raise _QuotesError(f"{problem}; double the marks within cells, {_UNQUOTED}")
    return header, columns


def _header(path: Path, names: list[str]) -> list[str]:
    while len(names) > 1 and not names[-1].strip():  # separators at the ends of lines
        names = names[:-1]
    require_unique_columns(names, f"{path}: the header")
    return names


def _add_row(row: list[str], columns: list[list[str]], separator: str, place: str) -> None:
    """Append the cells of a row to the columns."""
    if any(cell.strip() for cell in row[len(columns) :]) or len(row) < len(columns):
        of_r = "; R's write.table leaves out the name of row names: give col.names=NA to it"
        remedy = f"quote cells that hold the separator {separator!r}"
        is_of_r = len(row) == len(columns) + 1 and not columns[0]
        cells = f"has {len(row)} cells, the header {len(columns)}"
        raise InputError(f"{place} {cells}; {remedy}{of_r if is_of_r else ''}")
    for column, cell in zip(columns, row, strict=False):
        column.append(cell)


def _holds_rows(
    row: Sequence[str], lines: Sequence[Sequence[str]], columns: Sequence[Collection[str]]
) -> bool:
    """Return whether a cell of several lines holds rows, as two marks that stand alone make it:
    each line then has a cell, beyond those of its own row, that is in its column elsewhere.
    """
    quoted = next((place for place, cell in enumerate(row) if "\n" in cell), len(row))
    places = range(len(row))
    beyond = [places[quoted + 1 :], *[places] * (len(lines) - 2), places[:quoted]]
    pairs = [(line, others) for line, others in zip(lines, beyond, strict=True) if others]
    return bool(pairs) and all(
        any(line[place] and line[place] in columns[place] for place in others)
        for line, others in pairs
    )
