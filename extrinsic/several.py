"""Gaps of several classes, each against the rest, and of several classifiers of the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from extrinsic.combined import Combined
from extrinsic.gap_table import Row, difference_rows, sample_rows, value_rows
from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.predictions import get_column, plain_number, read_sample
from extrinsic.ranking import RANKINGS
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.sample import Sample

MACRO = "macro"
# One number for all classes: the share of items whose class is right
WHOLE = "accuracy"
# Over all classes the shares selected add up to 1 in every group
NO_MEAN = (WHOLE, "selection_rate", "base_rate", *CRITERIA)


def class_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """The rows of ``gap_table``, for labels and predictions of any names, of which ``1`` and
    ``1.0`` are one.

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

    def sample_of(label: pd.Series[bool], prediction: pd.Series[bool]) -> Sample:
        flags = predictions.assign(label=label.astype(int), prediction=prediction.astype(int))
        return read_sample(flags, gaps)

    names = sorted({*label} | {*prediction})
    by_class = {name: sample_of(label == name, prediction == name) for name in names}
    mean = Combined(list(by_class.values()), [1 / len(by_class)] * len(by_class))
    asked: list[tuple[str, Sample | Combined, list[str]]] = [
        (name, sample, [each for each in gaps.measures if each != WHOLE])
        for name, sample in by_class.items()
    ]
    asked.append((MACRO, mean, [each for each in gaps.measures if each not in NO_MEAN]))
    if WHOLE in gaps.measures:
        asked.insert(0, ("", sample_of(label == label, label == prediction), [WHOLE]))
    return [
        row._replace(subset=subset)
        for subset, sample, measures in asked
        for row in sample_rows(sample, replace(gaps, measures=tuple(measures)))
    ]


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


def classifier_rows(predictions: Mapping[str, pd.DataFrame], gaps: Gaps) -> list[Row]:
    """The rows of ``gap_table``, for several classifiers by name, all of the same items in the same
    order; ``classifier`` has their names.

    After the rows of each come those of each two of them, ``first - second``: values and gaps of
    the first minus those of the second, with intervals of differences within items, so that an item
    that both get wrong widens none (``extrinsic.combined``). Nothing is pooled over classifiers.

    Raises ``InputError`` as ``gap_table`` does.
    """
    samples = {name: read_sample(table, gaps) for name, table in predictions.items()}
    rows = [
        row._replace(classifier=name)
        for name, sample in samples.items()
        for row in sample_rows(sample, gaps)
    ]
    for one, other in combinations(samples, 2):
        pair = Combined([samples[one], samples[other]], [1, -1])
        found = value_rows(pair, gaps) + difference_rows(pair, gaps)
        rows += [row._replace(classifier=f"{one} - {other}") for row in found]
    return rows
