"""Weighted sums of the measures of several samples of the same items: the difference between two
classifiers, and the mean over classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from extrinsic.intervals import UNDEFINED, Estimate, combination, correlation_of, effective_size
from extrinsic.sample import Figure, Sample, Side, both_reasons
from extrinsic.spread import Block


@dataclass(frozen=True)
class Combined:
    """sum_k weight_k measure_k over ``samples``, all of the same items in the same order.

    An item may count in several of them, so their measures go together: intervals are Zou and
    Donner's (``extrinsic.intervals.combination``), whose correlation is that of how far each item
    moves the measures. Undefined where the measure of one sample is.
    """

    samples: Sequence[Sample]
    weights: Sequence[float]

    @property
    def groups(self) -> Sequence[str]:
        """The names of all groups."""
        return self.samples[0].groups

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.samples[0].level

    def figure(self, measure: str, side: Side) -> Figure:
        """The sum for one side; its support is the smallest of the samples'."""
        figures = [each.figure(measure, side) for each in self.samples]
        reason = both_reasons(figures)
        found = UNDEFINED if reason else self._combine(measure, [side], [1])
        return Figure(found, min(each.support for each in figures), reason)

    def difference(self, measure: str, one: Side, other: Side) -> Estimate:
        """The sum for one side minus that for the other; undefined where either is."""
        if self.figure(measure, one).reason or self.figure(measure, other).reason:
            return UNDEFINED
        return self._combine(measure, [one, other], [1, -1])

    def _combine(self, measure: str, sides: Sequence[Side], signs: Sequence[int]) -> Estimate:
        terms = [(each, side) for side in sides for each in self.samples]
        weights = [sign * weight for sign in signs for weight in self.weights]
        estimates = [sample.figure(measure, side).estimate for sample, side in terms]
        together = correlation_of([sample.by_unit(measure, side) for sample, side in terms])
        return combination(estimates, weights, together)

    def constant(self, measure: str, side: Side) -> float:
        """NaN: what calling all items the same reaches is known of one classifier and class."""
        return nan

    def from_base_rates(self, measure: str, one: Side, other: Side) -> float:
        """The sum of what base rates alone would make."""
        parts = [each.from_base_rates(measure, one, other) for each in self.samples]
        return float(np.array(self.weights) @ np.array(parts))

    def resampled_difference(self, measure: str, one: Side, other: Side) -> list[float]:
        """The difference over the resamples; empty where there are none."""
        lists = [each.resampled_difference(measure, one, other) for each in self.samples]
        values: list[float] = (np.array(self.weights) @ np.array(lists)).tolist()
        return values

    def block(self, measure: str, groups: Sequence[str]) -> Block:
        """What the largest difference between groups is made of."""
        estimates = [self.figure(measure, Side(group)).estimate for group in groups]
        sizes = [effective_size(each, self.level) for each in estimates]
        return Block(np.array([each.value for each in estimates]), np.array(sizes))
