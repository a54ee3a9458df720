"""What gaps are made of: measures that are known for every group of some items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from extrinsic.measures import MEASURES
from extrinsic.ranking import RANKINGS

if TYPE_CHECKING:
    from extrinsic.intervals import Estimate
    from extrinsic.spread import Block

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


class Measured(Protocol):
    """What gaps are made of: predictions whose measures are known for every side."""

    @property
    def groups(self) -> Sequence[str]:
        """The names of all groups."""

    @property
    def level(self) -> float:
        """Of the intervals."""

    def figure(self, measure: str, side: Side) -> Figure:
        """A measure of a side."""

    def difference(self, measure: str, one: Side, other: Side) -> Estimate:
        """The measure of one side minus that of the other; undefined where either is."""

    def resampled_difference(self, measure: str, one: Side, other: Side) -> list[float]:
        """The same over the resamples; empty for an AUC, and where there are none."""


class Spreading(Measured, Protocol):
    """What has a largest difference between groups as well."""

    def block(self, measure: str, groups: Sequence[str]) -> Block:
        """What it is made of."""


def both_reasons(figures: Sequence[Figure]) -> str:
    """Why something made of several figures is undefined; empty where it is defined."""
    return "; ".join(dict.fromkeys(each.reason for each in figures if each.reason))


def larger_is_better(measure: str) -> bool:
    """Whether a larger value of a measure is the better one for a group."""
    return measure in RANKINGS or MEASURES[measure].larger_is_better
