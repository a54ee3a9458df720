"""Bias among nearest neighbours, which outlasts a removed direction (Gonen & Goldberg, 2019)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import choice
from files.choice import Count
from intrinsic.directions import Along, direction
from intrinsic.frequent_words import FrequentWords, Searched, Singles, find_frequent
from intrinsic.metric import SNEYD, About, Convention, FoundQuery, Metric
from intrinsic.metrics.association import correlation
from intrinsic.metrics.direct import indirect_bias
from intrinsic.score import Measured, by_name, mean_score

Floats = NDArray[np.float64]

ROLES = {"words": "words", "pairs": "pairs", "excluded?": "excluded"}


def neighbourhood_bias(signs: ArrayLike, neighbours: ArrayLike) -> Floats:
    r"""NBM (Wang et al., 2020; Zhang et al., 2020) of every word under every base pair.

    NBM(w) = (f - m) / (f + m),  f of the k nearest neighbours of w have a positive sign and m a
    negative one or none

    > 0: more neighbours lie nearer the pair's first word; range [-1, 1]; 0: as many of each.
    Shapes: signs (vocabulary, pairs), neighbours (words, k) as places in the vocabulary -> (words,
    pairs).
    """
    positive = np.asarray(signs, dtype=np.float64) > 0
    return 2 * _share(positive[np.asarray(neighbours, dtype=np.intp)]) - 1


def _share(hits: NDArray[np.bool_]) -> Floats:
    return np.asarray(hits.mean(axis=1))


def proximity_bias(beta: ArrayLike, threshold: float = 0.05) -> Floats:
    r"""ProxBias eta(w) (Kumar et al., 2020): neighbours' share with indirect bias > threshold.

    Range [0, 1]; 0: no neighbour owes its nearness to gender. Shapes: beta (words, k) -> (words,).
    """
    return _share(np.asarray(beta, dtype=np.float64) > threshold)


def illicit_proximity(
    beta: ArrayLike, neighbours: list[list[str]], names: list[str], threshold: float = 0.05
) -> float:
    r"""GIPE, the Gender-based Illicit Proximity Estimate (Kumar et al., 2020).

    sum_i gamma_i eta_i / sum_i gamma_i
    gamma_i = 1 + |{j : i a neighbour of j, beta(j, i) > threshold}| / |{j : i a neighbour of j}|

    eta as in ``proximity_bias``; j runs over the words, and a word that is no neighbour of another
    has gamma 1. So words that are themselves illicit neighbours weigh up to double. Range [0, 1];
    0: unbiased. Shapes: beta (words, k), neighbours: the same by name.
    """
    values = np.asarray(beta, dtype=np.float64)
    place = {name: i for i, name in enumerate(names)}
    places = np.array([[place.get(name, -1) for name in found] for found in neighbours])
    edges = np.bincount(places[places >= 0], minlength=len(names))
    illicit = np.bincount(places[(places >= 0) & (values > threshold)], minlength=len(names))
    weights: Floats = 1 + illicit / np.maximum(edges, 1)
    return float(weights @ proximity_bias(values, threshold) / weights.sum())


@choice
class _Neighbours(Metric):
    """What the metrics of neighbours share: how many, and in how much of the vocabulary."""

    version: ClassVar[int] = 4

    neighbours: Annotated[Count, doc("number of nearest neighbours of each word")] = 100
    vocabulary: Searched = 50_000

    def _search(self, words: FoundQuery) -> tuple[FrequentWords, NDArray[np.intp]]:
        searched = find_frequent(words.vectors, self.vocabulary, words.left_out)
        found = words["words"]
        return searched, searched.neighbours(found.matrix, self.neighbours, names=found.words)


@choice
class _AlongDirection(_Neighbours):
    """Those whose neighbours are held against one direction for all base pairs."""

    along: Along = "first"

    def _axis(self, words: FoundQuery) -> Floats:
        return direction(words["pairs"].matrix, self.along)

    def _males(self, words: FoundQuery) -> Floats:
        """The share of every word's neighbours on the side of the pairs' second words."""
        searched, near = self._search(words)
        side: Singles = searched.matrix @ self._axis(words).astype(np.float32)
        return _share((side < 0)[near])


@choice
class NeighbourhoodBias(_Neighbours):
    """NBM, the mean over words and base pairs; ``each`` has every word's mean over the pairs."""

    about: ClassVar[About] = About(
        name="nbm",
        title="Neighbourhood Bias Metric",
        formula=(
            "mean over words and pairs (a, b) of (f - m) / (f + m),  f of the 100 nearest neutral"
            " words lie nearer a, m nearer b"
        ),
        sign="> 0: more neighbours lie nearer the first words of the pairs",
        range=(-1, 1),
        source="Wang et al. (2020); Zhang et al. (2020)",
        roles=ROLES,
        asks=("base_pairs",),
        default="100 neighbours among the neutral words of the 50,000 most frequent ones.",
    )
    others: ClassVar[tuple[Convention, ...]] = (SNEYD,)
    items: ClassVar[str] = "words"

    def by_pair(self, words: FoundQuery) -> Floats:
        """``neighbourhood_bias`` of every word and pair. Shape (words, pairs)."""
        searched, near = self._search(words)
        pairs = words["pairs"].matrix
        signs: Singles = searched.matrix @ (pairs[:, 0] - pairs[:, 1]).T.astype(np.float32)
        return neighbourhood_bias(signs, near)

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over words and pairs."""
        return mean_score(words["words"].words, self.by_pair(words))


@choice
class MaleNeighbours(_AlongDirection):
    """PMN: the share of neighbours on the side of the pairs' second words; ``each``: by word."""

    about: ClassVar[About] = About(
        name="male_neighbours",
        title="Share of male neighbours",
        formula="mean over words of the share of their 100 nearest neutral words n with n . g < 0",
        sign="> 0.5: most neighbours lie on the side of the second words of the pairs",
        range=(0, 1),
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        asks=("professions_she_he",),
        falls=True,
    )

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over the words."""
        return mean_score(words["words"].words, self._males(words))


@choice
class ProfessionCorrelation(_AlongDirection):
    """Whether words along the direction have neighbours of its side; ``each``: share of males."""

    about: ClassVar[About] = About(
        name="profession_correlation",
        title="Correlation of direct bias and male neighbours, Pearson r",
        formula="r over words of (-cos(w, g), share of male neighbours)",
        sign="> 0: words that lie towards the second words of the pairs have male neighbours",
        range=(-1, 1),
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        fewest={"words": 3},
        asks=("professions_she_he",),
    )

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Pearson's r with its two-sided p under normality."""
        found = words["words"]
        towards = -(found.matrix @ self._axis(words).astype(np.float32))
        return correlation(towards, self._males(words), found.words)


@choice
class ProximityBias(_AlongDirection):
    """ProxBias; ``each`` has every word's share."""

    about: ClassVar[About] = About(
        name="prox_bias",
        title="Gender-based proximity bias",
        formula=(
            "mean over words of the share of their 100 nearest neutral words n with indirect bias"
            " beta(w, n) > 0.05"
        ),
        sign="larger: more neighbours are near because of the direction; no sign",
        range=(0, 1),
        source="Kumar et al. (2020)",
        roles=ROLES,
        asks=("professions_she_he",),
    )

    threshold: Annotated[float, doc("indirect bias above which a neighbour counts")] = 0.05

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over the words."""
        betas, _ = self._betas(words)
        return mean_score(words["words"].words, proximity_bias(betas, self.threshold))

    def _betas(self, words: FoundQuery) -> tuple[Floats, list[list[str]]]:
        """The indirect bias of every word with every neighbour, and the neighbours' names."""
        searched, near = self._search(words)
        axis, k = self._axis(words), near.shape[1]
        betas = [
            indirect_bias(np.tile(word, (k, 1)), searched.matrix[places], axis)
            for word, places in zip([*words["words"].matrix], [*near], strict=True)
        ]
        names = [[searched.words[int(place)] for place in places] for places in [*near]]
        return np.array(betas), names


@choice
class IllicitProximity(ProximityBias):
    """GIPE; ``each`` has every word's share of illicit neighbours."""

    about: ClassVar[About] = About(
        name="gipe",
        title="Gender-based Illicit Proximity Estimate",
        formula=(
            "sum_i gamma_i eta_i / sum_i gamma_i,  eta: as prox_bias,  gamma_i = 1 + share of the"
            " words' edges to i that are illicit"
        ),
        sign="larger: more neighbours are near because of the direction; no sign",
        range=(0, 1),
        source="Kumar et al. (2020)",
        roles=ROLES,
        fewest={"words": 2},
        asks=("professions_she_he",),
    )

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The weighted mean over the words."""
        betas, names = self._betas(words)
        found = words["words"].words
        value = illicit_proximity(betas, names, list(found), self.threshold)
        return Measured(value, each=by_name(found, proximity_bias(betas, self.threshold)))
