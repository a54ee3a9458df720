"""Bias among a word's nearest neighbours, where it stays when words are moved off the gender
direction (Gonen & Goldberg, 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError
from intrinsic.directions import DIRECTIONS, direction
from intrinsic.metric import About, Convention, Measured, Metric, Words
from intrinsic.metrics.association import correlation
from intrinsic.metrics.direct import SNEYD, indirect_bias
from intrinsic.vocabulary import Vocabulary, frequent

Floats = NDArray[np.float64]

ROLES = {"words": "words", "pairs": "base pairs", "excluded?": "words left out of the neighbours"}


def neighbourhood_bias(signs: ArrayLike, neighbours: ArrayLike) -> Floats:
    r"""The Neighbourhood Bias Metric (Wang et al., 2020; Zhang et al., 2020) of every word under
    every base pair.

    NBM(w) = (f - m) / (f + m),  f of the k nearest neighbours of w have a positive sign and m a
    negative one or none

    > 0: more neighbours lie nearer the pair's first word; range [-1, 1]; 0: as many of each.
    Shapes: signs (vocabulary, pairs), neighbours (words, k) as places in the vocabulary -> (words,
    pairs).
    """
    first = (np.asarray(signs) > 0)[np.asarray(neighbours)].mean(axis=1)
    return np.asarray(2 * first - 1)


def proximity_bias(beta: ArrayLike, threshold: float = 0.05) -> Floats:
    r"""ProxBias (Kumar et al., 2020): eta(w), the share of the neighbours of w whose indirect bias
    beta(w, n) exceeds the threshold.

    Range [0, 1]; 0: no neighbour owes its nearness to gender. Shapes: beta (words, k) -> (words,).
    """
    return np.asarray((np.asarray(beta) > threshold).mean(axis=1))


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
    edges, illicit = np.zeros(len(names)), np.zeros(len(names))
    for row, found in zip(values, neighbours, strict=True):
        for value, name in zip(row, found, strict=True):
            if name in place:
                edges[place[name]] += 1
                illicit[place[name]] += value > threshold
    weights = 1 + np.divide(illicit, edges, out=np.zeros(len(names)), where=edges > 0)
    return float(weights @ proximity_bias(values, threshold) / weights.sum())


@dataclass(frozen=True)
class _Neighbours(Metric):
    """What the metrics of neighbours share: how many, and in how much of the vocabulary."""

    options: ClassVar[dict[str, Any]] = {"neighbours": 100, "vocabulary": 50_000, "along": "first"}
    allowed: ClassVar[dict[str, Any]] = {"along": DIRECTIONS}
    neighbours: int | None = None
    vocabulary: int | None = None
    along: str | None = None

    def _search(self, words: Words, rules: SimpleNamespace) -> tuple[Vocabulary, NDArray[np.intp]]:
        vocabulary = frequent(words, rules.vocabulary)
        found = words["words"]
        return vocabulary, vocabulary.neighbours(found.matrix, rules.neighbours, names=found.words)

    def _axis(self, words: Words, rules: SimpleNamespace) -> NDArray[np.float32]:
        return direction(words["pairs"].matrix, rules.along).astype(np.float32)


@dataclass(frozen=True)
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
        low=-1,
        high=1,
        unbiased=0,
        source="Wang et al. (2020); Zhang et al. (2020)",
        roles=ROLES,
        asks=("base_pairs",),
    )
    default_source: ClassVar[str] = (
        "100 neighbours among the neutral words of the 50,000 most frequent ones."
    )
    others: ClassVar[tuple[Convention, ...]] = (SNEYD,)

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The mean over words and pairs."""
        vocabulary, near = self._search(words, rules)
        pairs = words["pairs"].matrix
        scores = neighbourhood_bias(
            vocabulary.matrix @ (pairs[:, 0] - pairs[:, 1]).T.astype(np.float32), near
        )
        return Measured(
            float(scores.mean()),
            each=dict(zip(words["words"].words, scores.mean(axis=1).tolist(), strict=True)),
        )


@dataclass(frozen=True)
class MaleNeighbours(_Neighbours):
    """PMN: the share of male neighbours, on the side of the pairs' second words; ``each`` has every
    word's.
    """

    about: ClassVar[About] = About(
        name="male_neighbours",
        title="Share of male neighbours",
        formula="mean over words of the share of their 100 nearest neutral words n with n . g < 0",
        sign="> 0.5: most neighbours lie on the side of the second words of the pairs",
        low=0,
        high=1,
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        asks=("professions_she_he",),
    )

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The mean over the words."""
        vocabulary, near = self._search(words, rules)
        male = ((vocabulary.matrix @ self._axis(words, rules)) < 0)[near].mean(axis=1)
        return Measured(
            float(male.mean()), each=dict(zip(words["words"].words, male.tolist(), strict=True))
        )


@dataclass(frozen=True)
class ProfessionCorrelation(_Neighbours):
    """Whether words with more of the direction have more neighbours of its side; ``each`` has every
    word's share of male neighbours.
    """

    about: ClassVar[About] = About(
        name="profession_correlation",
        title="Correlation of direct bias and male neighbours, Pearson r",
        formula="r over words of (-cos(w, g), share of male neighbours)",
        sign="> 0: words that lie towards the second words of the pairs have male neighbours",
        low=-1,
        high=1,
        unbiased=0,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        fewest={"words": 3},
        asks=("professions_she_he",),
    )

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """Pearson's r with its two-sided p under normality."""
        vocabulary, near = self._search(words, rules)
        axis = self._axis(words, rules)
        male = ((vocabulary.matrix @ axis) < 0)[near].mean(axis=1)
        return correlation(-(words["words"].matrix @ axis), male, words["words"].words)


@dataclass(frozen=True)
class ProximityBias(_Neighbours):
    """ProxBias; ``each`` has every word's share."""

    about: ClassVar[About] = About(
        name="prox_bias",
        title="Gender-based proximity bias",
        formula=(
            "mean over words of the share of their 100 nearest neutral words n with indirect bias"
            " beta(w, n) > 0.05"
        ),
        sign="larger: more neighbours are near because of the direction; no sign",
        low=0,
        high=1,
        unbiased=0,
        source="Kumar et al. (2020)",
        roles=ROLES,
        asks=("professions_she_he",),
    )
    options: ClassVar[dict[str, Any]] = {**_Neighbours.options, "threshold": 0.05}
    threshold: float | None = None

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The mean over the words."""
        each = proximity_bias(self._betas(words, rules)[0], rules.threshold)
        return Measured(
            float(each.mean()), each=dict(zip(words["words"].words, each.tolist(), strict=True))
        )

    def _betas(self, words: Words, rules: SimpleNamespace) -> tuple[Floats, list[list[str]]]:
        """The indirect bias of every word with every neighbour, and the neighbours' names."""
        vocabulary, near = self._search(words, rules)
        axis = direction(words["pairs"].matrix, rules.along)
        k = near.shape[1]
        betas = [
            indirect_bias(np.broadcast_to(word, (k, word.size)), vocabulary.matrix[places], axis)
            for word, places in zip(words["words"].matrix, near, strict=True)
        ]
        return np.array(betas), [
            [vocabulary.words[place] for place in places] for places in near.tolist()
        ]


@dataclass(frozen=True)
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
        low=0,
        high=1,
        unbiased=0,
        source="Kumar et al. (2020)",
        roles=ROLES,
        fewest={"words": 2},
        asks=("professions_she_he",),
    )
    others: ClassVar[tuple[Convention, ...]] = ()

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The weighted mean over the words."""
        betas, names = self._betas(words, rules)
        value = illicit_proximity(betas, names, list(words["words"].words), rules.threshold)
        each = proximity_bias(betas, rules.threshold).tolist()
        if math.isnan(value):
            raise InputError(
                "an indirect bias is 0 / 0, because a word and a neighbour are orthogonal"
            )
        return Measured(value, each=dict(zip(words["words"].words, each, strict=True)))
