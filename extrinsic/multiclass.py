"""Gaps of classifiers with several labels: each class against the rest, and the mean over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from extrinsic.gap_table import sample_rows
from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.intervals import UNDEFINED, Estimate, combination, correlation_of, effective_size
from extrinsic.measured import Figure, Side, both_reasons
from extrinsic.predictions import column_of, plain_number, read_sample
from extrinsic.ranking import RANKINGS
from extrinsic.spread import Block
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.rows import Row
    from extrinsic.sample import Sample

MACRO = "macro"
# One number for all classes: the share of items whose class is right
WHOLE = "accuracy"
# Over all classes the shares selected add up to 1 in every group
NO_MEAN = (WHOLE, "selection_rate", *CRITERIA)


@dataclass(frozen=True)
class Macro:
    """The mean over classes of measures of each class against the rest, all of the same items."""

    classes: Sequence[Sample]

    @property
    def groups(self) -> Sequence[str]:
        """The names of all groups."""
        return self.classes[0].groups

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.classes[0].level

    def figure(self, measure: str, side: Side) -> Figure:
        """The mean of a measure; undefined where a class has too few items."""
        figures = [each.figure(measure, side) for each in self.classes]
        reason = both_reasons(figures)
        found = UNDEFINED if reason else self._mean(measure, [side], [1])
        return Figure(found, min(each.support for each in figures), reason)

    def difference(self, measure: str, one: Side, other: Side) -> Estimate:
        """The mean of one side minus that of the other; undefined where either is."""
        if self.figure(measure, one).reason or self.figure(measure, other).reason:
            return UNDEFINED
        return self._mean(measure, [one, other], [1, -1])

    def _mean(self, measure: str, sides: Sequence[Side], signs: Sequence[int]) -> Estimate:
        """An error counts against two classes, so that their measures go together."""
        asked = [(each, side) for side in sides for each in self.classes]
        estimates = [sample.figure(measure, side).estimate for sample, side in asked]
        together = correlation_of([sample.by_unit(measure, side) for sample, side in asked])
        shares = [sign / len(self.classes) for sign in signs for _ in self.classes]
        return combination(estimates, shares, together)

    def resampled_difference(self, measure: str, one: Side, other: Side) -> list[float]:
        """The same over the resamples."""
        lists = [each.resampled_difference(measure, one, other) for each in self.classes]
        values: list[float] = np.mean(lists, axis=0).tolist()
        return values

    def block(self, measure: str, groups: Sequence[str]) -> Block:
        """What the largest difference between groups is made of."""
        estimates = [self.figure(measure, Side(group)).estimate for group in groups]
        sizes = [effective_size(each, self.level) for each in estimates]
        return Block(np.array([each.value for each in estimates]), np.array(sizes))


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
    return rows + _rows(MACRO, Macro(list(by_class.values())), gaps, mean)


def _rows(subset: str, sample: Sample | Macro, gaps: Gaps, measures: Sequence[str]) -> list[Row]:
    return [row._replace(subset=subset) for row in sample_rows(sample, gaps, measures)]


def _classes(predictions: pd.DataFrame, column: str) -> pd.Series[str]:
    cells = column_of(predictions, column)
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
