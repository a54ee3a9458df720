"""Columns of any table as arrays of numbers and as text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from files import InputError
from files.tables import require_columns as require_columns

Key = TypeVar("Key", bound=Hashable)

EMPTY = "(empty)"
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "-"})


def values_of(table: pd.DataFrame, column: str) -> list[object]:
    """The values of a column."""
    values: list[object] = table[column].tolist()
    return values


def numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column as floats; blanks and the usual words for missing are NaN, and all are where the
    table lacks the column. Raises ``InputError`` for any other text.
    """
    if column not in table:
        return np.full(len(table), np.nan)
    values = table[column]
    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy(dtype=float, na_value=np.nan)
    found = np.full(len(values), np.nan)
    for i, value in enumerate(values_of(table, column)):
        if is_blank(value) or str(value).strip().lower() in MISSING:
            continue
        try:
            found[i] = float(str(value))
        except ValueError:
            raise InputError(
                f"column {column!r} holds {value!r} in row {i + 1}, which is no number; choose a"
                " numeric column"
            ) from None
    return found


def labels(table: pd.DataFrame, column: str, *, empty: str = EMPTY) -> list[str]:
    """A column as text to group by: the numbers 6 and 6.0 are the label ``6``; an empty cell is
    the label ``empty``.
    """
    return [empty if is_blank(value) else _label(value) for value in values_of(table, column)]


def texts(table: pd.DataFrame, column: str) -> list[str]:
    """A column as text; empty text where a cell is empty or the table lacks the column."""
    return labels(table, column, empty="") if column in table else [""] * len(table)


def text_rows(table: pd.DataFrame, columns: Iterable[str]) -> list[tuple[str, ...]]:
    """For each row its texts in the columns named."""
    return list(zip(*(texts(table, name) for name in columns), strict=True))


def lists(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column of lists of numbers. Shape (rows, longest); NaN where a list is shorter, or missing,
    and no columns where the table lacks the column. A list that a CSV file has as text, shortened
    as it may be, is missing.
    """
    values = values_of(table, column) if column in table else []
    told = ([] if isinstance(value, str) else value for value in values)
    found = [np.atleast_1d(np.asarray(value, dtype=float)) for value in told]
    whole = np.full((len(table), max(map(len, found), default=0)), np.nan)
    for row, each in zip(whole, found, strict=False):
        row[: len(each)] = each
    return whole


def positions(keys: Iterable[Key]) -> dict[Key, NDArray[np.intp]]:
    """Where each key stands, in order of appearance."""
    found: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return {key: np.array(places) for key, places in found.items()}


def is_blank(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, NA or empty text."""
    return value is None or value is pd.NA or value is pd.NaT or value != value or value == ""


def _label(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
