"""Double-hard debiasing: what words share by their frequency goes first, then gender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from debias.axis import ONE_THREAD, Floats, Singles, in_blocks
from debias.examples import require_some
from debias.hard import Hard, Rows, find_places, neutralise, pair_axes, units
from files import choice
from files.choice import Count
from files.eraser import ROWS
from intrinsic.metrics.separability import score_clusters

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

FREQUENT = 50_000  # words that the most biased are sought in, the first of the vocabulary


class Search(NamedTuple):
    """What was seen while a component was sought. mean (dim,) and components (candidates, dim),
    largest first, are of the vocabulary; ``told_apart`` is the share of the biased words, .5 to 1,
    that 2-means puts with their own side after each component's removal.
    """

    mean: Floats
    components: Floats
    told_apart: Floats

    @property
    def chosen(self) -> int:
        """The place of the component with the smallest share."""
        return int(np.argmin(self.told_apart))

    def without(self, rows: Singles | Floats, place: int | None = None) -> Floats:
        """Rows (..., dim) without the mean and one component, the one chosen unless named."""
        return neutralise(
            rows - self.mean, self.components[[self.chosen if place is None else place]]
        )


@choice
class DoubleHard(Hard):
    """Double-hard debiasing (Wang et al., 2020): ``Hard``, without ``equalise``, of

        x - mean - ((x - mean) . u) u

    u is that one of the first ``candidates`` principal components of the vocabulary after whose
    removal 2-means tells the most biased words apart worst. These are the words farthest along the
    direction of the pairs in the unmodified vectors, so many to either side, among the 50,000 most
    frequent that are not ``specific`` nor in a pair. Where none of the components changes much, the
    choice is that of the seed.
    """

    candidates: Annotated[Count, doc("components of the vocabulary that are tried")] = 20
    biased: Annotated[Count, doc("words of either side that 2-means is to tell apart")] = 500

    name: ClassVar[str] = "double_hard"
    seeded: ClassVar[bool] = True

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """f of every vector; errors as in ``Hard``."""
        before, places = vectors.vectors, find_places(vectors, query)
        found = self.search(vectors, query, seed=seed)
        axes = pair_axes(found.without(before[places.pairs]), self.components)
        after = in_blocks(
            lambda rows: self.resize(neutralise(found.without(rows), axes), rows), before
        )
        specific = before[places.specific]
        after[places.specific] = self.resize(found.without(specific), specific)
        return after

    @ONE_THREAD
    def search(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Search:
        """The components tried, and how well 2-means, from a seed, does without each."""
        matrix, places = vectors.vectors, find_places(vectors, query)
        [gender] = pair_axes(matrix[places.pairs], 1)
        words, sides = most_biased(matrix, gender, places.specific, self.biased)
        found = Search(*main_components(matrix, self.candidates), np.empty(0))
        shares = []
        for place in range(len(found.components)):
            axes = pair_axes(found.without(matrix[places.pairs], place), self.components)
            rows = units(neutralise(found.without(matrix[words], place), axes))
            shares.append(score_clusters(rows, sides, seed=seed)[0])
        return found._replace(told_apart=np.array(shares))


def most_biased(
    matrix: Singles, axis: Floats, left_out: Rows, number: int
) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows of as many words farthest along an axis as farthest against it, by cosine, in the
    order of the vocabulary, and which lie along it; at most half of those there are.
    """
    among = np.setdiff1d(np.arange(min(len(matrix), FREQUENT)), left_out)
    require_some(len(among), "words that are not specific", "the vectors")
    order = np.argsort(units(matrix[among]) @ axis, kind="stable")
    number = min(number, len(among) // 2)
    words = np.sort(among[np.concatenate([order[:number], order[-number:]])])
    return words, np.isin(words, among[order[-number:]])


def main_components(matrix: Singles, number: int) -> tuple[Floats, Floats]:
    """The mean and the first principal components of the rows: (dim,), (number, dim)."""
    mean = matrix.mean(axis=0, dtype=np.float64)
    products = np.zeros((len(mean), len(mean)))
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS] - mean
        products += rows.T @ rows
    return mean, np.linalg.eigh(products)[1].T[::-1][:number]
