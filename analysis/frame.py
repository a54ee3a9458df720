"""The tables of an experiment, checked and typed once on entry; and the columns of any other table,
by name, as text, labels or numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_numeric_dtype, is_scalar

from biasbridge.files import InputError
from biasbridge.files.tables import require_columns as require_columns

Key = TypeVar("Key", bound=Hashable)

EMPTY = "(empty)"
MAX_NUMBER = 1e100
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "-"})
# Text and number columns of each table; an older or smaller table may lack some
POINT_TEXTS = (
    *("point", "experiment", "task", "source", "positive_class", "challenge"),
    *(
        "challenge_positive_class",
        "corpus",
        "embedding",
        "method",
        "method_family",
        "direction",
        "wordset",
    ),
    *("classifier", "label_method", "label_direction", "synthetic_mix", "word_groups"),
    "status",
    *("parent_options", "method_options", "task_options"),
    *("unit_key", "parent_key", "corpus_key", "extrinsic_key"),
)
POINT_NUMBERS = ("dose", "label_dose", "stereotype")
INTRINSIC_TEXTS = ("point", "metric", "convention", "query", "part", "oov", "reason")
INTRINSIC_NUMBERS = (
    "value",
    "low",
    "high",
    "unbiased",
    "scale_min",
    "scale_max",
    "n_found",
    "n_oov",
)
EXTRINSIC_TEXTS = (
    *("point", "task", "kind", "measure", "subset", "group", "privileged", "unprivileged"),
    *("group_by", "reason"),
)
EXTRINSIC_NUMBERS = (
    *("value", "low", "high", "support", "coverage"),
    *("majority_baseline", "expected_from_base_rates"),
)


class Tables(NamedTuple):
    """The tables of a results folder: one row per point, per intrinsic score, per extrinsic
    measure; the results of probes of vectors or metrics; and the words drawn from the task's posts.
    """

    points: pd.DataFrame
    intrinsic: pd.DataFrame
    extrinsic: pd.DataFrame
    probes: pd.DataFrame = pd.DataFrame(columns=["point", "probe"])
    words: pd.DataFrame = pd.DataFrame(columns=["point", "query"])


def typed(tables: Tables) -> Tables:
    """Return the tables with all text and number columns.

    Text is empty, and a number NaN, where a cell or the whole column is missing; a missing unbiased
    score is 0. Raises ``InputError`` for text in a number column.
    """
    if "unbiased" not in tables.intrinsic:
        tables = tables._replace(intrinsic=tables.intrinsic.assign(unbiased=0.0))
    return tables._replace(
        points=_typed(tables.points, POINT_TEXTS, POINT_NUMBERS),
        intrinsic=_typed(tables.intrinsic, INTRINSIC_TEXTS, INTRINSIC_NUMBERS),
        extrinsic=_typed(tables.extrinsic, EXTRINSIC_TEXTS, EXTRINSIC_NUMBERS),
    )


def _typed(table: pd.DataFrame, text: Sequence[str], number: Sequence[str]) -> pd.DataFrame:
    columns = {name: _text(table, name) for name in text}
    for name in number:
        if name not in table or not is_numeric_dtype(table[name]):
            columns[name] = pd.Series(as_float(table, name), table.index)
    return table.assign(**columns)


def _text(table: pd.DataFrame, name: str) -> pd.Series:
    if name in table and table[name].notna().all() and infer_dtype(table[name]) == "string":
        return table[name]
    return pd.Series(as_text(table, name), table.index, dtype=str)


def require_rows(
    table: pd.DataFrame, columns: Iterable[str], key: Sequence[str], table_name: str
) -> None:
    """Raise ``InputError`` for missing columns, no rows, or a duplicate ``key``."""
    require_columns(table, columns, table_name)
    if table.empty:
        raise InputError(f"{table_name} has no rows; run the experiment first")
    duplicates = table[table.duplicated(list(key))] if key else table[:0]
    if len(duplicates):
        first = ", ".join(f"{name} {as_text(duplicates, name)[0]!r}" for name in key)
        raise InputError(
            f"{table_name} holds {first} more than once; give each score a name of its own"
        )


def column_values(table: pd.DataFrame, column: str) -> list[object]:
    """Return the values of a column."""
    values: list[object] = table[column].tolist()
    return values


def as_float(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as floats; NaN for blanks and the usual words for missing, or a missing
    column. Raise ``InputError`` for other text, and for numbers whose squares overflow.
    """
    if column not in table:
        return np.full(len(table), np.nan)
    values = table[column]
    if is_numeric_dtype(values):
        cells = values.to_numpy(dtype=float, na_value=np.nan)
    else:
        numbered = enumerate(column_values(table, column), 1)
        cells = np.array([_number(value, column, row) for row, value in numbered], dtype=float)
    if too_large := cells[np.isfinite(cells) & (np.abs(cells) > MAX_NUMBER)].tolist():
        raise InputError(f"column {column!r} holds {too_large[0]:g}; give it in larger units")
    return cells


def _number(value: object, column: str, row: int) -> float:
    if is_blank(value) or str(value).strip().lower() in MISSING:
        return np.nan
    try:
        return float(str(value))
    except ValueError:
        raise InputError(
            f"column {column!r} holds {value!r} in row {row}, which is not a number; choose a"
            " numeric column"
        ) from None


def as_labels(table: pd.DataFrame, column: str, *, empty: str = EMPTY) -> list[str]:
    """Return a column as text to group by: the numbers 6 and 6.0 are the label ``6``; an empty cell
    is the label ``empty``.
    """
    return [
        empty if is_blank(value) else _label(value, column)
        for value in column_values(table, column)
    ]


def as_text(table: pd.DataFrame, column: str) -> list[str]:
    """Return a column as text; empty text for an empty cell or a missing column."""
    return as_labels(table, column, empty="") if column in table else [""] * len(table)


def text_rows(table: pd.DataFrame, columns: Iterable[str]) -> list[tuple[str, ...]]:
    """Return for each row its texts in the given columns."""
    return list(zip(*(as_text(table, name) for name in columns), strict=True))


def as_arrays(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column of lists of numbers. Shape (rows, longest).

    NaN where a list is shorter or missing; no columns where the table lacks the column. A list that
    a CSV file holds as text, possibly shortened, counts as missing.
    """
    values = column_values(table, column) if column in table else []
    cells = ([] if isinstance(value, str) else value for value in values)
    arrays = [np.atleast_1d(np.asarray(value, dtype=float)) for value in cells]
    padded = np.full((len(table), max(map(len, arrays), default=0)), np.nan)
    for row, array in zip(padded, arrays, strict=False):
        row[: len(array)] = array
    return padded


def group_indices(keys: Iterable[Key]) -> dict[Key, NDArray[np.intp]]:
    """Return the positions of each key, in order of appearance."""
    places_by_key: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        places_by_key.setdefault(key, []).append(place)
    return {key: np.array(places) for key, places in places_by_key.items()}


def is_blank(value: object) -> bool:
    """Test whether a cell is empty: None, NaN, NA or empty text."""
    if not is_scalar(value):
        return False
    return value is None or value is pd.NA or value is pd.NaT or value != value or value == ""


def _label(value: object, column: str) -> str:
    if not is_scalar(value):
        kind = type(value).__name__
        raise InputError(f"column {column!r} holds a {kind}; give a text or a number in each cell")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
