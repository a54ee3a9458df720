"""A table of predictions as arrays, or what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from extrinsic.measured import ALL, REST
from extrinsic.ranking import RANKINGS
from extrinsic.resampling import resampled_counts
from extrinsic.sample import Sample
from files import InputError, nearest

if TYPE_CHECKING:
    from extrinsic.gaps import Gaps
    from extrinsic.intervals import Floats
    from extrinsic.measures import Counts


def read_sample(predictions: pd.DataFrame, gaps: Gaps) -> Sample:
    """The predictions as arrays; those that ``gaps`` cannot be made of are refused."""
    names = _group_names(predictions, gaps)
    present = {*names.dropna()}
    groups = list(dict.fromkeys((*gaps.named, *gaps.groups, *sorted(present))))
    groups += [name for name in _empty_categories(predictions) if name not in groups]
    # A missing group has code -1
    code = pd.Categorical(names, categories=groups).codes.astype(np.int64)
    cell = 2 * binary(predictions, "label") + binary(predictions, "prediction")
    score = _scores(predictions) if {*gaps.measures} & {*RANKINGS} else None
    unit = _codes(predictions["unit"]) if "unit" in predictions else None
    drawn = _resample(predictions, code, cell, len(groups))
    return Sample(groups, code, cell, score, unit, drawn, gaps.level, gaps.least_support)


def binary(table: pd.DataFrame, column: str) -> Counts:
    """A column of 0 and 1 (also text or booleans) as integers; ``InputError`` for anything else."""
    values = column_of(table, column)
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    bad = ~numbers.isin([0.0, 1.0]).to_numpy()
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        raise InputError(
            f"column {column!r} holds {examples} in {bad.sum()} of {len(values)} rows; it must be 0"
            " or 1 in every row"
        )
    return np.asarray(numbers, dtype=np.int64)


def column_of(table: pd.DataFrame, column: str) -> pd.Series:
    """A column by name; ``InputError`` with the nearest name where there is none."""
    if column not in table.columns:
        present = ", ".join(repr(name) for name in table.columns)
        raise InputError(
            f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        )
    return table[column]


def _scores(predictions: pd.DataFrame) -> Floats:
    values = column_of(predictions, "score")
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        rows = f"{bad.sum()} of {len(values)} rows"
        raise InputError(f"column 'score' holds {examples} in {rows}; give a number in every row")
    return numbers


def _group_names(predictions: pd.DataFrame, gaps: Gaps) -> pd.Series[str]:
    names = column_of(predictions, "group").astype("string")
    present = sorted(names.dropna().unique())
    taken = {ALL: "the rows over all items"}
    if "rest" in gaps.compare:
        taken[REST] = "all items but those of a group"
    for name, what in taken.items():
        if name in present:
            raise InputError(f"a group is called {name!r}, the name of {what}; rename it")
    for wanted in gaps.named:
        if wanted not in present:
            listed = ", ".join(repr(name) for name in present) or "none"
            raise InputError(
                f"no rows of group {wanted!r}{nearest(wanted, present)}; groups present: {listed}"
            )
    return names


def _empty_categories(predictions: pd.DataFrame) -> list[str]:
    """Groups that the column knows of, whether or not an item is of them."""
    kind = predictions["group"].dtype
    return sorted(map(str, kind.categories)) if isinstance(kind, pd.CategoricalDtype) else []


def _resample(predictions: pd.DataFrame, code: Counts, cell: Counts, n: int) -> Counts | None:
    """The cells of each group, and of the items without one, over the resamples, (n + 1, 200, 4);
    None without ids.
    """
    if "id" not in predictions:
        return None
    ids = predictions["id"].astype("string")
    if missing := int(ids.isna().sum()):
        raise InputError(f"{missing} of {len(ids)} rows have no id; give each, or drop the column")
    place = np.where(code < 0, n, code)
    counts = resampled_counts(ids.tolist(), 4 * place + cell, 4 * (n + 1))
    return counts.reshape(-1, n + 1, 4).swapaxes(0, 1)


def _codes(column: pd.Series) -> Counts:
    """Numbers for the different values of a column, (rows,)."""
    return np.asarray(pd.factorize(column)[0], dtype=np.int64)
