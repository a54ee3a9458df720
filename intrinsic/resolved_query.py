"""Word sets of a query looked up in vectors, by role, and reasons why they cannot be scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.files.names import lower_forms, normalise_text
from biasbridge.intrinsic.directions import pair_differences
from biasbridge.intrinsic.lookup import ResolvedWords, describe_shortage, find_set, spelling
from biasbridge.intrinsic.resampling import RESAMPLES, draw_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query

EXCLUDED = "excluded"  # role of words left out of a vocabulary, not measured themselves


@dataclass(frozen=True)
class ResolvedQuery:
    """Word sets of a query found in vectors, by role.

    excluded_words: those of base pairs and of the role ``excluded``, which are not neutral. cut:
    items found but not used. is_resample: whether its score needs no test.
    """

    query: Query
    vectors: KeyedVectors
    sets: Mapping[str, ResolvedWords]
    excluded_words: frozenset[str]
    cut: tuple[str, ...] = ()
    is_resample: bool = False

    def __getitem__(self, role: str) -> ResolvedWords:
        return self.sets[role]

    @property
    def targets(self) -> dict[str, ResolvedWords]:
        """Groups of target words: X, Y, X3, ..."""
        return self._groups("XY")

    @property
    def attributes(self) -> dict[str, ResolvedWords]:
        """Groups of attribute words: A, B, A3, ..."""
        return self._groups("AB")

    def _groups(self, letters: str) -> dict[str, ResolvedWords]:
        """Return the groups by number, whatever the order of the file."""
        numbers = {
            role: int(role[1:] or letters.index(role[0]) + 1)
            for role in self.sets
            if role[0] in letters
        }
        return {role: self.sets[role] for role in sorted(numbers, key=numbers.__getitem__)}

    @property
    def word_sets(self) -> dict[str, ResolvedWords]:
        """All sets except the excluded words."""
        return {role: words for role, words in self.sets.items() if role != EXCLUDED}

    def truncated(self, sizes: Mapping[str, int]) -> ResolvedQuery:
        """Return a copy with the sets of these roles cut to their first items."""
        sets = {
            role: words.take(np.arange(len(words.items))[: sizes.get(role)])
            for role, words in self.sets.items()
        }
        cut = [word for role in sets for word in self[role].words[len(sets[role].words) :]]
        return dataclasses.replace(self, sets=sets, cut=tuple(cut))

    def resampled(self, rng: np.random.Generator) -> ResolvedQuery:
        """Return a copy with every set drawn with replacement."""
        sizes = {role: len(words.items) for role, words in self.sets.items()}
        return self.take({role: rng.integers(n, size=n) for role, n in sizes.items() if n})

    def joint_resamples(self) -> Iterator[ResolvedQuery]:
        """Yield the resamples of :mod:`biasbridge.intrinsic.resampling`; a set may be empty in
        some.
        """
        draws = {role: draw_items(role, words) for role, words in self.word_sets.items()}
        for i in range(RESAMPLES):
            counts = {role: times[:, i] for role, times in draws.items()}
            yield self.take({role: np.repeat(np.arange(len(n)), n) for role, n in counts.items()})

    def take(self, places: Mapping[str, NDArray[np.intp]]) -> ResolvedQuery:
        """Return a copy with the items of these roles at ``places``, which may repeat."""
        sets = {role: self[role].take(indices) for role, indices in places.items()}
        return dataclasses.replace(self, sets={**self.sets, **sets}, is_resample=True)

    def shortages(self, min_found: float, fewest: Mapping[str, int]) -> list[str]:
        """Return the sets with too few items; ``fewest`` by role, 1 by default."""
        descriptions = (
            describe_shortage(self.query[role], words, min_found, fewest.get(role, 1))
            for role, words in self.word_sets.items()
        )
        return [description for description in descriptions if description]

    def overlaps(self) -> list[str]:
        """Return the groups that cannot be compared because they share words."""
        return [
            f"{first} and {second} of query {self.query.name!r} share {', '.join(sorted(shared))};"
            " a word can be in one of them only"
            for groups in (self.targets, self.attributes)
            for first, second in combinations(groups, 2)
            if (shared := set(groups[first].words) & set(groups[second].words))
        ]

    def require_directions(self) -> None:
        """Raise ``InputError`` for a vector, or a base pair, without a direction."""
        for words in self.word_sets.values():
            _ = words.matrix
        if "pairs" in self.sets:
            pair_differences(self["pairs"].matrix)


def resolve_query(
    vectors: KeyedVectors, query: Query, takes: Callable[[str], bool], *, case: str
) -> ResolvedQuery:
    """Look up the word sets of a query in the roles that ``takes`` accepts.

    ``case="lower"``: as in :func:`find`; an excluded word is also excluded in lower case.
    """
    sets = {
        role: find_set(vectors, wordset, case=case)
        for role, wordset in query.sets.items()
        if takes(role)
    }
    pairs = sets["pairs"].items if "pairs" in sets else []
    excluded = query[EXCLUDED].words if EXCLUDED in query.sets else ()
    if case == "lower":
        excluded = (*excluded, *(form for word in excluded for form in lower_forms(word)))
    spelled = (spelling(normalise_text(word), vectors) for word in excluded)
    excluded_words = frozenset([*(word for pair in pairs for word in pair), *spelled])
    return ResolvedQuery(query, vectors, sets, excluded_words)
