"""Table of the measures of every group and the gaps between groups, from predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, groupby
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
    contrast,
    join_reasons,
)
from biasbridge.extrinsic.measures import BACKGROUND_RANKINGS, SCORED
from biasbridge.extrinsic.predictions import read_grouped_predictions
from biasbridge.extrinsic.spread import DIFFERENCE, RATIO, Block, estimate_spread
from biasbridge.files import InputError
from biasbridge.files.columns import read_labels
from biasbridge.stats.intervals import Estimate, holm, p_value
from biasbridge.stats.measure_facts import less_is_better
from biasbridge.stats.proportions import effective_size, error_correlations

if TYPE_CHECKING:
    from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, Predictions
    from biasbridge.extrinsic.predictions import GapRequest, Unanswered

Kind = Literal[
    "value", "gap", "max_difference", "ratio", "term_gap", "equality_difference", "flips"
]
_OPTIONAL = ("subset", "classifier", "earlier", "n_clusters", "widening")
# Background AUCs compare with all other items already; the base rate is of the items alone
WITHOUT_GAP = (*BACKGROUND_RANKINGS, "base_rate")
MACRO = "macro"
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
    """Return a table of rows of :func:`part_rows`, counts as nullable integers, without
    ``_OPTIONAL`` columns that are empty.
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
    (``biasbridge.stats.proportions``), Newcombe's of 2006 for AUCs
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
    return part_rows([Part(_merged(predictions, gaps), gaps.measures)], gaps)


class Part(NamedTuple):
    """Predictions of a ``version`` in a class, or of a later version minus an ``earlier`` one, and
    what is measured of them.

    ``subset`` is the class measured against all others, ``macro`` for the mean over classes, and
    empty for labels of 0 and 1 and for the share of items with the correct class.
    """

    sample: Predictions
    measures: tuple[str, ...]
    subset: str = ""
    version: str = ""
    earlier: str = ""


def read_parts(
    request: GapRequest, table: pd.DataFrame
) -> tuple[list[Part], Gaps, list[str], Unanswered]:
    """Read the predictions of each version, and pair each with every later one, named
    ``later - earlier``.

    Returns the parts by version and class, the comparisons, notes such as groups without items, and
    where most items lack a prediction or score. Raises ``InputError`` as ``GapRequest.read`` does.
    """
    classifiers, gaps = request.read(table)
    facts = next(iter(classifiers.values())).attrs
    parts = version_parts(classifiers, gaps, multiclass=request.multiclass)
    return parts, gaps, facts["notes"], facts["unanswered"]


def version_parts(
    classifiers: Mapping[str, pd.DataFrame], gaps: Gaps, *, multiclass: bool = False
) -> list[Part]:
    """Return the parts of classifiers by name, on the same items in order.

    Pairs have intervals of paired differences (``WeightedSum``): an item that both versions get
    wrong widens none. Nothing is pooled over versions.
    """
    if multiclass:
        classes = _classes_of(classifiers)
        by_version = {
            name: _class_parts(predictions, gaps, classes)
            for name, predictions in classifiers.items()
        }
    else:
        by_version = {
            name: [Part(read_grouped_predictions(predictions, gaps), gaps.measures)]
            for name, predictions in classifiers.items()
        }
    several = len(classifiers) > 1
    parts = [
        part._replace(version=name * several, sample=part.sample.merge_equal())
        for name, own in by_version.items()
        for part in own
    ]
    for earlier, later in combinations(by_version, 2):
        parts += [
            new._replace(
                sample=contrast(new.sample, old.sample).merge_equal(),
                version=f"{later} - {earlier}",
                earlier=earlier,
            )
            for new, old in zip(by_version[later], by_version[earlier], strict=True)
        ]
    return parts


def part_rows(parts: Sequence[Part], gaps: Gaps) -> list[GapRow]:
    """Return the values, gaps and spreads of parts.

    ``p_holm`` and simultaneous intervals are adjusted over all gaps of a version or pair: groups,
    measures and classes. Those of changes of values are adjusted over all values of the pair.
    """
    rows: list[GapRow] = []
    for _, parts_of_one in groupby(parts, lambda part: part.version):
        family = list(parts_of_one)
        chosen = [replace(gaps, measures=part.measures) for part in family]
        pairs = list(zip(family, chosen, strict=True))
        differences = _adjust([_differences(part.sample, own) for part, own in pairs])
        if family[0].earlier:
            values = _adjust([_changes(part.sample, own) for part, own in pairs])
        else:
            values = [value_rows(part.sample, own) for part, own in pairs]
        for (part, own), *found in zip(pairs, values, differences, strict=True):
            spreads = [] if part.earlier else _spread_rows(part.sample, own)
            rows += [
                row._replace(subset=part.subset, classifier=part.version, earlier=part.earlier)
                for row in chain(*found, spreads)
            ]
    return rows


def change_rows(parts: Sequence[Part], gaps: Gaps) -> list[GapRow]:
    """Return the changes of values of a pair alone, adjusted over all of them."""
    found = _adjust(
        [_changes(part.sample, replace(gaps, measures=part.measures)) for part in parts]
    )
    return [
        row._replace(subset=part.subset, classifier=part.version, earlier=part.earlier)
        for part, rows in zip(parts, found, strict=True)
        for row in rows
    ]


def narrow(parts: Sequence[Part], measures: Sequence[str]) -> list[Part]:
    """Return the parts with the measures among ``measures`` only; none of means over classes."""
    kept = [
        part._replace(measures=tuple(name for name in part.measures if name in measures))
        for part in parts
        if part.subset != MACRO
    ]
    return [part for part in kept if part.measures]


def _merged(predictions: pd.DataFrame, gaps: Gaps) -> GroupedPredictions:
    return read_grouped_predictions(predictions, gaps).merge_equal()


def _classes_of(classifiers: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the labels and predictions of all versions (``1`` and ``1.0`` are the same).

    Raises ``InputError`` if no prediction of a version is a label.
    """
    names: set[str] = set()
    for predictions in classifiers.values():
        label, prediction = (_classes(predictions, name) for name in ("label", "prediction"))
        if not {*label} & {*prediction}:
            labels, answers = (", ".join(sorted({*column})[:5]) for column in (label, prediction))
            raise InputError(
                f"no prediction is a label: {answers} are none of {labels}; spell them alike"
            )
        names |= {*label} | {*prediction}
    return sorted(names)


def _class_parts(predictions: pd.DataFrame, gaps: Gaps, classes: Sequence[str]) -> list[Part]:
    """Return each class against all others, the mean over classes (NaN with its reason for a group
    with too few items of a class), and first the share of items with the correct class.

    Raises ``InputError`` for AUCs, as an item has one score only.
    """
    if scored := [name for name in gaps.measures if name in SCORED]:
        raise InputError(f"measures={scored[0]} needs labels of 0 and 1; leave it out")
    label, prediction = (_classes(predictions, name) for name in ("label", "prediction"))

    def read_binary_sample(
        label: pd.Series[bool], prediction: pd.Series[bool]
    ) -> GroupedPredictions:
        flags = predictions.assign(label=label.astype(int), prediction=prediction.astype(int))
        return read_grouped_predictions(flags, gaps)

    measured = tuple(name for name in gaps.measures if name != _ALL_CLASSES)
    averaged = tuple(name for name in gaps.measures if name not in _NOT_AVERAGED)
    by_class = [read_binary_sample(label == name, prediction == name) for name in classes]
    mean = WeightedSum(by_class, [1 / len(by_class)] * len(by_class))
    parts = [Part(sample, measured, name) for name, sample in zip(classes, by_class, strict=True)]
    parts.append(Part(mean, averaged, MACRO))
    if _ALL_CLASSES in gaps.measures:
        correct = read_binary_sample(label == label, label == prediction)
        parts.insert(0, Part(correct, (_ALL_CLASSES,)))
    return parts


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
    [rows] = _adjust([_differences(sample, gaps)])
    return rows


class _Comparison(NamedTuple):
    """A row and its sample; ``estimate`` computes the value from the sample at another level."""

    row: GapRow
    sample: Predictions
    estimate: Callable[[Predictions], Estimate]


def _differences(sample: Predictions, gaps: Gaps) -> list[_Comparison]:
    """Return the gaps of all compared pairs of sides."""
    measures = [name for name in gaps.measures if name not in (*CRITERIA, *WITHOUT_GAP)]

    def compare(measure: str, *sides: GroupOrRest) -> _Comparison:
        ordered = _ordered(measure, *sides)
        return _Comparison(
            _gap(sample, measure, *sides),
            sample,
            lambda wider: wider.difference(measure, *ordered),
        )

    return [compare(name, *sides) for sides in _pairs(sample, gaps) for name in measures]


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
    if MACRO in set(values):
        raise InputError(f"a class is called {MACRO!r}, the name of the mean over all; rename it")
    return values


def _changes(change: Predictions, gaps: Gaps) -> list[_Comparison]:
    """Return the changes of the measures of each group; of the base rate there is none."""
    measures = tuple(name for name in gaps.measures if name != "base_rate")
    sides = {side.name: side for side in _value_sides(change, gaps)}

    def compare(row: GapRow) -> _Comparison:
        side = sides[row.group]
        return _Comparison(
            row, change, lambda wider: wider.group_measure(row.measure, side).estimate
        )

    return list(map(compare, value_rows(change, replace(gaps, measures=measures))))


def _adjust(parts: Sequence[Sequence[_Comparison]]) -> list[list[GapRow]]:
    """Return the rows of each part, with p-values and intervals adjusted over all that have a
    value.
    """
    tested = [each for part in parts for each in part if not isnan(each.row.value)]
    level = 1 - (1 - tested[0].sample.level) / len(tested) if tested else nan
    samples = {id(each.sample): each.sample for each in tested}
    wider = {key: sample.at_level(level) for key, sample in samples.items()}
    joint = [each.estimate(wider[id(each.sample)]) for each in tested]
    p = [
        p_value(Estimate(row.value, row.low, row.high), sample.level, estimate, level)
        for (row, sample, _), estimate in zip(tested, joint, strict=True)
    ]
    adjusted = iter(zip(joint, p, holm(p), strict=True))

    def fill(row: GapRow) -> GapRow:
        if isnan(row.value):
            return row
        estimate, raw, p_holm = next(adjusted)
        return row._replace(
            p=raw, p_holm=p_holm, low_simultaneous=estimate.low, high_simultaneous=estimate.high
        )

    return [[fill(each.row) for each in part] for part in parts]


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
