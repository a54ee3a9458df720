r"""Performance gaps between groups, from predictions (Goldfarb-Tarrant et al., 2021, section 2.2).

    gap = measure(privileged) - measure(unprivileged)      if larger is better
    gap = measure(unprivileged) - measure(privileged)      otherwise (``less_is_better``)

Every gap is positive where the unprivileged group fares worse. The precision gap is their
Predictive Parity, the recall gap Equality of Opportunity. Gaps of 0 in both recall and false
positive rate are Equalised Odds (their appendix A, which calls equal false positive rates
Predictive Parity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt, Lt

from biasbridge.extrinsic.measures import MEASURES, SCORED
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.choice import Fileless, Whole

At = Literal["threshold", "share"]
Comparison = Literal["pair", "pairwise", "one-vs-rest", "one-vs-none", "max-difference"]

CRITERIA: Mapping[str, tuple[str, ...]] = {
    "demographic_parity": ("selection_rate",),
    "equalised_odds": ("recall", "fpr"),
}
ALL_MEASURES = (*MEASURES, *SCORED, *CRITERIA)


@choice
class Gaps(Fileless):
    """Compared groups and measures, minimum number of items, and confidence level.

    ``compare``: ``pair`` is the privileged against the unprivileged group; ``pairwise`` the
    privileged against each other group; ``one-vs-rest`` all other items, those without a group
    included, against each group; ``one-vs-none`` the items in no group against each group;
    ``max-difference`` the two groups furthest apart, as difference and as ratio of the smaller
    value to the larger. ``groups``: those compared with the rest, with the privileged and with one
    another; they must exist. Empty: all.

    ``measures``: names in ``biasbridge.extrinsic.measures.MEASURES``,
    ``biasbridge.extrinsic.measures.SCORED`` (they need scores; background AUCs have values only,
    as they compare with all other items already) and ``CRITERIA`` (``max-difference`` only: the
    largest difference, and smallest ratio, of any measure of the criterion).

    ``min_support``: items in a measure's denominator below which a group has no value; 0 accepts
    any. For two groups with rates near .9 and 10 items each, the default, the gap is known to
    within .3; with 5 each to within .45.

    ``at``: which items count as predicted 1: those of the classifier's ``threshold``, or as many as
    a ``share`` of all items, those of the highest scores. A number is that share; "share" is the
    base rate of the items, which all models have in common.
    """

    privileged: str = "male"
    unprivileged: str = "female"
    min_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    measures: tuple[str, ...] = ("base_rate", "precision", "recall", "f1", "fpr")
    compare: tuple[Comparison, ...] = ("pair",)
    groups: tuple[str, ...] = ()
    at: At | Annotated[float, Gt(0), Lt(1)] = "threshold"

    name: ClassVar[str] = "gaps"
    version: ClassVar[int] = 8
    seeded: ClassVar[bool] = False
    # Keyed by ``keyed`` unless default, so that results of the default comparison keep their keys
    unkeyed: ClassVar[tuple[str, ...]] = ("measures", "compare", "groups", "at")

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged group are both {self.privileged!r}; name two"
                " groups"
            )
        for field, allowed in (("measures", ALL_MEASURES), ("compare", ()), ("groups", ())):
            _check_names(field, getattr(self, field), allowed)
        criteria = [measure for measure in self.measures if measure in CRITERIA]
        if criteria and "max-difference" not in self.compare:
            raise InputError(
                f"measures={criteria[0]} needs the largest difference between groups; add"
                " max-difference to compare"
            )

    def keyed(self) -> Mapping[str, object]:
        """Return the comparison fields that differ from their defaults."""
        values = {field: getattr(self, field) for field in self.unkeyed}
        return {field: value for field, value in values.items() if value != getattr(Gaps, field)}

    @property
    def named(self) -> tuple[str, ...]:
        """Groups that must have items."""
        pair = self.privileged, self.unprivileged
        return pair if "pair" in self.compare else pair[: "pairwise" in self.compare]


def _check_names(field: str, names: Sequence[str], allowed: Sequence[str]) -> None:
    """Raise ``InputError`` for a repeated name, and for one that is not ``allowed`` if any are."""
    if len({*names}) < len(names):
        raise InputError(f"{field}={list(names)}: name each once")
    for name in names:
        if allowed and name not in allowed:
            raise InputError(
                f"{field}={name!r}{nearest(name, allowed)}; measures: {', '.join(allowed)}"
            )


DEFAULT_GAPS = Gaps()
