"""What the vectors have of a query: its word sets by role, and why they may not do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from intrinsic.directions import pair_differences
from intrinsic.lookup import Found, describe_shortage, find_set
from intrinsic.resampling import RESAMPLES, draw_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

EXCLUDED = "excluded"  # from a vocabulary: these words are not measured themselves


@dataclass(frozen=True)
class FoundQuery:
    """What was found of a query, by role, and the vectors it was found in.

    left_out: the words of base pairs and those excluded, which are no neutral words. cut: items
    that were found and are not used. drawn: whether this is a resample, whose score needs no test.
    """

    query: Query
    vectors: KeyedVectors
    sets: Mapping[str, Found]
    left_out: frozenset[str]
    cut: tuple[str, ...] = ()
    drawn: bool = False

    def __getitem__(self, role: str) -> Found:
        return self.sets[role]

    @property
    def targets(self) -> dict[str, Found]:
        """The groups of target words: X, Y, X3, ..."""
        return self._groups("XY")

    @property
    def attributes(self) -> dict[str, Found]:
        """The groups of attribute words: A, B, A3, ..."""
        return self._groups("AB")

    def _groups(self, letters: str) -> dict[str, Found]:
        """The first group, the second, the third, in whatever order a file lists them."""
        numbers = {
            role: int(role[1:] or letters.index(role[0]) + 1)
            for role in self.sets
            if role[0] in letters
        }
        return {role: self.sets[role] for role in sorted(numbers, key=numbers.__getitem__)}

    @property
    def measured(self) -> dict[str, Found]:
        """All sets but the words that are merely left out of a vocabulary."""
        return {role: found for role, found in self.sets.items() if role != EXCLUDED}

    def first(self, sizes: Mapping[str, int]) -> FoundQuery:
        """The same with the sets of these roles cut to their first items."""
        sets = {
            role: found.first(sizes[role]) if role in sizes else found
            for role, found in self.sets.items()
        }
        cut = [word for role in sets for word in self[role].words[len(sets[role].words) :]]
        return dataclasses.replace(self, sets=sets, cut=tuple(cut))

    def resampled(self, rng: np.random.Generator) -> FoundQuery:
        """The same with every set drawn anew with replacement."""
        sizes = {role: len(found.items) for role, found in self.sets.items()}
        drawn = {role: rng.integers(size, size=size) for role, size in sizes.items() if size}
        return self.take(drawn)

    def joint_resamples(self) -> Iterator[FoundQuery]:
        """The resamples of ``intrinsic.resampling``, one by one; a set may be empty in some."""
        draws = {role: draw_items(role, found) for role, found in self.measured.items()}
        for i in range(RESAMPLES):
            times = {role: drawn[:, i] for role, drawn in draws.items()}
            yield self.take({role: np.repeat(np.arange(len(n)), n) for role, n in times.items()})

    def take(self, places: Mapping[str, NDArray[np.intp]]) -> FoundQuery:
        """The same with the items of these roles at these places, as often as named."""
        sets = {role: self[role].take(drawn) for role, drawn in places.items()}
        return dataclasses.replace(self, sets={**self.sets, **sets}, drawn=True)

    def shortages(self, min_found: float, fewest: Mapping[str, int]) -> list[str]:
        """Why sets have too few items; ``fewest`` a set needs: one where it is not named."""
        every = [
            describe_shortage(self.query[role], found, min_found, fewest.get(role, 1))
            for role, found in self.measured.items()
        ]
        return [reason for reason in every if reason]

    def overlaps(self) -> list[str]:
        """Why groups cannot be compared, where they share words."""
        return [
            f"{one} and {other} of query {self.query.name!r} share {', '.join(sorted(shared))}; a"
            " word can be in one of them only"
            for groups in (self.targets, self.attributes)
            for one, other in combinations(groups, 2)
            if (shared := set(groups[one].words) & set(groups[other].words))
        ]

    def require_directions(self) -> None:
        """Raises ``InputError`` for a vector, and for a base pair, that has no direction."""
        for found in self.measured.values():
            _ = found.matrix
        if "pairs" in self.sets:
            pair_differences(self["pairs"].matrix)


def find_query(
    vectors: KeyedVectors, query: Query, takes: Callable[[str], bool], *, case: str
) -> FoundQuery:
    """The query's word sets in the roles that ``takes`` accepts, looked up as ``find`` does; with
    ``case="lower"`` a word that is excluded is so as written and in lower case.
    """
    sets = {
        role: find_set(vectors, wordset, case=case)
        for role, wordset in query.sets.items()
        if takes(role)
    }
    pairs = sets["pairs"].items if "pairs" in sets else []
    excluded = query[EXCLUDED].words if EXCLUDED in query.sets else ()
    if case == "lower":
        excluded = (*excluded, *map(str.lower, excluded))
    left_out = frozenset([*(word for pair in pairs for word in pair), *excluded])
    return FoundQuery(query, vectors, sets, left_out)
