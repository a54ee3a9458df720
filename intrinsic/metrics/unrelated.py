"""Analogies of base pairs with unrelated words: a control for similarity without a relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasbridge.files import choice
from biasbridge.intrinsic.frequent_words import BATCH, Floats32, VocabularySize
from biasbridge.intrinsic.metric import Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult, by_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from biasbridge.stats.arrays import Floats


@choice
class UnrelatedAnalogies(Metric):
    """3CosAdd with base pairs on pairs of words unrelated to them.

    "man is to apple as woman is to ?" is solved by apples if man and woman are similar enough.
    ``statistic``: the share solved without a base pair, y being the word nearest to x; single
    scores by pair of words.
    """

    about: ClassVar[MetricInfo] = MetricInfo(
        name="unrelated_analogies",
        title="Unrelated analogies that base pairs solve, 3CosAdd accuracy",
        formula=(
            "share of ((a, b) in pairs, (x, y) in partners) with y = argmax_{w not in {a, b, x}}"
            " cos(w, unit(x) - unit(b) + unit(a))"
        ),
        sign="larger: analogies with the base pairs return words similar to x in any case",
        range=(0, 1),
        unbiased=None,
        source="Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "pairs", "partners": "pairs of words unrelated to them"},
        asks=("unrelated_plurals",),
    )
    items: ClassVar[str] = "partners"

    vocabulary: VocabularySize = 50_000

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Return 1 if the base pair solves the partner's analogy, else 0, (partners, pairs)."""
        pool, index = self._pool(words)
        pairs = words["pairs"]
        columns = [
            _solved(words, pool, index, first - second, names)
            for names, (first, second) in zip(pairs.items, pairs.matrix, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over base pairs and partners."""
        pool, index = self._pool(words)
        no_offset: Floats = np.zeros(words.vectors.vector_size)
        without_pair = float(_solved(words, pool, index, no_offset, ()).mean())
        solved = self.by_pair(words)
        by_partner = by_name(words["partners"].words, solved.mean(axis=1))
        return MetricResult(float(solved.mean()), statistic=without_pair, single_scores=by_partner)

    def _pool(self, words: ResolvedQuery) -> tuple[Floats32, Mapping[str, int]]:
        """Return frequent words and all words of the query, at unit length, and their index."""
        query_words = [
            word for role in ("partners", "pairs") for item in words[role].items for word in item
        ]
        frequent = words.vectors.index_to_key[: self.vocabulary]
        names = list(dict.fromkeys([*frequent, *query_words]))
        rows: Floats32 = np.array(
            words.vectors.vectors[[words.vectors.key_to_index[name] for name in names]]
        )
        norms: Floats32 = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(norms > 0, norms, 1)[:, None]
        return rows, {name: i for i, name in enumerate(names)}


def _solved(
    words: ResolvedQuery,
    pool: Floats32,
    index: Mapping[str, int],
    offset: Floats,
    base: Sequence[str],
) -> NDArray[np.bool_]:
    """Test if y is the word nearest to x + offset, leaving out x and the base pair: (partners,)."""
    partners = words["partners"]
    queries: Floats32 = (partners.matrix[:, 0] + offset).astype(np.float32)
    x, y = (np.array([index[item[i]] for item in partners.items]) for i in (0, 1))
    nearest = np.empty(len(queries), dtype=np.intp)
    for start in range(0, len(queries), BATCH):
        rows = slice(start, start + BATCH)
        cosines: Floats32 = queries[rows] @ pool.T
        cosines[np.arange(len(cosines)), x[rows]] = -np.inf
        cosines[:, [index[word] for word in base]] = -np.inf
        nearest[rows] = cosines.argmax(axis=1)
    solved: NDArray[np.bool_] = nearest == y
    return solved
