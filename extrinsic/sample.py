"""One classifier's predictions of some items: the measures of every group, and how they go
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from extrinsic.intervals import (
    UNDEFINED,
    Estimate,
    Floats,
    combination,
    difference,
)
from extrinsic.measures import MEASURES, Counts, constant_value, from_base_rates
from extrinsic.ranking import RANKINGS, area, placements
from intrinsic.resampling import resample_counts

Mask = NDArray[np.bool_]
TINY = 1e-300
CLASSES = ("actual negative", "actual positive")
ALL, REST = "all", "rest"


class Side(NamedTuple):
    """The items of a group, or (``rest``) all the others; of the group "all" every item."""

    group: str
    rest: bool = False

    @property
    def name(self) -> str:
        """Its name in the tables."""
        return REST if self.rest else self.group


class Figure(NamedTuple):
    """A measure of a side, the items behind it, and why it is undefined, where it is."""

    estimate: Estimate
    support: int
    reason: str


@dataclass(frozen=True)
class Sample:
    """Items by ``cell`` (2 label + prediction), by ``score`` where measures need it, and by the
    ``unit`` that they were drawn with where they were not drawn one by one.

    Groups are sets of items: ``member`` and ``group_id`` (memberships,) say which item is in which
    of ``groups``; an item may be in several, or in none. ``resampled_by``: what says how often
    each item is drawn (``intrinsic.resampling``). Intervals are of ``level``; below ``least`` items
    a measure is undefined.
    """

    groups: Sequence[str]
    member: Counts
    group_id: Counts
    cell: Counts
    score: Floats | None = None
    unit: Counts | None = None
    resampled_by: Sequence[str] | None = None
    level: float = 0.95
    least: int = 0

    @cached_property
    def counts(self) -> Counts:
        """The cells of each group, then of all items, (groups + 1, 4)."""
        n = 4 * (len(self.groups) + 1)
        return np.bincount(self.kinds, minlength=n).reshape(-1, 4)

    @property
    def kinds(self) -> Counts:
        """Group and cell, 4 group + cell, of each membership, then of each item, as of one more
        group, (memberships + items,).
        """
        own = 4 * self.group_id + self.cell[self.member]
        return np.concatenate([own, 4 * len(self.groups) + self.cell])

    def cells(self, side: Side) -> Counts:
        """The cells of a side, (4,)."""
        return self._of(self.counts, side)

    def _of(self, counts: Counts, side: Side) -> Counts:
        whole: Counts = counts[-1]
        if side.group == ALL:
            return whole
        own: Counts = counts[self._number[side.group]]
        return whole - own if side.rest else own

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {group: number for number, group in enumerate(self.groups)}

    def mask(self, side: Side) -> Mask:
        """Which items are of a side, (items,)."""
        own: Mask = np.full(len(self.cell), side.group == ALL)
        if side.group != ALL:
            own[self.member[self.group_id == self._number[side.group]]] = True
        return ~own if side.rest else own

    def figure(self, measure: str, side: Side) -> Figure:
        """A measure of a side."""
        if (measure, side) not in self._figures:
            work_out = self._ranked if measure in RANKINGS else self._counted
            self._figures[measure, side] = work_out(measure, side)
        return self._figures[measure, side]

    @cached_property
    def _figures(self) -> dict[tuple[str, Side], Figure]:
        return {}

    def _counted(self, measure: str, side: Side) -> Figure:
        spec, cells = MEASURES[measure], self.cells(side)
        support = int(spec.support(cells))
        if reason := explain_lack(spec.item, side.name, support, self.least):
            return Figure(UNDEFINED, support, reason)
        effect = self._effect(measure, side)
        return Figure(spec.estimate(cells, self.level, effect), support, "")

    def _ranked(self, measure: str, side: Side) -> Figure:
        spec = RANKINGS[measure]
        counts = [
            int(self._class(side, label=label, own=own).sum())
            for label, own in ((0, spec.own_negatives), (1, spec.own_positives))
        ]
        scarce = int(np.argmin(counts))
        own = (spec.own_negatives, spec.own_positives)[scarce]
        name = side.name if own else f"other than {side.name}"
        if reason := explain_lack(CLASSES[scarce], name, counts[scarce], self.least):
            return Figure(UNDEFINED, counts[scarce], reason)
        value = float(np.mean(self._placed(measure, side)[1]))
        found = area(value, counts[1], counts[0], self.level, self._effect(measure, side))
        return Figure(found, min(counts), "")

    def _class(self, side: Side, *, label: int, own: bool) -> Mask:
        of = side if own else side._replace(rest=not side.rest)
        found: Mask = (self.cell // 2 == label) & self.mask(of)
        return found

    def _placed(self, measure: str, side: Side) -> tuple[Floats, Floats]:
        """The placements of the negatives, then of the positives, of a ranking."""
        spec, score = RANKINGS[measure], self.score
        assert score is not None
        negative = score[self._class(side, label=0, own=spec.own_negatives)]
        positive = score[self._class(side, label=1, own=spec.own_positives)]
        of_positive, of_negative = placements(positive, negative)
        return of_negative, of_positive

    def influences(self, measure: str, side: Side) -> Floats:
        """How far each item moves a measure of a side, to first order; 0 where it does not count.
        Shape (items,).
        """
        if measure in MEASURES:
            moved = MEASURES[measure].influences(self.cells(side))[self.cell]
            return np.where(self.mask(side), moved, 0.0)
        spec, found = RANKINGS[measure], np.zeros(len(self.cell))
        own = spec.own_negatives, spec.own_positives
        for label, placed in enumerate(self._placed(measure, side)):
            of = self._class(side, label=label, own=own[label])
            found[of] += (placed - placed.mean()) / len(placed)
        return found

    def by_unit(self, measure: str, side: Side) -> Floats:
        """Return the influences summed over units, (units,), where each item is one over none."""
        moved = self.influences(measure, side)
        return moved if self.unit is None else np.bincount(self.unit, moved).astype(np.float64)

    def _effect(self, measure: str, side: Side) -> float:
        """How many times the variance is that of items drawn one by one; at least 1."""
        if self.unit is None:
            return 1.0
        alone, together = self.influences(measure, side), self.by_unit(measure, side)
        return max(1.0, float((together**2).sum()) / max(float((alone**2).sum()), TINY))

    @cached_property
    def overlapping(self) -> bool:
        """Whether groups may share items or units."""
        return self.unit is not None or len(np.unique(self.member)) < len(self.member)

    def difference(self, measure: str, one: Side, other: Side) -> Estimate:
        """The measure of one side minus that of the other; undefined where either is."""
        a, b = (self.figure(measure, side) for side in (one, other))
        if a.reason or b.reason:
            return UNDEFINED
        if self.overlapping:
            moved = [self.by_unit(measure, side) for side in (one, other)]
            if np.any(moved[0] * moved[1]):
                return combination([a.estimate, b.estimate], [1, -1], moved, self.level)
        return difference(a.estimate, b.estimate)

    @cached_property
    def _drawn(self) -> Counts:
        """The cells of each group, then of all items, over resamples, (groups + 1, 200, 4)."""
        assert self.resampled_by is not None
        keys = [self.resampled_by[item] for item in self.member.tolist()] + [*self.resampled_by]
        counts = resample_counts(keys, self.kinds, 4 * (len(self.groups) + 1))
        return counts.reshape(len(counts), -1, 4).swapaxes(0, 1)

    def constant(self, measure: str, side: Side) -> float:
        """See ``extrinsic.measures.constant_value``; .5 of an AUC."""
        return constant_value(measure, self.cells(side)) if measure in MEASURES else 0.5

    def from_base_rates(self, measure: str, one: Side, other: Side) -> float:
        """See ``extrinsic.measures.from_base_rates``; NaN of an AUC."""
        if measure not in MEASURES:
            return nan
        both = self.cells(one) + self.cells(other)
        if self.overlapping:
            both = np.bincount(self.cell[self.mask(one) | self.mask(other)], minlength=4)
        return from_base_rates(measure, self.cells(one), self.cells(other), both)

    def resampled_difference(self, measure: str, one: Side, other: Side) -> list[float]:
        """The same over the resamples; empty for an AUC, and where there are none."""
        if self.resampled_by is None or measure in RANKINGS:
            return []
        a, b = (MEASURES[measure].values(self._of(self._drawn, side)) for side in (one, other))
        values: list[float] = (a - b).tolist()
        return values


def both_reasons(figures: Sequence[Figure]) -> str:
    """Why something made of several figures is undefined; empty where it is defined."""
    return "; ".join(dict.fromkeys(each.reason for each in figures if each.reason))


def explain_lack(item: str, group: str, support: int, least: int) -> str:
    """Why there is no value; empty where there is one."""
    if not support:
        return f"no {item} of group {group}"
    few = f"{support} {item}{'s' if support > 1 else ''} of group {group}, fewer than {least}"
    return few if support < least else ""
