"""Tables of a user, and the notes of those that functions return."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from biasbridge.files import InputError
from biasbridge.stats.formatting import MAX_NAMED

if TYPE_CHECKING:
    import pandas as pd

_KEPT = "resampled"  # end of the names of columns that keep their lists
InputTable: TypeAlias = "pd.DataFrame | str | PathLike[str]"


def as_dataframe(table: InputTable) -> pd.DataFrame:
    """Read a table from its path, or return one with the named levels of its index as columns.

    Raises ``InputError`` for another value or repeated columns.
    """
    from pandas import DataFrame

    from biasbridge.files import tables
    from biasbridge.files.columns import unwrap_lists

    if isinstance(table, DataFrame):
        table = tables.index_as_columns(table)
        tables.require_unique_columns(map(str, table.columns), "the table")
        is_named = all(isinstance(x, str) for x in table)
        return unwrap_lists(table if is_named else table.rename(columns=str), _KEPT)
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is not a table; give a pandas table, or a path")
    return unwrap_lists(tables.read_table(Path(table), lists=_KEPT, quoted=None), _KEPT)


def with_notes(table: pd.DataFrame, column: str, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table with the distinct texts of a column as its notes, each after the names of
    its rows where these are given and few.
    """
    texts = list(map(str, table.get(column, [])))
    named: dict[str, list[str]] = {text: [] for text in texts if text}
    for text, name in zip(texts, names, strict=False):
        if text and name:
            named[text].append(name)
    table.attrs["notes"] = [
        f"{', '.join(rows)}: {text}" if 0 < len(rows) <= MAX_NAMED else text
        for text, rows in named.items()
    ]
    return table
