"""Two classifiers on the same items: the measures and gaps of one minus those of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from extrinsic.gap_table import difference_rows, sample_rows, value_rows
from extrinsic.intervals import UNDEFINED, Estimate, combination, correlation_of
from extrinsic.measured import Figure, Side, both_reasons
from extrinsic.predictions import read_sample
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.gaps import Gaps
    from extrinsic.rows import Row
    from extrinsic.sample import Sample


@dataclass(frozen=True)
class Paired:
    """``first`` minus ``second``, which predict the same items in the same order. An item that both
    get wrong tells nothing of their difference: intervals are of differences within items.
    """

    first: Sample
    second: Sample

    @property
    def groups(self) -> Sequence[str]:
        """The names of all groups."""
        return self.first.groups

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.first.level

    def figure(self, measure: str, side: Side) -> Figure:
        """A measure by the first minus the same by the second, in [-1, 1]."""
        figures = [each.figure(measure, side) for each in (self.first, self.second)]
        reason = both_reasons(figures)
        support = min(each.support for each in figures)
        found = UNDEFINED if reason else self._combined(measure, [side], [1])
        return Figure(found, support, reason)

    def difference(self, measure: str, one: Side, other: Side) -> Estimate:
        """How much larger a difference between sides is by the first than by the second."""
        if self.figure(measure, one).reason or self.figure(measure, other).reason:
            return UNDEFINED
        return self._combined(measure, [one, other], [1, -1])

    def _combined(self, measure: str, sides: Sequence[Side], signs: Sequence[int]) -> Estimate:
        asked = [(sample, side) for sample in (self.first, self.second) for side in sides]
        estimates = [sample.figure(measure, side).estimate for sample, side in asked]
        together = correlation_of([sample.by_unit(measure, side) for sample, side in asked])
        return combination(estimates, [*signs, *(-sign for sign in signs)], together)

    def resampled_difference(self, measure: str, one: Side, other: Side) -> list[float]:
        """The same over the resamples."""
        a, b = (
            np.array(each.resampled_difference(measure, one, other))
            for each in (self.first, self.second)
        )
        values: list[float] = (a - b).tolist()
        return values


def classifier_rows(predictions: Mapping[str, pd.DataFrame], gaps: Gaps) -> list[Row]:
    """The rows of ``extrinsic.gap_table.gap_table``, for several classifiers by name, all of the
    same items in the same order; ``classifier`` has their names.

    After the rows of each come those of each two of them, ``first - second``: values and gaps of
    the first minus those of the second, with intervals of differences within items (Zou and
    Donner's, whose correlation is that of what each item moves the two). Nothing is pooled over
    classifiers.

    Raises ``InputError`` where labels or groups differ, besides what ``gap_table`` raises.
    """
    samples = {name: read_sample(table, gaps) for name, table in predictions.items()}
    for one, other in combinations(samples, 2):
        _require_same_items(one, samples[one], other, samples[other])
    rows = [
        row._replace(classifier=name)
        for name, sample in samples.items()
        for row in sample_rows(sample, gaps)
    ]
    for one, other in combinations(samples, 2):
        pair = Paired(samples[one], samples[other])
        found = value_rows(pair, gaps) + difference_rows(pair, gaps)
        rows += [row._replace(classifier=f"{one} - {other}") for row in found]
    return rows


def _require_same_items(one: str, first: Sample, other: str, second: Sample) -> None:
    same = np.array_equal(first.cell // 2, second.cell // 2) and np.array_equal(
        first.code, second.code
    )
    if not same or list(first.groups) != list(second.groups):
        what = f"{one} and {other} are not of the same items"
        raise InputError(f"{what} (labels or groups differ); give rows in the same order")
