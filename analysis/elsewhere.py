"""What a verdict does not answer for: bases and modifications that a study did not make."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from analysis.naming import counted

if TYPE_CHECKING:
    from analysis.evidence import Evidence


class Elsewhere(NamedTuple):
    """Of what else (other bases, other modifications) an interval reaches as far as a bound, and
    what there are too few of for an interval.
    """

    may: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def elsewhere(found: Evidence, bound: float = 0.0) -> Elsewhere:
    """Whether for other bases, or modifications, |r| may be as large as ``bound``; of a bound of 0,
    whether r may be 0. Units that are a base each have an interval over bases in that over units,
    and where nothing was modified there is nothing to say of modifications.
    """
    sides = {
        "base": (found.n_bases, found.across_low, found.across_high),
        "modification": (found.n_arms, found.arms_low, found.arms_high),
    }
    asked = {"base": found.n_bases < found.n_units, "modification": found.n_arms > 1}
    may, unknown = [], []
    for name, (number, low, high) in sides.items():
        if not isfinite(low):
            if asked[name]:
                unknown.append(counted(number, name))
        elif low <= -bound or high >= bound if bound else low <= 0 <= high:
            may.append(f"{name}s")
    return Elsewhere(tuple(may), tuple(unknown))


def told(of: Elsewhere, bound: float = 0.0) -> list[str]:
    """In words."""
    size = f"{bound:g} or more" if bound else "0"
    said = [f"for other {_and(of.may)} it may be {size}"] if of.may else []
    if of.unknown:
        one = of.unknown in (("1 base",), ("1 modification",))
        said.append(f"{_and(of.unknown)} {'tells' if one else 'tell'} nothing of others")
    return said


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
