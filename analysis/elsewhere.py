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
    whether r may be 0. Where units are a base each, of several to a cluster, it is asked of seeds;
    independent ones have an interval over these in that over units. Where nothing was modified
    there is nothing to say of modifications.
    """
    modified = found.n_bases < found.n_units
    origin = ("base", found.n_bases) if modified else ("seed", found.n_clusters)
    sides = {
        origin[0]: (origin[1], found.across_low, found.across_high),
        "modification": (found.n_arms, found.arms_low, found.arms_high),
    }
    asked = {
        origin[0]: modified or found.n_clusters < found.n_units,
        "modification": found.n_arms > 0,
    }
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
        said.append(f"{of_others(of)} nothing of others")
    return said


def of_others(of: Elsewhere, verb: str = "tell", of_one: str = "tells") -> str:
    """What there are too few of, with a verb of theirs."""
    one = len(of.unknown) == 1 and of.unknown[0].startswith("1 ")
    return f"{_and(of.unknown)} {of_one if one else verb}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
