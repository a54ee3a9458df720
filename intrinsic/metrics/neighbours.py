"""Bias among nearest neighbours, which outlasts a removed direction (Gonen & Goldberg, 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import choice
from biasbridge.files.choice import Count
from biasbridge.intrinsic.lookup import (
    DirectionKind,
    Floats32,
    FrequentWords,
    VocabularySize,
    direction,
    frequent_words,
)
from biasbridge.intrinsic.metric import SNEYD, Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.metrics.direct import indirect_bias
from biasbridge.intrinsic.metrics.weat import pearson_correlation
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_NEIGHBOUR_ROLES = {"words": "words", "pairs": "pairs", "excluded?": "excluded"}


def neighbourhood_bias(signs: ArrayLike, neighbours: ArrayLike) -> Floats:
    r"""Compute the Neighbourhood Bias Metric (Wang et al., 2020; Zhang et al., 2020).

    NBM(w) = (f - m) / (f + m),  f of the k nearest neighbours of w have a positive sign and m a
    negative one or none; for every word under every base pair

    Parameters
    ----------
    signs : array of shape (vocabulary, pairs)
        Above 0: the word lies nearer the pair's first word.
    neighbours : array of int of shape (words, k)
        Indices of the neighbours in the vocabulary.

    Returns
    -------
    array of shape (words, pairs)
        NBM in [-1, 1]. Above 0: more neighbours lie nearer the pair's first word; 0: as many of
        each.

    Examples
    --------
    >>> neighbourhood_bias([[1], [-1], [1]], [[0, 2], [0, 1]]).tolist()
    [[1.0], [0.0]]
    """
    positive = np.asarray(signs, dtype=np.float64) > 0
    return 2 * _share(positive[np.asarray(neighbours, dtype=np.intp)]) - 1


def _share(hits: NDArray[np.bool_]) -> Floats:
    return np.asarray(hits.mean(axis=1))


def proximity_bias(beta: ArrayLike, threshold: float = 0.05) -> Floats:
    r"""Compute ProxBias eta(w) (Kumar et al., 2020).

    eta(w) = share of the neighbours n of w with indirect bias beta(w, n) > threshold

    Parameters
    ----------
    beta : array of shape (words, k)
        Indirect bias of every word with its k nearest neighbours.
    threshold : float, default=0.05
        Indirect bias above which a neighbour counts.

    Returns
    -------
    array of shape (words,)
        eta in [0, 1]; 0: no neighbour is near because of gender.

    Examples
    --------
    >>> proximity_bias([[0.1, 0.0]]).tolist()
    [0.5]
    """
    return _share(np.asarray(beta, dtype=np.float64) > threshold)


def illicit_proximity(
    beta: ArrayLike, neighbours: list[list[str]], names: list[str], threshold: float = 0.05
) -> float:
    r"""Compute GIPE, the Gender-based Illicit Proximity Estimate (Kumar et al., 2020).

    sum_i gamma_i eta_i / sum_i gamma_i,   eta as in :func:`proximity_bias`
    gamma_i = 1 + |{j : i a neighbour of j, beta(j, i) > threshold}| / |{j : i a neighbour of j}|

    A word that is no neighbour of another has gamma 1, so words that are themselves illicit
    neighbours weigh up to double.

    Parameters
    ----------
    beta : array of shape (words, k)
        Indirect bias of every word with its k nearest neighbours.
    neighbours : list of list of str
        Names of the same neighbours.
    names : list of str
        Names of the words.
    threshold : float, default=0.05
        Indirect bias above which a neighbour counts.

    Returns
    -------
    float
        GIPE in [0, 1]; 0: unbiased. It has no sign.
    """
    values = np.asarray(beta, dtype=np.float64)
    index = {name: i for i, name in enumerate(dict.fromkeys(names))}
    indices = np.array([[index.get(name, -1) for name in row] for row in neighbours])
    n_edges = np.bincount(indices[indices >= 0], minlength=len(index))
    n_illicit = np.bincount(indices[(indices >= 0) & (values > threshold)], minlength=len(index))
    gamma: Floats = 1 + n_illicit / np.maximum(n_edges, 1)
    weights = gamma[[index[name] for name in names]]  # names repeat in a resample
    return float(weights @ proximity_bias(values, threshold) / weights.sum())


@choice
class _Neighbours(Metric):
    """Base of metrics of nearest neighbours: their number and the vocabulary searched."""

    version: ClassVar[int] = 5

    neighbours: Annotated[Count, doc("number of nearest neighbours of each word")] = 100
    vocabulary: VocabularySize = 50_000

    def _search(self, words: ResolvedQuery) -> tuple[FrequentWords, NDArray[np.intp]]:
        frequent = frequent_words(words.vectors, self.vocabulary, words.excluded_words)
        measured = words["words"]
        return frequent, frequent.neighbours(measured.matrix, self.neighbours, names=measured.words)


@choice
class _AlongDirection(_Neighbours):
    """Base of metrics that compare neighbours with one direction for all base pairs."""

    along: DirectionKind = "first"

    def _axis(self, words: ResolvedQuery) -> Floats:
        return direction(words["pairs"].matrix, self.along)

    def _male_shares(self, words: ResolvedQuery) -> Floats:
        """Compute each word's share of neighbours on the side of the pairs' second words."""
        frequent, neighbours = self._search(words)
        side: Floats32 = frequent.matrix @ self._axis(words).astype(np.float32)
        return _share((side < 0)[neighbours])


@choice
class NeighbourhoodBias(_Neighbours):
    """NBM, the mean over words and base pairs; single scores: mean over the pairs, by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="nbm",
        title="Neighbourhood Bias Metric",
        formula=(
            "mean over words and pairs (a, b) of (f - m) / (f + m),  f of the 100 nearest neutral"
            " words lie nearer a, m nearer b"
        ),
        sign="> 0: more neighbours lie nearer the first words of the pairs",
        range=(-1, 1),
        source="Wang et al. (2020); Zhang et al. (2020)",
        roles=_NEIGHBOUR_ROLES,
        asks=("base_pairs",),
        default="100 neighbours among the neutral words of the 50,000 most frequent ones.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (SNEYD,)
    items: ClassVar[str] = "words"

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Compute ``neighbourhood_bias`` of every word and pair, (words, pairs)."""
        frequent, neighbours = self._search(words)
        pairs = words["pairs"].matrix
        signs: Floats32 = frequent.matrix @ (pairs[:, 0] - pairs[:, 1]).T.astype(np.float32)
        return neighbourhood_bias(signs, neighbours)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over words and pairs."""
        return mean_score(words["words"].words, self.by_pair(words))


@choice
class MaleNeighbours(_AlongDirection):
    """PMN: share of neighbours on the side of the pairs' second words; single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="male_neighbours",
        title="Share of male neighbours",
        formula="mean over words of the share of their 100 nearest neutral words n with n . g < 0",
        sign="> 0.5: most neighbours lie on the side of the second words of the pairs",
        range=(0, 1),
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=_NEIGHBOUR_ROLES,
        asks=("professions_she_he",),
        falls=True,
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over the words."""
        return mean_score(words["words"].words, self._male_shares(words))


@choice
class ProfessionCorrelation(_AlongDirection):
    """Correlation of direct bias with the share of male neighbours; single scores: that share."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="profession_correlation",
        title="Correlation of direct bias and male neighbours, Pearson r",
        formula="r over words of (-cos(w, g), share of male neighbours)",
        sign="> 0: words towards the second words of the pairs have more male neighbours",
        range=(-1, 1),
        source="Gonen & Goldberg (2019)",
        roles=_NEIGHBOUR_ROLES,
        fewest={"words": 3},
        asks=("professions_she_he",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute Pearson's r with its two-sided p under normality."""
        measured = words["words"]
        male_component = -(measured.matrix @ self._axis(words).astype(np.float32))
        return pearson_correlation(male_component, self._male_shares(words), measured.words)


@choice
class ProximityBias(_AlongDirection):
    """ProxBias; single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="prox_bias",
        title="Gender-based proximity bias",
        formula=(
            "mean over words of the share of their 100 nearest neutral words n with indirect bias"
            " beta(w, n) > 0.05"
        ),
        sign="larger: more neighbours are near because of the direction; no sign",
        range=(0, 1),
        source="Kumar et al. (2020)",
        roles=_NEIGHBOUR_ROLES,
        asks=("professions_she_he",),
    )

    threshold: Annotated[float, doc("indirect bias above which a neighbour counts")] = 0.05

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over the words."""
        betas, _ = self._betas(words)
        return mean_score(words["words"].words, proximity_bias(betas, self.threshold))

    def _betas(self, words: ResolvedQuery) -> tuple[Floats, list[list[str]]]:
        """Return the indirect bias of every word with its neighbours, and the neighbours' names."""
        frequent, neighbours = self._search(words)
        axis, k = self._axis(words), neighbours.shape[1]
        betas = [
            indirect_bias(np.tile(word, (k, 1)), frequent.matrix[indices], axis)
            for word, indices in zip([*words["words"].matrix], [*neighbours], strict=True)
        ]
        names = [[frequent.words[int(index)] for index in indices] for indices in [*neighbours]]
        return np.array(betas), names


@choice
class IllicitProximity(ProximityBias):
    """GIPE; single scores: share of illicit neighbours, by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="gipe",
        title="Gender-based Illicit Proximity Estimate",
        formula=(
            "sum_i gamma_i eta_i / sum_i gamma_i,  eta: as prox_bias,  gamma_i = 1 + share of the"
            " words' edges to i that are illicit"
        ),
        sign="larger: more neighbours are near because of the direction; no sign",
        range=(0, 1),
        source="Kumar et al. (2020)",
        roles=_NEIGHBOUR_ROLES,
        fewest={"words": 2},
        asks=("professions_she_he",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the weighted mean over the words."""
        betas, neighbours = self._betas(words)
        names = words["words"].words
        value = illicit_proximity(betas, neighbours, list(names), self.threshold)
        return MetricResult(
            value, single_scores=by_name(names, proximity_bias(betas, self.threshold))
        )
