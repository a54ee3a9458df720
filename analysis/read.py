"""Any CSV, TSV or Parquet file as a table."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pyarrow as pa

from files import InputError, nearest, read_lines


def read_table(path: str | Path) -> pd.DataFrame:
    """A table from ``.parquet``, or from delimited text with one header line (tab for ``.tsv`` and
    ``.tab``, else comma).

    Cells of text stay strings as written, so that a label such as ``6`` or ``none`` is not
    reinterpreted. Text may be compressed (``.gz``, ``.bz2``, ``.xz``). Raises ``InputError`` for a
    missing, empty, damaged or ragged file.
    """
    path = Path(path)
    if path.suffix != ".parquet":
        return _read_delimited(path)
    if not path.is_file():
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"no such file: {path}{nearest(path.name, siblings)}")
    try:
        return pd.read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is not a readable Parquet file ({error}); write it again"
        ) from error


def _read_delimited(path: Path) -> pd.DataFrame:
    plain = path.with_suffix("") if path.suffix in {".gz", ".bz2", ".xz"} else path
    delimiter = "\t" if plain.suffix in {".tsv", ".tab"} else ","
    lines = (f"{line}\n" for line in read_lines(path))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = [cell.removeprefix("\ufeff") for cell in next(reader)]
        rows = [_checked(row, header, path, reader.line_num) for row in reader if row]
    except csv.Error as error:
        raise InputError(
            f"{path}: line {reader.line_num} is not delimited text ({error})"
        ) from error
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(
            f"{path}: the header names {', '.join(map(repr, twice))} more than once; rename one"
        )
    return pd.DataFrame(rows, columns=header, dtype=str)


def _checked(row: list[str], header: list[str], path: Path, line: int) -> list[str]:
    if len(row) != len(header):
        raise InputError(
            f"{path}: line {line} has {len(row)} cells, the header {len(header)}; quote cells that"
            " hold the delimiter"
        )
    return row
