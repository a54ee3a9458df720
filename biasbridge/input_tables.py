"""Tables and names of columns in the forms that the functions of ``biasbridge`` accept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from files import InputError

if TYPE_CHECKING:
    import pandas as pd

InputTable: TypeAlias = "pd.DataFrame | str | PathLike[str]"


def as_names(names: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list. Raise ``InputError`` for another value."""
    if not isinstance(names, str | Iterable):
        raise InputError(f"{names!r} is not a name; give a name, or a list of names")
    return [names] if isinstance(names, str) else list(names)


def as_dataframe(table: InputTable) -> pd.DataFrame:
    """Read a table from its path. Raise ``InputError`` for another value or repeated columns."""
    from pandas import DataFrame

    from files.tables import read_table, require_unique_columns

    if isinstance(table, DataFrame):
        require_unique_columns(table.columns, "the table")
        return table
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is no table; give a pandas table, or a path")
    return read_table(Path(table), lists="resampled")


def with_notes(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the table with the distinct texts of a column as its notes."""
    texts = map(str, table.get(column, []))
    table.attrs["notes"] = [text for text in dict.fromkeys(texts) if text]
    return table
