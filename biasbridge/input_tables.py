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


def as_dataframe(
    table: InputTable, *, filter: str = "", labels: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a table, or the result file of a harness (``read_answers``), from its path.

    A result file must have the columns ``labels``. Named levels of an index become columns.
    Raises ``InputError`` for another value or repeated columns.
    """
    from pandas import DataFrame

    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format, read_answers
    from biasbridge.files import tables

    if isinstance(table, DataFrame):
        table = tables.index_as_columns(table)
        tables.require_unique_columns(map(str, table.columns), "the table")
        is_named = all(isinstance(x, str) for x in table)
        return tables.unwrap_lists(table if is_named else table.rename(columns=str), _KEPT)
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is not a table; give a pandas table, or a path")
    path = Path(table)
    if filter or detect_format(path) not in ("", JSON_OBJECTS):
        return _with_labels(read_answers(path, filter=filter), labels, str(path))
    return tables.unwrap_lists(tables.read_table(path, lists=_KEPT, quoted=None), _KEPT)


def _with_labels(table: pd.DataFrame, labels: Sequence[str], path: str) -> pd.DataFrame:
    if (absent := [name for name in labels if name not in table]) and "expected" in table:
        problem = f"{path} has no column {absent[0]!r}: its answers are not of a few classes"
        remedy = "for the share of right answers give --gold expected --pred correct --measures"
        raise InputError(f"{problem}; {remedy} accuracy; columns: {', '.join(map(str, table))}")
    if "task" in table and (n_tasks := table["task"].nunique()) > 1:
        note = (
            f"the items of {n_tasks} tasks together: {', '.join(map(str, table['task'].unique()))}"
        )
        table.attrs["notes"] = [*table.attrs["notes"], note]
    return table


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
