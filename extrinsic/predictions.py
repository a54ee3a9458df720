"""A table of predictions as arrays, or what is wrong with it.

Gaps of several embeddings share the posts they are measured on, so the choice of posts moves them
together. Resamples that are the same for everybody who predicts the posts show that part of their
noise: over embeddings, the covariance of their resampled gaps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from extrinsic.ranking import RANKINGS
from extrinsic.sample import ALL, REST, Sample
from files import InputError, nearest
from intrinsic.resampling import RESAMPLES, times_drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extrinsic.gaps import Gaps
    from extrinsic.intervals import Floats
    from extrinsic.measures import Counts

BLOCK = 8192
WHOLE = re.compile(r"([+-]?\d+)\.0+")


def read_sample(predictions: pd.DataFrame, gaps: Gaps) -> Sample:
    """The predictions as arrays; those that ``gaps`` cannot be made of are refused."""
    names = _group_names(predictions, gaps)
    present = {*names.dropna()}
    groups = list(dict.fromkeys((*gaps.named, *gaps.groups, *sorted(present))))
    groups += [name for name in _empty_categories(predictions) if name not in groups]
    # A missing group has code -1
    code = pd.Categorical(names, categories=groups).codes.astype(np.int64)
    cell = 2 * read_binary(predictions, "label") + read_binary(predictions, "prediction")
    score = _read_scores(predictions) if {*gaps.measures} & {*RANKINGS} else None
    unit = pd.factorize(predictions["unit"])[0] if "unit" in predictions else None
    drawn = _resample(predictions, code, cell, len(groups))
    return Sample(groups, code, cell, score, unit, drawn, gaps.level, gaps.least_support)


def read_binary(table: pd.DataFrame, column: str, remedy: str = "") -> Counts:
    """A column of 0 and 1 (also as text) or of true and false as integers; ``InputError``, which
    ends in the ``remedy``, for anything else.
    """
    truth = get_column(table, column).map(str).str.lower().map({"true": 1.0, "false": 0.0})
    numbers = truth.where(truth.notna(), _numbers(table, column))
    wanted = f"it must be 0 or 1 in every row{remedy}"
    _require(numbers.isin([0.0, 1.0]), table[column], wanted)
    return np.asarray(numbers, dtype=np.int64)


def _read_scores(table: pd.DataFrame) -> Floats:
    numbers = _numbers(table, "score")
    _require(numbers.abs() < np.inf, table["score"], "give a number in every row")
    return np.asarray(numbers, dtype=np.float64)


def _numbers(table: pd.DataFrame, column: str) -> pd.Series[float]:
    return pd.to_numeric(get_column(table, column), errors="coerce").astype("float64")


def _require(good: pd.Series[bool], values: pd.Series, wanted: str) -> None:
    if good.all():
        return
    examples = ", ".join(repr(value) for value in values[~good].unique().tolist()[:3])
    rows = f"{(~good).sum()} of {len(values)} rows"
    raise InputError(f"column {values.name!r} holds {examples} in {rows}; {wanted}")


def read_positive(table: pd.DataFrame, columns: Sequence[str], positive: Sequence[str]) -> Counts:
    """Columns of labels of any names as 1, for the ``positive`` ones, and 0: (rows, columns).

    Raises ``InputError`` for a row without a label, a positive label that no row of the first
    column has, and labels of another column that the first does not have.
    """
    plain = {name: get_column(table, name).map(_plain, na_action="ignore") for name in columns}
    for name, labels in plain.items():
        if missing := int((labels.isna() | (labels == "")).sum()):
            raise InputError(f"column {name!r} has no label in {missing} of {len(table)} rows")
    first = columns[0]
    known = {*plain[first]}
    listed = f"labels: {', '.join(sorted(known)[:10])}"
    for label in positive:
        if _plain(label) not in known:
            near = nearest(_plain(label), known)
            raise InputError(f"no row of column {first!r} has the label {label!r}{near}; {listed}")
    for name, labels in plain.items():
        if unknown := sorted({*labels} - known):
            lacks = f"which {first!r} does not; its {listed}"
            raise InputError(f"column {name!r} holds {unknown[0]!r}, {lacks}")
    counted = {_plain(label) for label in positive}
    return np.column_stack([each.isin(counted) for each in plain.values()]).astype(np.int64)


def plain_number(label: object) -> str:
    """A label as text; ``1`` and ``1.0`` are one."""
    text = str(label).strip()
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def _plain(label: object) -> str:
    """The same; ``1`` and ``True`` are one too."""
    text = plain_number(label)
    return {"True": "1", "False": "0"}.get(text, text)


def get_column(table: pd.DataFrame, column: str) -> pd.Series:
    """A column by name; ``InputError`` with the nearest name where there is none."""
    if column not in table.columns:
        present = ", ".join(repr(name) for name in table.columns)
        raise InputError(
            f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        )
    return table[column]


def _group_names(predictions: pd.DataFrame, gaps: Gaps) -> pd.Series[str]:
    names = get_column(predictions, "group").astype("string")
    present = sorted(names.dropna().unique())
    taken = {ALL: "the rows over all items"}
    if "rest" in gaps.compare:
        taken[REST] = "all items but those of a group"
    for name, what in taken.items():
        if name in present:
            raise InputError(f"a group is called {name!r}, the name of {what}; rename it")
    known = {*present, *_empty_categories(predictions)}
    for wanted in (*gaps.named, *gaps.groups):
        if wanted not in (present if wanted in gaps.named else known):
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
    counts = resample_counts(ids.tolist(), 4 * place + cell, 4 * (n + 1))
    return counts.reshape(-1, n + 1, 4).swapaxes(0, 1)


def resample_counts(ids: Sequence[str], kinds: Counts, n_kinds: int) -> Counts:
    """How many items of each kind (0, 1, ..., ``n_kinds`` - 1) each resample holds: (200, n_kinds).

    The Poisson bootstrap (Hanley and MacGibbon, 2006): how often an item is drawn into a resample
    is Poisson(1), and a function of its id alone, so that neither the other items nor their order
    change it. Kinds are resampled independently; items of one id go together.
    """
    counts = np.zeros((RESAMPLES, n_kinds), dtype=np.int64)
    of_kind = np.eye(n_kinds, dtype=np.float32)
    for start in range(0, len(ids), BLOCK):
        here = slice(start, start + BLOCK)
        # Exact: whole numbers far below 2^24
        drawn = times_drawn(ids[here]).astype(np.float32)
        counts += (drawn.T @ of_kind[kinds[here]]).astype(np.int64)
    return counts
