"""Weighted sums of the measures of several classifiers or classes on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.extrinsic.grouped_predictions import (
    GroupedPredictions,
    GroupMeasure,
    GroupOrRest,
    join_reasons,
)
from biasbridge.stats.intervals import UNDEFINED, Estimate, combination

if TYPE_CHECKING:
    from biasbridge.extrinsic.measures import Counts
    from biasbridge.stats.arrays import Floats


@dataclass(frozen=True)
class WeightedSum:
    """sum_k weight_k measure_k over ``samples``, all of the same items in the same order: the
    difference between two classifiers, or the mean over classes.

    Intervals are Price and Bonett's (``biasbridge.stats.intervals.combination``), from the
    influences of items on all measures, as an item may count in several samples. Undefined where a
    measure is.
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
