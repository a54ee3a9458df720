"""Gaps of several classes, each against all others, and of several classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from biasbridge.extrinsic.gap_table import (
    Row,
    adjust_rows,
    difference_rows,
    sample_rows,
    value_rows,
)
from biasbridge.extrinsic.gaps import CRITERIA, Gaps
from biasbridge.extrinsic.grouped_predictions import GroupOrRest
from biasbridge.extrinsic.predictions import read_grouped_predictions, read_labels
from biasbridge.extrinsic.ranking import RANKINGS
from biasbridge.extrinsic.weighted_sum import WeightedSum
from biasbridge.files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.gap_table import Predictions
    from biasbridge.extrinsic.grouped_predictions import GroupedPredictions
    from biasbridge.stats.intervals import Estimate

MACRO = "macro"
# One number for all classes: the share of items with the correct class
ALL_CLASSES = "accuracy"
# Not averaged: over all classes the selected shares sum to 1 in every group
NOT_AVERAGED = (ALL_CLASSES, "selection_rate", "base_rate", *CRITERIA)


def class_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """Return the rows of ``gap_table`` for labels of any names (``1`` and ``1.0`` are the same).

    ``subset`` is the class measured against all others, ``macro`` for the mean over classes (NaN
    with its reason for a group with too few items of a class), and empty for accuracy, the share of
    items with the correct class. Raises ``InputError`` for AUCs, as an item has one score only, and
    if no prediction is a label.
    """
    if aucs := [name for name in gaps.measures if name in RANKINGS]:
        raise InputError(f"measures={aucs[0]} needs labels of 0 and 1; leave it out")
    label, prediction = (_classes(predictions, name) for name in ("label", "prediction"))
    if not {*label} & {*prediction}:
        labels, answers = (", ".join(sorted({*column})[:5]) for column in (label, prediction))
        raise InputError(
            f"no prediction is a label: {answers} are none of {labels}; spell them alike"
        )

    def read_binary_sample(
        label: pd.Series[bool], prediction: pd.Series[bool]
    ) -> GroupedPredictions:
        flags = predictions.assign(label=label.astype(int), prediction=prediction.astype(int))
        return read_grouped_predictions(flags, gaps)

    names = sorted({*label} | {*prediction})
    by_class = {name: read_binary_sample(label == name, prediction == name) for name in names}
    mean = WeightedSum(list(by_class.values()), [1 / len(by_class)] * len(by_class))
    subsets: list[tuple[str, GroupedPredictions | WeightedSum, list[str]]] = [
        (name, sample, [measure for measure in gaps.measures if measure != ALL_CLASSES])
        for name, sample in by_class.items()
    ]
    averaged = [measure for measure in gaps.measures if measure not in NOT_AVERAGED]
    subsets.append((MACRO, mean, averaged))
    if ALL_CLASSES in gaps.measures:
        correct = read_binary_sample(label == label, label == prediction)
        subsets.insert(0, ("", correct, [ALL_CLASSES]))
    return [
        row._replace(subset=subset)
        for subset, sample, measures in subsets
        for row in sample_rows(sample, replace(gaps, measures=tuple(measures)))
    ]


def _classes(predictions: pd.DataFrame, column: str) -> pd.Series[str]:
    values = read_labels(predictions, column)
    if MACRO in set(values):
        raise InputError(f"a class is called {MACRO!r}, the name of the mean over all; rename it")
    return values


def classifier_rows(predictions: Mapping[str, pd.DataFrame], gaps: Gaps) -> list[Row]:
    """Return the rows of ``gap_table`` for classifiers by name, on the same items in order.

    Then for each pair, named ``later - earlier`` in ``classifier`` and with the name of the
    ``earlier``, the values and gaps of the later minus the earlier, with intervals of paired
    differences (``biasbridge.extrinsic.weighted_sum``): an item that both get wrong widens none.
    ``p_holm`` of a value is adjusted over all groups and measures of the pair, that of a gap over
    all gaps. Nothing is pooled over classifiers. Raises as ``gap_table`` does.
    """
    samples = {name: read_grouped_predictions(table, gaps) for name, table in predictions.items()}
    rows = [
        row._replace(classifier=name)
        for name, sample in samples.items()
        for row in sample_rows(sample.merge_equal(), gaps)
    ]
    for earlier, later in combinations(samples, 2):
        contrast = WeightedSum([samples[later], samples[earlier]], [1, -1])
        rows += [
            row._replace(classifier=f"{later} - {earlier}", earlier=earlier)
            for row in [*_change_rows(contrast, gaps), *difference_rows(contrast, gaps)]
        ]
    return rows


def _change_rows(contrast: WeightedSum, gaps: Gaps) -> list[Row]:
    """Return the changes of the measures of each group; of the base rate there is none."""
    measures = tuple(name for name in gaps.measures if name != "base_rate")
    rows = value_rows(contrast, replace(gaps, measures=measures))

    def estimate_row(sample: Predictions, number: int) -> Estimate:
        row = rows[number]
        return sample.group_measure(row.measure, GroupOrRest(row.group)).estimate

    return adjust_rows(rows, contrast, estimate_row)
