"""Gaps of classifiers with several labels: each class against the rest, and the mean over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from extrinsic.combined import Combined
from extrinsic.gap_table import sample_rows
from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.predictions import get_column, plain_number, read_sample
from extrinsic.ranking import RANKINGS
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.rows import Row
    from extrinsic.sample import Sample

MACRO = "macro"
# One number for all classes: the share of items whose class is right
WHOLE = "accuracy"
# Over all classes the shares selected add up to 1 in every group
NO_MEAN = (WHOLE, "selection_rate", "base_rate", *CRITERIA)


def class_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """The rows of ``extrinsic.gap_table.gap_table``, for labels and predictions of any names, of
    which ``1`` and ``1.0`` are one.

    The column ``subset`` says which class is measured against all others, ``macro`` is the mean
    over the classes (of a group without enough items of every class NaN, with its reason), and is
    empty for accuracy, the share of items whose class is right. AUCs are refused, for there is one
    score an item, and predictions of which none is a label.
    """
    if ranked := [name for name in gaps.measures if name in RANKINGS]:
        raise InputError(f"measures={ranked[0]} needs labels of 0 and 1; leave it out")
    label, prediction = (_classes(predictions, name) for name in ("label", "prediction"))
    if not {*label} & {*prediction}:
        one, other = (", ".join(sorted({*each})[:5]) for each in (label, prediction))
        raise InputError(f"no prediction is a label: {other} are none of {one}; spell them alike")
    names = sorted({*label} | {*prediction})
    by_class = {
        name: read_sample(_binary(predictions, label == name, prediction == name), gaps)
        for name in names
    }
    rows: list[Row] = []
    if WHOLE in gaps.measures:
        right = _binary(predictions, label == label, label == prediction)
        rows += _rows("", read_sample(right, gaps), gaps, [WHOLE])
    each = [name for name in gaps.measures if name != WHOLE]
    for name, sample in by_class.items():
        rows += _rows(name, sample, gaps, each)
    mean = [name for name in gaps.measures if name not in NO_MEAN]
    mean_of_classes = Combined(list(by_class.values()), [1 / len(by_class)] * len(by_class))
    return rows + _rows(MACRO, mean_of_classes, gaps, mean)


def _rows(subset: str, sample: Sample | Combined, gaps: Gaps, measures: Sequence[str]) -> list[Row]:
    return [row._replace(subset=subset) for row in sample_rows(sample, gaps, measures)]


def _classes(predictions: pd.DataFrame, column: str) -> pd.Series[str]:
    cells = get_column(predictions, column)
    values = cells.map(plain_number, na_action="ignore").astype("string")
    missing = values.isna() | values.eq("")
    if missing.any():
        many = f"{missing.sum()} of {len(values)} rows"
        raise InputError(f"column {column!r} is empty in {many}; give a label in every row")
    if MACRO in set(values):
        raise InputError(f"a class is called {MACRO!r}, the name of the mean over all; rename it")
    return values


def _binary(
    predictions: pd.DataFrame, label: pd.Series[bool], prediction: pd.Series[bool]
) -> pd.DataFrame:
    """The predictions of whether an item is of a class."""
    flags: Mapping[str, pd.Series[int]] = {
        "label": label.astype(int),
        "prediction": prediction.astype(int),
    }
    return predictions.assign(**flags)
