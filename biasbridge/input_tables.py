"""Tables and names of columns in the forms that the functions of ``biasbridge`` accept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from biasbridge.files import InputError

if TYPE_CHECKING:
    import pandas as pd

InputTable: TypeAlias = "pd.DataFrame | str | PathLike[str]"


def as_names(names: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list. Raise ``InputError`` for another value."""
    if not isinstance(names, str | Iterable):
        raise InputError(f"{names!r} is not a name; give a name, or a list of names")
    return [names] if isinstance(names, str) else list(names)


def as_dataframe(
    table: InputTable, *, filter: str = "", labels: Sequence[str] = (), quoted: bool = True
) -> pd.DataFrame:
    """Read a table, or the result file of a harness (``read_answers``), from its path.

    Of a result file, items without a value in a column of ``labels`` are left out and counted in
    the notes. Named levels of an index become columns. ``quoted``: as in ``read_table``. Raises
    ``InputError`` for another value or repeated columns.
    """
    from pandas import DataFrame

    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format, read_answers
    from biasbridge.files.tables import index_as_columns, read_table, require_unique_columns

    if isinstance(table, DataFrame):
        table = index_as_columns(table)
        require_unique_columns(map(str, table.columns), "the table")
        return table if all(isinstance(x, str) for x in table) else table.rename(columns=str)
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is no table; give a pandas table, or a path")
    path = Path(table)
    if filter or detect_format(path) not in ("", JSON_OBJECTS):
        return _with_labels(read_answers(path, filter=filter), labels, str(path))
    return read_table(path, lists="resampled", quoted=quoted)


def _with_labels(table: pd.DataFrame, labels: Sequence[str], path: str) -> pd.DataFrame:
    if (absent := [name for name in labels if name not in table]) and "expected" in table:
        problem = f"{path} has no column {absent[0]!r}, for its answers are not of a few classes"
        remedy = "for the share of right answers give --gold expected --pred correct --measures"
        raise InputError(f"{problem}; {remedy} accuracy; columns: {', '.join(map(str, table))}")
    if "task" in table and (n_tasks := table["task"].nunique()) > 1:
        note = (
            f"the items of {n_tasks} tasks together: {', '.join(map(str, table['task'].unique()))}"
        )
        table.attrs["notes"] = [*table.attrs["notes"], note]
    missing = table[[name for name in labels if name in table]].isna().any(axis=1)
    if missing.all():
        raise InputError(f"{path}: no item has a value in each of the columns {', '.join(labels)}")
    if missing.any():
        note = f"{missing.sum()} of {len(table)} items are left out: no value in"
        table.attrs["notes"] = [*table.attrs["notes"], f"{note} {' or '.join(labels)}"]
    return table[~missing]


def with_notes(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the table with the distinct texts of a column as its notes."""
    texts = map(str, table.get(column, []))
    table.attrs["notes"] = [text for text in dict.fromkeys(texts) if text]
    return table
