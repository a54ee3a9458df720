"""Double-hard debiasing: remove a frequency component first, then the gender direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.debias.axis import ONE_THREAD, map_blocks
from biasbridge.debias.examples import require_enough
from biasbridge.debias.hard import Hard, Rows, find_word_rows, neutralise, pair_axes, units
from biasbridge.files import choice
from biasbridge.files.choice import Count
from biasbridge.files.eraser import ROWS
from biasbridge.intrinsic.metrics.separability import score_clusters

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats, Singles

FREQUENT = 50_000  # most frequent words, among which the most biased are searched


class ComponentSearch(NamedTuple):
    """The search for the component to remove. mean (dim,) and components (candidates, dim), largest
    first, are of the vocabulary; ``separation`` is the share of the biased words, .5 to 1, that
    2-means clusters with their side after the removal of each component.
    """

    mean: Floats
    components: Floats
    separation: Floats

    @property
    def chosen(self) -> int:
        """Index of the component with the smallest share."""
        return int(np.argmin(self.separation))

    def without(self, rows: Singles | Floats, index: int | None = None) -> Floats:
        """Remove the mean and a component (default: the chosen one) from rows (..., dim)."""
        component = self.components[[self.chosen if index is None else index]]
        return neutralise(rows - self.mean, component)


@choice
class DoubleHard(Hard):
    """Double-hard debiasing (Wang et al., 2020): ``Hard``, without ``equalise``, of

        x - mean - ((x - mean) . u) u

    u is the one of the first ``candidates`` principal components of the vocabulary after whose
    removal 2-means separates the most biased words worst. These are the ``biased`` words farthest
    to either side along the direction of the pairs in the unmodified vectors, among the 50,000 most
    frequent that are neither ``specific`` nor in a pair. If no component changes much, the choice
    depends on the seed.
    """

    candidates: Annotated[Count, doc("principal components of the vocabulary to try")] = 20
    biased: Annotated[Count, doc("words per side that 2-means clusters")] = 500

    name: ClassVar[str] = "double_hard"
    seeded: ClassVar[bool] = True

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector. Raises ``InputError`` as ``Hard`` does."""
        before, word_rows = vectors.vectors, find_word_rows(vectors, query)
        search = self.search(vectors, query, seed=seed)
        axes = pair_axes(search.without(before[word_rows.pairs]), self.components)
        after = map_blocks(
            lambda rows: self.resize(neutralise(search.without(rows), axes), rows), before
        )
        specific = before[word_rows.specific]
        after[word_rows.specific] = self.resize(search.without(specific), specific)
        return after

    @ONE_THREAD
    def search(self, vectors: KeyedVectors, query: Query, *, seed: int) -> ComponentSearch:
        """Try the components: measure how well 2-means separates biased words without each."""
        matrix, word_rows = vectors.vectors, find_word_rows(vectors, query)
        [gender] = pair_axes(matrix[word_rows.pairs], 1)
        words, sides = most_biased(matrix, gender, word_rows.specific, self.biased)
        search = ComponentSearch(*main_components(matrix, self.candidates), np.empty(0))
        shares = []
        for index in range(len(search.components)):
            axes = pair_axes(search.without(matrix[word_rows.pairs], index), self.components)
            rows = units(neutralise(search.without(matrix[words], index), axes))
            shares.append(score_clusters(rows, sides, seed=seed)[0])
        return search._replace(separation=np.array(shares))


def most_biased(
    matrix: Singles, axis: Floats, excluded: Rows, n_per_side: int
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the rows of the words with the largest and smallest cosine with an axis, in the order
    of the vocabulary, and which of them have the largest; at most half of the words per side.
    """
    candidates = np.setdiff1d(np.arange(min(len(matrix), FREQUENT)), excluded)
    require_enough(len(candidates), "words that are not specific", "the vectors")
    order = np.argsort(units(matrix[candidates]) @ axis, kind="stable")
    n_per_side = min(n_per_side, len(candidates) // 2)
    words = np.sort(candidates[np.concatenate([order[:n_per_side], order[-n_per_side:]])])
    return words, np.isin(words, candidates[order[-n_per_side:]])


def main_components(matrix: Singles, number: int) -> tuple[Floats, Floats]:
    """Compute the mean and the first principal components of rows: (dim,), (number, dim)."""
    mean = matrix.mean(axis=0, dtype=np.float64)
    products = np.zeros((len(mean), len(mean)))
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS] - mean
        products += rows.T @ rows
    return mean, np.linalg.eigh(products)[1].T[::-1][:number]
