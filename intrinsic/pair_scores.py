"""Scores of single words, or of pairs of words, under single base pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from files import InputError
from intrinsic.found_query import FoundQuery, find_query
from intrinsic.lookup import Floats, find_set
from intrinsic.wordsets import WordSet

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric
    from intrinsic.wordsets import Query

Item = tuple[str, ...]
FEWEST = 2


@runtime_checkable
class ByPair(Protocol):
    """A metric that can be asked about each item under each base pair alone.

    ``items``: the role of what it scores. > 0: towards the pair's first word; 0: neither way.
    """

    items: ClassVar[str]

    def by_pair(self, words: FoundQuery) -> Floats:
        """Shape (items, pairs)."""
        ...


@dataclass(frozen=True)
class PairScores:
    """A metric ready to score any items of these vectors under any base pairs.

    found: what there is of a query's own items and base pairs, of which it has at least two. The
    words left out of neighbours stay those of the query whatever is asked.
    """

    metric: ByPair
    found: FoundQuery

    @classmethod
    def of(cls, metric: Metric, vectors: KeyedVectors, query: Query) -> PairScores:
        """Raises ``InputError`` for a metric that is no ``ByPair``, fewer than two base pairs, a
        pair whose words have one vector, and too few words.
        """
        if not isinstance(metric, ByPair):
            raise InputError(
                f"{metric.name} has no score of a single word under a single base pair; take"
                " pair_bias, ripa, nbm, direct_bias or unrelated_analogies"
            )
        found = find_query(vectors, query, metric.about.takes, case=metric.case)
        needed = {**metric.about.fewest, "pairs": FEWEST}
        if lacking := found.shortages(metric.min_found, needed):
            raise InputError("; ".join(lacking))
        for (a, b), (first, second) in zip(found["pairs"].items, found["pairs"].raw, strict=True):
            if a == b or not np.any(first != second):
                same = "is one word twice" if a == b else "has two words with the same vector"
                raise InputError(f"base pair {a}:{b} {same}, so it has no direction; remove it")
        found.require_directions()
        return cls(metric, found)

    @property
    def pairs(self) -> list[Item]:
        """The base pairs found."""
        return self.found["pairs"].items

    def has(self, *words: str) -> bool:
        """Whether all of the words are in the vocabulary."""
        return all(word in self.found.vectors for word in words)

    def __call__(self, items: Sequence[Item], pairs: Sequence[Item]) -> Floats:
        """The scores of these items, all in the vocabulary. Shape (items, pairs)."""
        different = list(dict.fromkeys(items))
        sets = {
            role: find_set(self.found.vectors, _as_set(asked))
            for role, asked in ((self.metric.items, different), ("pairs", pairs))
        }
        words = dataclasses.replace(self.found, sets={**self.found.sets, **sets})
        place = {item: i for i, item in enumerate(different)}
        scores: Floats = self.metric.by_pair(words)[[place[item] for item in items]]
        return scores


def _as_set(items: Sequence[Item]) -> WordSet:
    words = tuple(word for item in items for word in item)
    return WordSet("", words, "und", "", width=len(items[0]))
