"""Table of the measures of every group and the gaps between groups, from predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.extrinsic.gaps import CRITERIA, DEFAULT_GAPS, Gaps
from biasbridge.extrinsic.grouped_predictions import (
    ALL,
    NONE,
    GroupMeasure,
    GroupOrRest,
    WeightedSum,
    join_reasons,
)
from biasbridge.extrinsic.measures import BACKGROUND_RANKINGS, SCORED
from biasbridge.extrinsic.predictions import read_grouped_predictions, read_labels
from biasbridge.extrinsic.spread import DIFFERENCE, RATIO, Block, estimate_spread
from biasbridge.files import InputError
from biasbridge.stats.intervals import Estimate, effective_size, error_correlations, holm, p_value
from biasbridge.stats.measure_facts import less_is_better

if TYPE_CHECKING:
    from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, Predictions
    from biasbridge.extrinsic.predictions import GapRequest

Kind = Literal[
    "value", "gap", "max_difference", "ratio", "term_gap", "equality_difference", "flips"
]
_OPTIONAL = ("subset", "classifier", "earlier", "n_clusters", "widening")
# Background AUCs compare with all other items already; the base rate is of the items alone
WITHOUT_GAP = (*BACKGROUND_RANKINGS, "base_rate")
_MACRO = "macro"
# One number for all classes: the share of items with the correct class
_ALL_CLASSES = "accuracy"
# Not averaged: over all classes the selected shares sum to 1 in every group
_NOT_AVERAGED = (_ALL_CLASSES, "selection_rate", "base_rate", *CRITERIA)


class GapRow(NamedTuple):
    """Measure of a group, gap of two groups, or spread of all (columns: docs/results.md)."""

    kind: Kind
    measure: str
    group: str = ""
    privileged: str = ""
    unprivileged: str = ""
    value: float = nan
    low: float = nan
    high: float = nan
    support: int = 0
    support_privileged: int | None = None
    support_unprivileged: int | None = None
    reason: str = ""
    p: float = nan
    p_holm: float = nan
    low_simultaneous: float = nan
    high_simultaneous: float = nan
    n_clusters: int | None = None
    widening: float = nan
    majority_baseline: float = nan
    expected_from_base_rates: float = nan
    resampled: Sequence[float] = ()
    subset: str = ""
    classifier: str = ""
    earlier: str = ""


def as_table(rows: Sequence[GapRow]) -> pd.DataFrame:
    """Return a table of rows, counts as nullable integers, without ``_OPTIONAL`` columns that are
    empty.

    Parameters
    ----------
    rows : sequence of GapRow
        As :func:`measure_gaps` returns them.

    Returns
    -------
    DataFrame
        One row per value and gap.
    """
    supports = ("support", "support_privileged", "support_unprivileged", "n_clusters")
    lists = [row._replace(resampled=list(row.resampled)) for row in rows]
    table = pd.DataFrame(lists, columns=list(GapRow._fields))
    table = table.astype(dict.fromkeys(supports, "Int64"))
    return table.drop(
        columns=[name for name in _OPTIONAL if table[name].replace("", None).isna().all()]
    )


def gap_table(predictions: pd.DataFrame, gaps: Gaps = DEFAULT_GAPS) -> pd.DataFrame:
    """Compute the measures of every group and the gaps between groups, with intervals.

    Folds of a cross-validation are pooled. Being selected (predicted 1) counts as favourable.
    Intervals ``low`` to ``high`` cover the choice of test items, not of the training run: Wilson's
    score interval for measures (``biasbridge.extrinsic.measures``), Newcombe's for gaps
    (``biasbridge.stats.intervals``), Newcombe's of 2006 for AUCs
    (``auc_estimate``), see ``biasbridge.extrinsic.spread`` for "max_difference" and "ratio".

    Parameters
    ----------
    predictions : DataFrame
        Columns ``label`` and ``prediction`` (0 or 1), ``group``, and ``score`` for AUCs. Rows
        without a group count in "all" and "rest" only. Optional columns: ``id`` (rows of one id are
        one item in several groups, counted once in "all" and "rest"); ``unit`` (items of one unit,
        such as phrases that differ in one term, are drawn together: groups are compared within
        units); ``resampled_by`` (keys of the resamples, see ``biasbridge.intrinsic.resampling``).
    gaps : Gaps
        Groups, measures, minimum support and confidence level.

    Returns
    -------
    DataFrame
        Columns as in ``GapRow``. One row per measure and group, "all" included (``kind`` "value").
        One per gap ("gap"). Then the largest difference ("max_difference") and the ratio of the
        smallest value to the largest ("ratio"), with the group that fares best as ``privileged``,
        worst as ``unprivileged``.

    Raises
    ------
    InputError
        A missing column or id, a value other than 0 and 1, rows of one id that differ or share a
        group, a privileged or unprivileged group without rows, an unknown group in ``gaps``.
    """
    return as_table(gap_rows(predictions, gaps))


def gap_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[GapRow]:
    """Return the rows of ``gap_table``."""
    return sample_rows(read_grouped_predictions(predictions, gaps).merge_equal(), gaps)


def measure_gaps(request: GapRequest, table: pd.DataFrame) -> tuple[list[GapRow], list[str]]:
    """Compute the rows of one classifier, or of several and each pair of them, and notes on empty
    groups.

    Parameters
    ----------
    request : GapRequest
        Columns, groups and measures.
    table : DataFrame
        One row per item.

    Returns
    -------
    rows : list of GapRow
        Values by group and gaps, privileged minus unprivileged.
    notes : list of str
        Such as groups without items.

    Raises
    ------
    InputError
        As ``GapRequest.read`` does.
    """
    classifiers, gaps = request.read(table)
    predictions, *others = classifiers.values()
    notes: list[str] = predictions.attrs["notes"]
    if others:
        return classifier_rows(classifiers, gaps), notes
    return (_class_rows if request.multiclass else gap_rows)(predictions, gaps), notes


def _class_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[GapRow]:
    """Return the rows of ``gap_table`` for labels of any names (``1`` and ``1.0`` are the same).

    ``subset`` is the class measured against all others, ``macro`` for the mean over classes (NaN
    with its reason for a group with too few items of a class), and empty for accuracy, the share of
    items with the correct class. Raises ``InputError`` for AUCs, as an item has one score only, and
    if no prediction is a label.
    """
    if scored := [name for name in gaps.measures if name in SCORED]:
        raise InputError(f"measures={scored[0]} needs labels of 0 and 1; leave it out")
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
        (name, sample, [measure for measure in gaps.measures if measure != _ALL_CLASSES])
        for name, sample in by_class.items()
    ]
    averaged = [measure for measure in gaps.measures if measure not in _NOT_AVERAGED]
    subsets.append((_MACRO, mean, averaged))
    if _ALL_CLASSES in gaps.measures:
        correct = read_binary_sample(label == label, label == prediction)
        subsets.insert(0, ("", correct, [_ALL_CLASSES]))
    return [
        row._replace(subset=subset)
        for subset, sample, measures in subsets
        for row in sample_rows(sample, replace(gaps, measures=tuple(measures)))
    ]


def classifier_rows(predictions: Mapping[str, pd.DataFrame], gaps: Gaps) -> list[GapRow]:
    """Return the rows of ``gap_table`` for classifiers by name, on the same items in order.

    Then for each pair, named ``later - earlier`` in ``classifier`` and with the name of the
    ``earlier``, the values and gaps of the later minus the earlier, with intervals of paired
    differences (``WeightedSum``): an item that both get wrong widens none.
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


def sample_rows(sample: Predictions, gaps: Gaps) -> list[GapRow]:
    """Return values, gaps and spreads of grouped predictions."""
    rows = value_rows(sample, gaps) + difference_rows(sample, gaps)
    return rows + _spread_rows(sample, gaps)


def value_rows(sample: Predictions, gaps: Gaps) -> list[GapRow]:
    """Return the measures of each group, of the rest of a single one, and of all items."""
    rows = []
    for side in _value_sides(sample, gaps):
        without_value = (*CRITERIA, *(BACKGROUND_RANKINGS if side.group == ALL else ()))
        for name in gaps.measures:
            if name in without_value:
                continue
            estimate, support, reason = sample.group_measure(name, side)
            row = GapRow("value", name, side.name, "", "", *estimate, support, reason=reason)
            baseline = nan if reason else sample.majority_baseline(name, side)
            clusters = _clusters(sample, name, estimate, side)
            rows.append(row._replace(majority_baseline=baseline, **clusters))
    return rows


def difference_rows(sample: Predictions, gaps: Gaps) -> list[GapRow]:
    """Return the gaps of all compared pairs of sides, with p-values and intervals adjusted over all
    of them.
    """
    measures = [name for name in gaps.measures if name not in (*CRITERIA, *WITHOUT_GAP)]
    comparisons = [(name, *sides) for sides in _pairs(sample, gaps) for name in measures]
    rows = [_gap(sample, *comparison) for comparison in comparisons]

    def estimate_gap(wider: Predictions, number: int) -> Estimate:
        measure, *sides = comparisons[number]
        return wider.difference(measure, *_ordered(measure, *sides))

    return _adjust_rows(rows, sample, estimate_gap)


def make_block(sample: Predictions, measure: str, groups: Sequence[str]) -> Block:
    """Return the values of groups in a measure, with their effective sizes and correlation."""
    sides = [GroupOrRest(group) for group in groups]
    estimates = [sample.group_measure(measure, side).estimate for side in sides]
    correlation = None
    if sample.overlapping:
        influences = [sample.unit_influences(measure, side) for side in sides]
        correlation = error_correlations(estimates, influences, sample.level)
    sizes = [effective_size(estimate, sample.level) for estimate in estimates]
    values = [estimate.value for estimate in estimates]
    return Block(np.array(values), np.array(sizes), correlation)


def _value_sides(sample: Predictions, gaps: Gaps) -> list[GroupOrRest]:
    """Return the sides whose measures are shown: groups, the rest of a single one, all items."""
    sides = [*map(GroupOrRest, sample.groups)]
    if len(sides) == 1 and "one-vs-rest" in gaps.compare:
        sides.append(GroupOrRest(sides[0].group, rest=True))
    return [*sides, GroupOrRest(ALL)]


def _classes(predictions: pd.DataFrame, column: str) -> pd.Series[str]:
    values = read_labels(predictions, column)
    if _MACRO in set(values):
        raise InputError(f"a class is called {_MACRO!r}, the name of the mean over all; rename it")
    return values


def _change_rows(contrast: WeightedSum, gaps: Gaps) -> list[GapRow]:
    """Return the changes of the measures of each group; of the base rate there is none."""
    measures = tuple(name for name in gaps.measures if name != "base_rate")
    rows = value_rows(contrast, replace(gaps, measures=measures))
    sides = {side.name: side for side in _value_sides(contrast, gaps)}

    def estimate_row(sample: Predictions, number: int) -> Estimate:
        row = rows[number]
        return sample.group_measure(row.measure, sides[row.group]).estimate

    return _adjust_rows(rows, contrast, estimate_row)


def _adjust_rows(
    rows: list[GapRow], sample: Predictions, estimate_row: Callable[[Predictions, int], Estimate]
) -> list[GapRow]:
    """Add p-values and intervals that are adjusted over all rows with a value.

    ``estimate_row`` computes the value of a row, by its number, at another confidence level.
    """
    defined = [number for number, row in enumerate(rows) if not isnan(row.value)]
    if not defined:
        return rows
    joint_level = 1 - (1 - sample.level) / len(defined)
    wider = sample.at_level(joint_level)
    joint = [estimate_row(wider, number) for number in defined]
    p = [
        p_value(Estimate(row.value, row.low, row.high), sample.level, estimate, joint_level)
        for row, estimate in zip([rows[number] for number in defined], joint, strict=True)
    ]
    for number, estimate, raw, adjusted in zip(defined, joint, p, holm(p), strict=True):
        rows[number] = rows[number]._replace(
            p=raw, p_holm=adjusted, low_simultaneous=estimate.low, high_simultaneous=estimate.high
        )
    return rows


def _pairs(sample: Predictions, gaps: Gaps) -> list[tuple[GroupOrRest, GroupOrRest]]:
    """Return the sides of each gap, the privileged one first."""
    privileged = GroupOrRest(gaps.privileged)
    pairs = [(privileged, GroupOrRest(gaps.unprivileged))] if "pair" in gaps.compare else []
    groups = gaps.groups or sample.groups
    if "pairwise" in gaps.compare:
        pairs += [(privileged, GroupOrRest(name)) for name in groups if name != gaps.privileged]
    if "one-vs-rest" in gaps.compare:
        pairs += [(GroupOrRest(name, rest=True), GroupOrRest(name)) for name in groups]
    if "one-vs-none" in gaps.compare:
        pairs += [(GroupOrRest(NONE), GroupOrRest(name)) for name in groups]
    return list(dict.fromkeys(pairs))


def _gap(
    sample: Predictions, measure: str, privileged: GroupOrRest, unprivileged: GroupOrRest
) -> GapRow:
    a, b = (sample.group_measure(measure, side) for side in (privileged, unprivileged))
    ordered = _ordered(measure, privileged, unprivileged)
    reason, estimate = join_reasons((a, b)), sample.difference(measure, *ordered)
    row = GapRow(
        "gap",
        measure,
        "",
        privileged.name,
        unprivileged.name,
        *estimate,
        support=min(a.support, b.support),
        support_privileged=a.support,
        support_unprivileged=b.support,
        reason=reason,
        **_clusters(sample, measure, estimate, *ordered),
    )
    if reason:
        return row
    return row._replace(
        expected_from_base_rates=sample.expected_from_base_rates(measure, *ordered),
        resampled=sample.resampled_difference(measure, *ordered),
    )


def _ordered(
    measure: str, privileged: GroupOrRest, unprivileged: GroupOrRest
) -> tuple[GroupOrRest, GroupOrRest]:
    """Return the privileged and the unprivileged side, reversed if smaller values are better."""
    sides = privileged, unprivileged
    return sides[::-1] if less_is_better(measure) else sides


def _clusters(
    sample: Predictions, measure: str, estimate: Estimate, *sides: GroupOrRest
) -> dict[str, Any]:
    """Return the number of clusters, and the width of the interval relative to that of items which
    are drawn one by one; empty without clusters.
    """
    if sample.unit is None or isnan(estimate.value):
        return {}
    by_item = sample.by_item
    if len(sides) == 1:
        independent = by_item.group_measure(measure, sides[0]).estimate
    else:
        independent = by_item.difference(measure, *sides)
    widening = (estimate.high - estimate.low) / (independent.high - independent.low)
    return {"n_clusters": sample.count_units(measure, *sides), "widening": widening}


def _spread_rows(sample: Predictions, gaps: Gaps) -> list[GapRow]:
    if "max-difference" not in gaps.compare:
        return []
    names = [name for name in gaps.measures if name not in WITHOUT_GAP]
    spreads = [_spreads_of(sample, name, gaps) for name in names]
    return [row for rows in zip(*spreads, strict=True) for row in rows]


def _spreads_of(sample: Predictions, name: str, gaps: Gaps) -> list[GapRow]:
    """Return the largest difference and the ratio among the groups that have a value."""
    by_measure = {
        measure: {
            group: sample.group_measure(measure, GroupOrRest(group))
            for group in gaps.groups or sample.groups
        }
        for measure in CRITERIA.get(name, (name,))
    }
    low_support = "; ".join(
        value.reason for groups in by_measure.values() for value in groups.values() if value.reason
    )
    defined = {
        measure: {group: value for group, value in groups.items() if not value.reason}
        for measure, groups in by_measure.items()
    }
    if min(map(len, defined.values())) < 2:
        reason = low_support or "a difference needs two groups"
        return [GapRow(spread.kind, name, reason=reason) for spread in (DIFFERENCE, RATIO)]
    blocks = {
        measure: make_block(sample, measure, list(groups)) for measure, groups in defined.items()
    }
    excluded = f"left out: {low_support}" if low_support else ""
    rows = []
    for spread in (DIFFERENCE, RATIO):
        if any(map(spread.undefined, blocks.values())):
            reason = "; ".join(filter(None, ("all values are 0", excluded)))
            rows.append(GapRow(spread.kind, name, reason=reason))
            continue
        estimate = estimate_spread(list(blocks.values()), spread, sample.level)
        decisive = max(blocks, key=lambda measure: spread.order(blocks[measure]))
        extremes = _best_and_worst(decisive, defined[decisive])
        rows.append(GapRow(spread.kind, name, **extremes, **estimate._asdict(), reason=excluded))
    return rows


def _best_and_worst(measure: str, group_measures: Mapping[str, GroupMeasure]) -> dict[str, Any]:
    values = {group: m.estimate.value for group, m in group_measures.items()}
    lowest = min(values, key=values.__getitem__)
    others = [group for group in values if group != lowest]  # where all are equal another one
    extremes = lowest, max(others or [lowest], key=values.__getitem__)
    worst, best = extremes[::-1] if less_is_better(measure) else extremes
    n, m = group_measures[best].support, group_measures[worst].support
    return {
        "privileged": best,
        "unprivileged": worst,
        "support": min(n, m),
        "support_privileged": n,
        "support_unprivileged": m,
    }
