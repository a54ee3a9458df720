"""Scores of single words, or of pairs of words, under single base pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import find_set
from biasbridge.intrinsic.resolved_query import ResolvedQuery, resolve_query
from biasbridge.intrinsic.wordsets import WordSet

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats

Item = tuple[str, ...]
MIN_PAIRS = 2


@runtime_checkable
class ScoresByPair(Protocol):
    """Protocol of a metric that scores each item under each base pair alone.

    ``items``: the role of what it scores. Scores above 0: towards the pair's first word; 0: neither
    way.
    """

    items: ClassVar[str]

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Compute the score of every item under every pair, (items, pairs)."""
        ...


@dataclass(frozen=True)
class PairScores:
    """A metric that scores any items of these vectors under any base pairs.

    resolved: the items and the base pairs (at least two) of a query in the vectors. Words left out
    of neighbours are those of this query, whatever is scored.
    """

    metric: ScoresByPair
    resolved: ResolvedQuery

    @classmethod
    def resolve(cls, metric: Metric, vectors: KeyedVectors, query: Query) -> PairScores:
        """Look up the query.

        Raises ``InputError`` for a metric without scores by pair, a pair without a direction, and
        too few words.
        """
        if not isinstance(metric, ScoresByPair):
            raise InputError(
                f"{metric.name} has no score of a single word under a single base pair; use"
                " pair_bias, ripa, nbm, direct_bias or unrelated_analogies"
            )
        resolved = resolve_query(vectors, query, metric.about.takes, case=metric.case)
        needed = {**metric.about.fewest, "pairs": MIN_PAIRS}
        if shortages := resolved.shortages(metric.min_found, needed):
            raise InputError("; ".join(shortages))
        pairs = resolved["pairs"]
        for (a, b), (first, second) in zip(pairs.items, pairs.raw, strict=True):
            if a == b or not np.any(first != second):
                problem = "is one word twice" if a == b else "has two words with the same vector"
                raise InputError(f"base pair {a}:{b} {problem}, so it has no direction; remove it")
        resolved.require_directions()
        return cls(metric, resolved)

    @property
    def pairs(self) -> list[Item]:
        """Base pairs found."""
        return self.resolved["pairs"].items

    def has(self, *words: str) -> bool:
        """Test whether all words are in the vocabulary."""
        return all(word in self.resolved.vectors for word in words)

    def __call__(self, items: Sequence[Item], pairs: Sequence[Item]) -> Floats:
        """Score these items, all in the vocabulary, (items, pairs)."""
        unique_items = list(dict.fromkeys(items))
        sets = {
            role: find_set(self.resolved.vectors, _word_set(role_items))
            for role, role_items in ((self.metric.items, unique_items), ("pairs", pairs))
        }
        words = dataclasses.replace(self.resolved, sets={**self.resolved.sets, **sets})
        index = {item: i for i, item in enumerate(unique_items)}
        scores: Floats = self.metric.by_pair(words)[[index[item] for item in items]]
        return scores


def _word_set(items: Sequence[Item]) -> WordSet:
    words = tuple(word for item in items for word in item)
    return WordSet("", words, "und", "", width=len(items[0]))
