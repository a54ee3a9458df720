"""Predictions by group, of one classifier or a weighted sum: measures of groups, and their
covariation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasbridge.extrinsic.calibration import bin_scores, calibration_differences, calibration_error
from biasbridge.extrinsic.measures import (
    ECE,
    MEASURES,
    RANKINGS,
    Counts,
    auc_estimate,
    expected_from_base_rates,
    majority_baseline,
    placements,
)
from biasbridge.intrinsic.resampling import resample_counts
from biasbridge.stats.intervals import UNDEFINED, Estimate, few_clusters_factor
from biasbridge.stats.proportions import combination, difference

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Mask = NDArray[np.bool_]
_TINY = 1e-300
_CLASSES = ("actual negative", "actual positive")
ALL, REST, NONE = "all", "rest", "none"
# Begin the name of the items whose group is unknown, of names or of a column of 0 and 1
UNKNOWN, UNKNOWN_FLAG = "\ue000", "\ue001"
_BITS = 50  # of a whole number that a float holds exactly


class GroupOrRest(NamedTuple):
    """One side of a comparison: the items of a group, or (``rest``) all others; the group "all" has
    every item, the group "none" those in no group.
    """

    group: str
    rest: bool = False

    @property
    def name(self) -> str:
        """Name in the tables."""
        return REST if self.rest else self.group


class GroupMeasure(NamedTuple):
    """Measure of a side, its number of items, and the reason if it is undefined."""

    estimate: Estimate
    support: int
    reason: str


@dataclass(frozen=True)
class GroupedPredictions:
    """Items by ``confusion_cell`` (2 label + prediction), (items,), with their ``score`` if
    measures need it, and the sampling ``unit`` they were drawn with.

    Groups are sets of items: membership i puts item ``member[i]`` into group
    ``groups[group_id[i]]``; an item may be in several groups or none. ``resampled_by``: keys of the
    resamples (``biasbridge.intrinsic.resampling``). ``level``: of the intervals. Measures with
    fewer than ``min_support`` items are undefined. ``weight``: number of equal items that an item
    stands for. ``unknown``: of groups, the name of the items of which nobody knows whether they are
    in it; they are members of groups with numbers after those of ``groups``, and no part of the
    rest. ``repeats``: units are items that were tried several times.
    """

    groups: Sequence[str]
    member: Counts
    group_id: Counts
    confusion_cell: Counts
    score: Floats | None = None
    unit: Counts | None = None
    resampled_by: Sequence[str] | None = None
    level: float = 0.95
    min_support: int = 0
    weight: Counts | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False

    @property
    def numbered(self) -> Sequence[str]:
        """The groups and those of unknown items, by number: those of columns of 0 and 1 first."""
        return [*self.groups, *sorted({*self.unknown.values()}, reverse=True)]

    @cached_property
    def counts(self) -> Counts:
        """Confusion cells of each numbered group, the items in none, and all, (groups + 2, 4)."""
        item, kind = self._item_kinds
        weight = None if self.weight is None else self.weight[item]
        counts = np.bincount(kind, weight, minlength=4 * (len(self.numbered) + 2))
        return counts.astype(np.int64).reshape(-1, 4)

    @property
    def _item_kinds(self) -> tuple[Counts, Counts]:
        """Item, and 4 group + confusion cell, of each membership, then of the items in no group and
        of all items as members of two more groups.
        """
        items, n = np.arange(len(self.confusion_cell)), len(self.numbered)
        item = np.concatenate([self.member, self.ungrouped, items])
        more = np.repeat([n, n + 1], [len(self.ungrouped), len(items)])
        return item, 4 * np.concatenate([self.group_id, more]) + self.confusion_cell[item]

    @cached_property
    def ungrouped(self) -> Counts:
        """Items in no group; an empty cell of names is one, an empty cell of 0 and 1 is not."""
        flags = [name for name in self.numbered[len(self.groups) :] if name[0] != UNKNOWN]
        member = self.member[self.group_id < len(self.groups) + len(flags)]
        return np.flatnonzero(np.bincount(member, minlength=len(self.confusion_cell)) == 0)

    def merge_equal(self) -> GroupedPredictions:
        """Return the same predictions with one item, of their ``weight``, for all items of equal
        cell and groups; unchanged where items differ otherwise, by score, unit or resamples.
        """
        return _merge_equal([self])[0]

    def cells(self, side: GroupOrRest) -> Counts:
        """Return the confusion cells of a side, (4,)."""
        return self._select(self.counts, side)

    def _select(self, counts: Counts, side: GroupOrRest) -> Counts:
        total: Counts = counts[-1]
        if side.group == ALL:
            return total
        in_group: Counts = counts[self._index[side.group]]
        if side.rest and (unknown := self.unknown.get(side.group)):
            in_group = in_group + counts[self._index[unknown]]
        return total - in_group if side.rest else in_group

    @cached_property
    def _index(self) -> Mapping[str, int]:
        index = {group: number for number, group in enumerate(self.numbered)}
        return {NONE: len(index)} | index

    def mask(self, side: GroupOrRest) -> Mask:
        """Return whether each item is of a side, (items,), computed once."""
        if side not in self._masks:
            in_group: Mask = np.full(len(self.confusion_cell), side.group == ALL)
            if side.group != ALL:
                number = self._index[side.group]
                is_none = number == len(self.numbered)
                members = self.ungrouped if is_none else self.member[self.group_id == number]
                in_group[members] = True
                if side.rest and (unknown := self.unknown.get(side.group)):
                    in_group[self.member[self.group_id == self._index[unknown]]] = True
            self._masks[side] = ~in_group if side.rest else in_group
        return self._masks[side]

    @cached_property
    def _masks(self) -> dict[GroupOrRest, Mask]:
        return {}

    def group_measure(self, measure: str, side: GroupOrRest) -> GroupMeasure:
        """Return a measure of a side, computed once."""
        if (measure, side) not in self._group_measures:
            other = self._compute_auc if measure in RANKINGS else self._compute_calibration
            compute = self._compute_rate if measure in MEASURES else other
            self._group_measures[measure, side] = compute(measure, side)
        return self._group_measures[measure, side]

    @cached_property
    def _group_measures(self) -> dict[tuple[str, GroupOrRest], GroupMeasure]:
        return {}

    def _compute_rate(self, measure: str, side: GroupOrRest) -> GroupMeasure:
        definition, cells = MEASURES[measure], self.cells(side)
        support = int(definition.support(cells))
        reason = low_support_reason(definition.item, side.name, support, self.min_support)
        if reason := reason or self._one_cluster_reason(measure, side):
            return GroupMeasure(UNDEFINED, support, reason)
        effect = self._design_effect(measure, side)
        return GroupMeasure(definition.estimate(cells, self.level, effect), support, "")

    def _compute_auc(self, measure: str, side: GroupOrRest) -> GroupMeasure:
        ranking = RANKINGS[measure]
        from_group = (ranking.own_negatives, ranking.own_positives)
        counts = [
            int(self._class_mask(side, label=label, from_group=from_group[label]).sum())
            for label in (0, 1)
        ]
        scarce = int(np.argmin(counts))
        name = side.name if from_group[scarce] else f"other than {side.name}"
        reason = low_support_reason(_CLASSES[scarce], name, counts[scarce], self.min_support)
        if reason := reason or self._one_cluster_reason(measure, side):
            return GroupMeasure(UNDEFINED, counts[scarce], reason)
        auc = float(np.mean(self._class_placements(measure, side)[1]))
        effect = self._design_effect(measure, side)
        estimate = auc_estimate(auc, counts[1], counts[0], self.level, effect)
        return GroupMeasure(estimate, min(counts), "")

    def _compute_calibration(self, measure: str, side: GroupOrRest) -> GroupMeasure:
        mask = self.mask(side)
        support = int(mask.sum())
        reason = low_support_reason("item", side.name, support, self.min_support)
        if reason := reason or self._one_cluster_reason(measure, side):
            return GroupMeasure(UNDEFINED, support, reason)
        effect = self._design_effect(measure, side)
        estimate = calibration_error(*self._calibrated(mask), self.level, effect)
        return GroupMeasure(estimate, support, "")

    @cached_property
    def score_bin(self) -> Counts:
        """Bin of each item's score, (items,)."""
        assert self.score is not None
        return bin_scores(self.score)

    def _calibrated(self, mask: Mask) -> tuple[Counts, Floats, Counts]:
        """Return label, score and bin of some items."""
        assert self.score is not None
        return self.confusion_cell[mask] // 2, self.score[mask], self.score_bin[mask]

    def _class_mask(self, side: GroupOrRest, *, label: int, from_group: bool) -> Mask:
        source = side if from_group else side._replace(rest=not side.rest)
        mask: Mask = (self.confusion_cell // 2 == label) & self.mask(source)
        return mask

    def _class_placements(self, measure: str, side: GroupOrRest) -> tuple[Floats, Floats]:
        """Return the placements of the negatives, then of the positives, of a ranking."""
        ranking, score = RANKINGS[measure], self.score
        assert score is not None
        negative = score[self._class_mask(side, label=0, from_group=ranking.own_negatives)]
        positive = score[self._class_mask(side, label=1, from_group=ranking.own_positives)]
        return placements(positive, negative)[::-1]

    def influences(self, measure: str, side: GroupOrRest) -> Floats:
        """Compute the first-order influence of each item on a measure of a side, (items,)."""
        if measure in MEASURES:
            by_cell = MEASURES[measure].influences(self.cells(side))
            return np.where(self.mask(side), by_cell[self.confusion_cell], 0.0)
        influences = np.zeros(len(self.confusion_cell))
        if measure == ECE:
            mask = self.mask(side)
            labels, scores, bins = self._calibrated(mask)
            terms = np.sign(calibration_differences(labels, scores, bins)) * (labels - scores)
            influences[mask] = (terms - terms.mean()) / len(terms)
            return influences
        ranking = RANKINGS[measure]
        from_group = ranking.own_negatives, ranking.own_positives
        for label, placement in enumerate(self._class_placements(measure, side)):
            mask = self._class_mask(side, label=label, from_group=from_group[label])
            influences[mask] += (placement - placement.mean()) / len(placement)
        return influences

    def unit_influences(self, measure: str, side: GroupOrRest) -> Floats:
        """Return the influences summed by unit, (units,), scaled up where units are few.

        Without units each item is one; of w equal items, the influence of one times sqrt(w).
        """
        if self.unit is None:
            influences = self.influences(measure, side)
            return influences if self.weight is None else influences * np.sqrt(self.weight)
        if (measure, side) not in self._by_unit:
            by_unit = np.bincount(self.unit, self.influences(measure, side)).astype(np.float64)
            self._by_unit[measure, side] = by_unit, self._unit_sizes(measure, side)
        sums, sizes = self._by_unit[measure, side]
        factor = few_clusters_factor(sizes, self.level) if len(sizes) > 1 else 1.0
        scaled: Floats = sums * sqrt(factor)
        return scaled

    @cached_property
    def _by_unit(self) -> dict[tuple[str, GroupOrRest], tuple[Floats, Counts]]:
        """Sums of influences by unit, and sizes of units; they depend on no level."""
        return {}

    def _unit_sizes(self, measure: str, side: GroupOrRest) -> Counts:
        """Return how many items of each unit count; none where units are repeats of items.

        Repeats of n items, alike and equally many of each, tell as much as the items.
        """
        assert self.unit is not None
        counted = self._counted(measure, side)
        unit = self.unit[counted]
        sizes: Counts = np.bincount(unit)
        sizes = sizes[sizes > 0]
        are_even = self.repeats and measure in MEASURES and len({*sizes.tolist()}) == 1
        if are_even and len(np.unique(4 * unit + self.confusion_cell[counted])) == len(sizes):
            return sizes[:0]
        return sizes

    def _counted(self, measure: str, side: GroupOrRest) -> Mask:
        """Return whether each item counts in a measure of a side, (items,)."""
        if measure in MEASURES:
            is_among = np.zeros(4, dtype=bool)
            is_among[list(MEASURES[measure].among)] = True
            counted: Mask = self.mask(side) & is_among[self.confusion_cell]
            return counted
        if measure == ECE:
            return self.mask(side)
        ranking = RANKINGS[measure]
        negative = self._class_mask(side, label=0, from_group=ranking.own_negatives)
        return negative | self._class_mask(side, label=1, from_group=ranking.own_positives)

    def count_units(self, measure: str, *sides: GroupOrRest) -> int:
        """Return the number of units with items that count in a measure of any of the sides."""
        assert self.unit is not None
        counted = np.any([self._counted(measure, side) for side in sides], axis=0)
        return int(np.count_nonzero(np.bincount(self.unit[counted])))

    def _one_cluster_reason(self, measure: str, side: GroupOrRest) -> str:
        if self.unit is None or self.count_units(measure, side) > 1:
            return ""
        if self._counted(measure, side).sum() == 1:
            return ""
        return f"the items of group {side.name} are one cluster"

    def at_level(self, level: float) -> GroupedPredictions:
        """Return the same predictions with intervals of another level."""
        other = replace(self, level=level)
        other.__dict__.update(_by_unit=self._by_unit, _masks=self._masks)
        return other

    @cached_property
    def by_item(self) -> GroupedPredictions:
        """The same predictions with every item as its own unit."""
        return replace(self, unit=None)

    def _design_effect(self, measure: str, side: GroupOrRest) -> float:
        """Return the variance relative to items drawn one by one; at least 1.

        Where all items agree, at 0 or 1, nothing tells how alike those of a unit are: each unit
        then counts as one item, unequal ones as fewer.
        """
        if self.unit is None:
            return 1.0
        by_item, by_unit = self.influences(measure, side), self.unit_influences(measure, side)
        if (variance := float((by_item**2).sum())) > _TINY:
            return max(1.0, float((by_unit**2).sum()) / variance)
        sizes = np.bincount(self.unit[self._counted(measure, side)])
        return float((sizes**2).sum() / sizes.sum())

    @cached_property
    def overlapping(self) -> bool:
        """Whether groups may share items or units."""
        return self.unit is not None or bool((np.bincount(self.member) > 1).any())

    def difference(self, measure: str, first: GroupOrRest, second: GroupOrRest) -> Estimate:
        """Compute the measure of the first side minus the second; undefined where either is."""
        a, b = (self.group_measure(measure, side) for side in (first, second))
        if a.reason or b.reason:
            return UNDEFINED
        if self.overlapping:
            influences = [self.unit_influences(measure, side) for side in (first, second)]
            if np.any(influences[0] * influences[1]):
                return combination([a.estimate, b.estimate], [1, -1], influences, self.level)
        return difference(a.estimate, b.estimate)

    @cached_property
    def _resampled_counts(self) -> Counts:
        """``counts`` by resample, (groups + 2, 200, 4)."""
        assert self.resampled_by is not None
        item, kind = self._item_kinds
        keys = [self.resampled_by[number] for number in item.tolist()]
        counts = resample_counts(keys, kind, 4 * (len(self.numbered) + 2))
        return counts.reshape(len(counts), -1, 4).swapaxes(0, 1)

    def majority_baseline(self, measure: str, side: GroupOrRest) -> float:
        """Return ``biasbridge.extrinsic.measures.majority_baseline``; .5 for an AUC."""
        if measure in RANKINGS:
            return 0.5
        return majority_baseline(measure, self.cells(side)) if measure in MEASURES else nan

    def expected_from_base_rates(
        self, measure: str, first: GroupOrRest, second: GroupOrRest
    ) -> float:
        """Return ``biasbridge.extrinsic.measures.expected_from_base_rates``; NaN with scores."""
        if measure not in MEASURES:
            return nan
        union = self.cells(first) + self.cells(second)
        if self.overlapping:
            in_union = self.mask(first) | self.mask(second)
            weight = None if self.weight is None else self.weight[in_union]
            union = np.bincount(self.confusion_cell[in_union], weight, minlength=4)
        return expected_from_base_rates(measure, self.cells(first), self.cells(second), union)

    def resampled_difference(
        self, measure: str, first: GroupOrRest, second: GroupOrRest
    ) -> list[float]:
        """Compute the difference in each resample; empty with scores, and without resamples."""
        if self.resampled_by is None or measure not in MEASURES:
            return []
        definition, counts = MEASURES[measure], self._resampled_counts
        a, b = (definition.values(self._select(counts, side)) for side in (first, second))
        values: list[float] = (a - b).tolist()
        return values


@dataclass(frozen=True)
class WeightedSum:
    """sum_k weight_k measure_k over ``samples``, all of the same items in the same order: the
    difference between two classifiers, or the mean over classes.

    Intervals are Price and Bonett's (``biasbridge.stats.proportions.combination``), from the
    influences of items on all measures, as an item may count in several samples. Undefined where a
    measure is. It has the methods of ``GroupedPredictions`` from which tables of gaps are made.
    """

    samples: Sequence[GroupedPredictions]
    weights: Sequence[float]

    @property
    def groups(self) -> Sequence[str]:
        """Names of all groups."""
        return self.samples[0].groups

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return self.samples[0].level

    @property
    def unit(self) -> Counts | None:
        """Sampling unit of each item."""
        return self.samples[0].unit

    def merge_equal(self) -> WeightedSum:
        """Return the sum with one item for all that are equal in each of the samples."""
        return replace(self, samples=_merge_equal(self.samples))

    def at_level(self, level: float) -> WeightedSum:
        """Return the same sum with intervals of another level."""
        return replace(self, samples=[sample.at_level(level) for sample in self.samples])

    @cached_property
    def by_item(self) -> WeightedSum:
        """The same sum with every item as its own unit."""
        return replace(self, samples=[sample.by_item for sample in self.samples])

    def count_units(self, measure: str, *sides: GroupOrRest) -> int:
        """Return the largest number of units that count in one of the samples."""
        return max(sample.count_units(measure, *sides) for sample in self.samples)

    def group_measure(self, measure: str, side: GroupOrRest) -> GroupMeasure:
        """Compute the sum for one side; its support is the smallest of the samples'."""
        terms = [sample.group_measure(measure, side) for sample in self.samples]
        reason = join_reasons(terms)
        estimate = UNDEFINED if reason else self._combine(measure, [side], [1])
        return GroupMeasure(estimate, min(term.support for term in terms), reason)

    def difference(self, measure: str, first: GroupOrRest, second: GroupOrRest) -> Estimate:
        """Compute the sum for the first side minus the second; undefined where either is."""
        sides = [first, second]
        terms = [sample.group_measure(measure, side) for sample in self.samples for side in sides]
        return UNDEFINED if join_reasons(terms) else self._combine(measure, sides, [1, -1])

    def _combine(
        self, measure: str, sides: Sequence[GroupOrRest], signs: Sequence[int]
    ) -> Estimate:
        terms = [(sample, side) for side in sides for sample in self.samples]
        weights = [sign * weight for sign in signs for weight in self.weights]
        estimates = [sample.group_measure(measure, side).estimate for sample, side in terms]
        influences = [sample.unit_influences(measure, side) for sample, side in terms]
        return combination(estimates, weights, influences, self.level)

    @property
    def overlapping(self) -> bool:
        """Whether groups may share items or units."""
        return self.samples[0].overlapping

    def unit_influences(self, measure: str, side: GroupOrRest) -> Floats:
        """Compute the first-order influence of each unit on the sum for one side, (units,)."""
        influences = [sample.unit_influences(measure, side) for sample in self.samples]
        total: Floats = np.array(self.weights) @ np.array(influences)
        return total

    def majority_baseline(self, measure: str, side: GroupOrRest) -> float:
        """Return NaN: the baseline is defined for one classifier and class only."""
        return nan

    def expected_from_base_rates(
        self, measure: str, first: GroupOrRest, second: GroupOrRest
    ) -> float:
        """Compute the sum of the gaps expected from base rates."""
        terms = [sample.expected_from_base_rates(measure, first, second) for sample in self.samples]
        return float(np.array(self.weights) @ np.array(terms))

    def resampled_difference(
        self, measure: str, first: GroupOrRest, second: GroupOrRest
    ) -> list[float]:
        """Compute the difference in each resample; empty without resamples."""
        terms = [sample.resampled_difference(measure, first, second) for sample in self.samples]
        values: list[float] = (np.array(self.weights) @ np.array(terms)).tolist()
        return values


Predictions = GroupedPredictions | WeightedSum


def contrast(later: Predictions, earlier: Predictions) -> WeightedSum:
    """Return the later predictions minus the earlier ones, of the same items in order."""
    samples: list[GroupedPredictions] = []
    weights: list[float] = []
    for part, sign in ((later, 1), (earlier, -1)):
        whole = part if isinstance(part, WeightedSum) else WeightedSum([part], [1])
        samples += whole.samples
        weights += [sign * weight for weight in whole.weights]
    return WeightedSum(samples, weights)


def _merge_equal(samples: Sequence[GroupedPredictions]) -> Sequence[GroupedPredictions]:
    """Merge the items that are equal in all samples, of the same items in the same groups."""
    one, n = samples[0], len(samples[0].confusion_cell)
    if any(
        x.score is not None or x.unit is not None or x.resampled_by is not None for x in samples
    ):
        return samples
    keys = [sample.confusion_cell for sample in samples]
    for start in range(0, len(one.numbered), _BITS):
        is_in = (one.group_id >= start) & (one.group_id < start + _BITS)
        keys.append(np.bincount(one.member[is_in], 2.0 ** (one.group_id[is_in] - start), n))
    key = np.zeros(n, np.int64)
    for values in keys:
        code, distinct = pd.factorize(values)
        key = pd.factorize(key * len(distinct) + code, sort=True)[0]
    _, first, weight = np.unique(key, return_index=True, return_counts=True)
    position = np.full(n, -1)
    position[first] = np.arange(len(first))
    stays = position[one.member] >= 0
    member, group_id = position[one.member[stays]], one.group_id[stays]
    return [
        replace(
            sample,
            member=member,
            group_id=group_id,
            confusion_cell=sample.confusion_cell[first],
            weight=weight,
        )
        for sample in samples
    ]


def join_reasons(group_measures: Sequence[GroupMeasure]) -> str:
    """Return the distinct reasons why measures are undefined; empty if all are defined."""
    return "; ".join(dict.fromkeys(m.reason for m in group_measures if m.reason))


def low_support_reason(item: str, group: str, support: int, min_support: int) -> str:
    """Return why a measure is undefined; empty if it has enough items."""
    if not support:
        return f"no {item} of group {group}"
    plural = "s" if support > 1 else ""
    reason = f"{support} {item}{plural} of group {group}, fewer than {min_support}"
    return reason if support < min_support else ""
