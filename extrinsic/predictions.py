"""Tables of predictions, checked and read as arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like

from extrinsic.grouped_predictions import ALL, REST, GroupedPredictions
from extrinsic.ranking import RANKINGS
from files import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from extrinsic.gaps import Gaps
    from extrinsic.measures import Counts
    from stats.arrays import Floats

# A list of names as text, ['A', 'B']; [male] is a name
LIST = re.compile(r"""\[\s*(['"]).*\1\s*\]""", re.DOTALL)
WHOLE = re.compile(r"([+-]?\d+)\.0+")


def read_grouped_predictions(predictions: pd.DataFrame, gaps: Gaps) -> GroupedPredictions:
    """Read predictions as arrays; ``InputError`` for those that ``gaps`` cannot use."""
    names = _group_names(predictions, gaps)
    present = {*names.dropna()}
    groups = list(dict.fromkeys((*gaps.named, *gaps.groups, *sorted(present))))
    groups += [name for name in _empty_categories(predictions) if name not in groups]
    # A missing group has code -1
    group_id = pd.Categorical(names, categories=groups).codes.astype(np.int64)
    columns: dict[str, NDArray[Any]] = {
        name: read_binary(predictions, name) for name in ("label", "prediction")
    }
    if {*gaps.measures} & {*RANKINGS}:
        columns["score"] = read_scores(predictions, "score")
    if "unit" in predictions:
        columns["unit"] = pd.factorize(predictions["unit"])[0]
    item, first = _read_items(predictions, columns, names)
    columns = {name: values[first] for name, values in columns.items()}
    keys = predictions.get("resampled_by")
    return GroupedPredictions(
        groups,
        member=item[group_id >= 0],
        group_id=group_id[group_id >= 0],
        confusion_cell=2 * columns["label"] + columns["prediction"],
        score=columns.get("score"),
        unit=columns.get("unit"),
        resampled_by=None if keys is None else keys.iloc[first].astype(str).tolist(),
        level=gaps.level,
        min_support=gaps.min_support,
    )


def _read_items(
    predictions: pd.DataFrame, columns: Mapping[str, NDArray[Any]], groups: pd.Series[str]
) -> tuple[Counts, Counts]:
    """Return the item of each row, (rows,), and the first row of each item, (items,): rows of one
    ``id`` are one item in several groups, with equal ``columns``.
    """
    rows = np.arange(len(predictions))
    if "id" not in predictions:
        return rows, rows
    ids = predictions["id"].astype("string")
    if missing := int(ids.isna().sum()):
        raise InputError(f"{missing} of {len(ids)} rows have no id; give each, or drop the column")
    item = pd.factorize(ids)[0]
    first = np.unique(item, return_index=True)[1]
    remedy = "give each item an id of its own, or drop the column"
    for name, values in columns.items():
        if len(differing := np.flatnonzero(values != values[first][item])):
            raise InputError(
                f"the rows of id {ids.iloc[differing[0]]!r} differ in {name}; {remedy}"
            )
    memberships = pd.DataFrame({"item": item, "group": groups.to_numpy()})
    if len(repeated := np.flatnonzero(memberships.duplicated())):
        name = groups.iloc[repeated[0]]
        where = "without a group" if name is pd.NA else f"in group {name!r}"
        raise InputError(f"id {ids.iloc[repeated[0]]!r} occurs twice {where}; {remedy}")
    return item, first


def read_binary(table: pd.DataFrame, column: str, remedy: str = "") -> Counts:
    """Read a column of 0 and 1 (also as text) or of true and false as integers; ``InputError``,
    which ends in the ``remedy``, for anything else.
    """
    booleans = get_column(table, column).map(str).str.lower().map({"true": 1.0, "false": 0.0})
    numbers = booleans.where(booleans.notna(), _numbers(table, column))
    rule = f"it must be 0 or 1 in every row{remedy}"
    _require(numbers.isin([0.0, 1.0]), table[column], rule)
    return np.asarray(numbers, dtype=np.int64)


def read_scores(table: pd.DataFrame, column: str) -> Floats:
    """Read a column of finite numbers; ``InputError`` for anything else."""
    numbers = _numbers(table, column)
    _require(numbers.abs() < np.inf, table[column], "give a number in every row")
    return np.asarray(numbers, dtype=np.float64)


def _numbers(table: pd.DataFrame, column: str) -> pd.Series[float]:
    return pd.to_numeric(get_column(table, column), errors="coerce").astype("float64")


def _require(valid: pd.Series[bool], values: pd.Series, rule: str) -> None:
    if valid.all():
        return
    examples = ", ".join(repr(value) for value in values[~valid].unique().tolist()[:3])
    rows = f"{(~valid).sum()} of {len(values)} rows"
    raise InputError(f"column {values.name!r} holds {examples} in {rows}; {rule}")


def read_positive(table: pd.DataFrame, columns: Sequence[str], positive: Sequence[str]) -> Counts:
    """Read columns of labels of any names as 1, if ``positive``, or 0: (rows, columns).

    A later column of 0 and 1 only is taken as it is where the first has other labels.

    Raises ``InputError`` for a row without a label, a positive label that is not in the first
    column, and labels of another column that are not in the first.
    """
    plain = [get_column(table, name).map(_plain, na_action="ignore") for name in columns]
    for name, labels in zip(columns, plain, strict=True):
        if missing := int((labels.isna() | (labels == "")).sum()):
            raise InputError(f"column {name!r} has no label in {missing} of {len(table)} rows")
    first = columns[0]
    labels_present = {*plain[0]}
    listed = f"labels: {', '.join(sorted(labels_present)[:10])}"
    for label in positive:
        if _plain(label) not in labels_present:
            near = nearest(_plain(label), labels_present)
            raise InputError(f"no row of column {first!r} has the label {label!r}{near}; {listed}")
    positive_labels = {_plain(label) for label in positive}
    flags = []
    for name, labels in zip(columns, plain, strict=True):
        if {*labels} <= {"0", "1"} and not labels_present & {"0", "1"}:
            flags.append(labels == "1")
            continue
        if unknown := sorted({*labels} - labels_present):
            problem = f"column {name!r} holds {unknown[0]!r}, which {first!r} does not"
            raise InputError(f"{problem}; its {listed}")
        flags.append(labels.isin(positive_labels))
    return np.column_stack(flags).astype(np.int64)


def plain_number(label: object) -> str:
    """Return a label as text, ``1.0`` as ``1``."""
    text = str(label).strip()
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def _plain(label: object) -> str:
    """Return a label as text, ``1.0`` and ``True`` as ``1``."""
    text = plain_number(label)
    return {"True": "1", "False": "0"}.get(text, text)


def get_column(table: pd.DataFrame, column: str, remedy: str = "") -> pd.Series:
    """Return a column by name; ``InputError``, with the nearest name, if it is missing, and, with
    the ``remedy``, for cells that are lists or no text, number or date.
    """
    if column not in table.columns:
        present = ", ".join(repr(name) for name in table.columns)
        raise InputError(
            f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        )
    cells = table[column]
    for cell in cells if cells.dtype in (object, complex) else ():
        if is_list_like(cell) or isinstance(cell, bytes | complex):
            problem = (
                f"column {column!r} holds {str(cell)!r}, a value of type {type(cell).__name__}"
            )
            raise InputError(f"{problem}; give one text or number in each cell{remedy}")
    return cells


def read_groups(table: pd.DataFrame, column: str) -> pd.Series[str]:
    """Return a column of groups as text; ``InputError`` for lists, written as text too."""
    remedy = ", and of an item in several groups a row for each, with its name in a column id"
    groups = get_column(table, column, remedy).astype("string")
    for name in groups.dropna().unique():
        if LIST.fullmatch(name):
            raise InputError(f"column {column!r} holds {name!r}, a list; give one group{remedy}")
    return groups


def read_clusters(table: pd.DataFrame, column: str) -> pd.Series[str]:
    """Return a column of clusters as text; ``InputError`` for empty cells or a single cluster."""
    clusters = get_column(table, column).astype("string")
    if missing := int((clusters.isna() | clusters.eq("")).sum()):
        raise InputError(
            f"column {column!r} is empty in {missing} of {len(table)} rows; name the"
            " cluster of every item, its own where it has none"
        )
    if len(clusters.unique()) == 1:
        raise InputError(f"column {column!r} has one cluster; an interval takes two or more")
    return clusters


def _group_names(predictions: pd.DataFrame, gaps: Gaps) -> pd.Series[str]:
    names = read_groups(predictions, "group")
    present = sorted(names.dropna().unique())
    reserved = {ALL: "the rows over all items"}
    if "one-vs-rest" in gaps.compare:
        reserved[REST] = "all items but those of a group"
    for name, meaning in reserved.items():
        if name in present:
            raise InputError(f"a group is called {name!r}, the name of {meaning}; rename it")
    allowed = {*present, *_empty_categories(predictions)}
    for group in (*gaps.named, *gaps.groups):
        if group not in (present if group in gaps.named else allowed):
            listed = ", ".join(repr(name) for name in present) or "none"
            raise InputError(
                f"no rows of group {group!r}{nearest(group, present)}; groups present: {listed}"
            )
    return names


def _empty_categories(predictions: pd.DataFrame) -> list[str]:
    """Return the categories of a categorical column of groups, empty ones included."""
    dtype = predictions["group"].dtype
    return sorted(map(str, dtype.categories)) if isinstance(dtype, pd.CategoricalDtype) else []
