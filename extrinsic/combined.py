"""Weighted sums of the measures of several samples of the same items: the difference between two
classifiers, and the mean over classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from extrinsic.intervals import UNDEFINED, Estimate, Floats, combination
from extrinsic.sample import Figure, Sample, Side, both_reasons


@dataclass(frozen=True)
class Combined:
    """sum_k weight_k measure_k over ``samples``, all of the same items in the same order.

    An item may count in several of them, so their measures go together: intervals are Price and
    Bonett's (``extrinsic.intervals.combination``), from how far each item moves the measures.
    Undefined where the measure of one sample is.
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
        figures = [each.figure(measure, side) for each in self.samples for side in (one, other)]
        return UNDEFINED if both_reasons(figures) else self._combine(measure, [one, other], [1, -1])

    def _combine(self, measure: str, sides: Sequence[Side], signs: Sequence[int]) -> Estimate:
        terms = [(each, side) for side in sides for each in self.samples]
        weights = [sign * weight for sign in signs for weight in self.weights]
        estimates = [sample.figure(measure, side).estimate for sample, side in terms]
        moved = [sample.by_unit(measure, side) for sample, side in terms]
        return combination(estimates, weights, moved, self.level)

    @property
    def overlapping(self) -> bool:
        """Whether groups may share items or units."""
        return self.samples[0].overlapping

    def by_unit(self, measure: str, side: Side) -> Floats:
        """How far each unit moves the sum for one side, to first order, (units,)."""
        moved = [sample.by_unit(measure, side) for sample in self.samples]
        found: Floats = np.array(self.weights) @ np.array(moved)
        return found

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
