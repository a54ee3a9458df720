"""Tidy tables come in: any CSV, TSV or Parquet file by column names, and the tables of a results
folder.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from files import InputError, nearest, read_lines

EMPTY = "(empty)"
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "-"})


class Tables(NamedTuple):
    """What a results folder holds: one row per point, per intrinsic score and per extrinsic
    score.
    """

    points: pd.DataFrame
    intrinsic: pd.DataFrame
    extrinsic: pd.DataFrame


def read_tables(results_dir: str | Path) -> Tables:
    """The three tables of a results folder; ``InputError`` when one is absent or damaged."""
    folder = Path(results_dir)
    return Tables(*(read_table(folder / f"{name}.parquet") for name in Tables._fields))


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


def require_columns(table: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Raise ``InputError`` naming the first column that ``table`` lacks, the nearest one and all
    there are.
    """
    columns = [str(column) for column in table.columns]
    for name in names:
        if name not in columns:
            raise InputError(
                f"{what} has no column {name!r}{nearest(name, columns)}; it has"
                f" {', '.join(columns) or 'none'}"
            )


def numbers(table: pd.DataFrame, column: str) -> np.ndarray:
    """A column as floats; blanks and the usual words for missing are NaN. Raises ``InputError`` for
    any other text.
    """
    values = table[column]
    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy(dtype=float, na_value=np.nan)
    found = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if pd.isna(value) or str(value).strip().lower() in MISSING:
            continue
        try:
            found[i] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"column {column!r} holds {value!r} in row {i + 1}, which is no number; choose a"
                " numeric column"
            ) from None
    return found


def labels(table: pd.DataFrame, column: str) -> pd.Series:
    """A column as text to group by: the numbers 6 and 6.0 are the label ``6``, an empty cell is the
    label ``(empty)``.
    """
    return table[column].map(_label, na_action=None).astype(object)


def is_blank(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, NA or empty text."""
    return value is None or value is pd.NA or value != value or value == ""


def _label(value: object) -> str:
    if is_blank(value):
        return EMPTY
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
