r"""Performance gaps between groups, from predictions (Goldfarb-Tarrant et al., 2021, section 2.2).

    gap = measure(privileged) - measure(unprivileged)      of what is better the larger it is
    gap = measure(unprivileged) - measure(privileged)      of the false positive and negative rates

so that every gap is positive where the unprivileged group fares worse. The precision gap is their
Predictive Parity, the recall gap Equality of Opportunity. Gaps of 0 in recall and false positive
rate together are Equalised Odds (their appendix A, which calls equal false positive rates
Predictive Parity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt, Lt

from extrinsic.measures import MEASURES
from extrinsic.ranking import RANKINGS
from files import InputError, choice, nearest
from files.choice import Fileless, Whole

Comparison = Literal["pair", "each", "rest", "largest"]

CRITERIA: Mapping[str, tuple[str, ...]] = {
    "demographic_parity": ("selection_rate",),
    "equalised_odds": ("recall", "fpr"),
}
EVERY_MEASURE = (*MEASURES, *RANKINGS, *CRITERIA)


@choice
class Gaps(Fileless):
    """Which groups are compared in which measures, on how many items at least, at which level of
    confidence.

    ``compare``: the privileged and the unprivileged group (``pair``); the privileged and each other
    group (``each``); all other items and each group (``rest``: without it, those of no group
    included); the two groups that are furthest apart (``largest``: their difference, and the ratio
    of the smaller value to the larger). ``groups``: those compared with the rest, with the
    privileged and with one another, which must be there; empty: all that there are.

    ``measures``: of ``extrinsic.measures.MEASURES``, ``extrinsic.ranking.RANKINGS`` (which need
    scores; those against the background are values only, for they compare a group with all others
    already) and ``CRITERIA`` (``largest`` only: the largest difference, and the smallest ratio, of
    the measures that each is about).

    ``least_support``: the fewest items (of a measure's denominator) that give a group a value; 0
    takes any. Of two groups with rates near .9 and 10 items each, the default, the gap is known to
    within .3; with 5 each to within .45, nearly half of what there is.
    """

    privileged: str = "male"
    unprivileged: str = "female"
    least_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    measures: tuple[str, ...] = ("base_rate", "precision", "recall", "f1", "fpr")
    compare: tuple[Comparison, ...] = ("pair",)
    groups: tuple[str, ...] = ()

    name: ClassVar[str] = "gaps"
    version: ClassVar[int] = 5
    seeded: ClassVar[bool] = False
    # Keyed where they say more than two groups and the usual measures, so that the results of those
    # who ask for no more keep their names
    unkeyed: ClassVar[tuple[str, ...]] = ("measures", "compare", "groups")

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged group are both {self.privileged!r}; name two"
                " groups"
            )
        for name, known in (("measures", EVERY_MEASURE), ("compare", ()), ("groups", ())):
            _once(name, getattr(self, name), known)
        criteria = [each for each in self.measures if each in CRITERIA]
        if criteria and "largest" not in self.compare:
            raise InputError(
                f"measures={criteria[0]} is about the largest difference between groups; add"
                " largest to compare"
            )

    def keyed(self) -> Mapping[str, object]:
        """What is asked for beyond the default."""
        asked = {name: list(getattr(self, name)) for name in self.unkeyed}
        default = {name: list(getattr(Gaps, name)) for name in self.unkeyed}
        return {name: value for name, value in asked.items() if value != default[name]}

    @property
    def named(self) -> tuple[str, ...]:
        """The groups that must have items."""
        pair = self.privileged, self.unprivileged
        return pair if "pair" in self.compare else pair[: "each" in self.compare]


def larger_is_better(measure: str) -> bool:
    """Whether a larger value of a measure is the better one for a group."""
    return measure in RANKINGS or MEASURES[measure].larger_is_better


def _once(field: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise ``InputError`` for a name given twice, and for one that is not known where some are."""
    if len({*names}) < len(names):
        raise InputError(f"{field}={list(names)}: name each once")
    for name in names:
        if known and name not in known:
            raise InputError(
                f"{field}={name!r}{nearest(name, known)}; measures: {', '.join(known)}"
            )


DEFAULT = Gaps()
