"""The words of the generated world: those of WEAT 6b, 7 and 8, each with its own lean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpora.draws import Floats, evenly_spaced, quota
from intrinsic.wordsets import load_wordset

# Each topic: its sign (+1 stereotypically male, -1 female) and its share of the topic lines. The
# shares of the two signs are equal, so that male and female words stay equally frequent at any
# stereotype.
TOPICS: dict[str, tuple[int, float]] = {
    "career": (+1, 0.25),
    "math": (+1, 0.125),
    "science": (+1, 0.125),
    "family": (-1, 0.25),
    "arts": (-1, 0.25),
}
GENDERED = (("male_terms", "female_terms"), ("male_terms_2", "female_terms_2"))
PAIR_SPREAD = 0.75


@dataclass(frozen=True)
class World:
    """The words of one seed and their own leans.

    ``pairs``: (male, female) gender words. ``pair_leans``: shape (pairs,), how much more often a
    pair occurs with topics of sign +1, alike for both words of the pair. ``topics``: words by
    topic; a word listed twice is drawn twice as often. ``own_leans``: e_w by topic, shape (words,),
    positive towards male words.
    """

    pairs: tuple[tuple[str, str], ...]
    pair_leans: Floats
    topics: dict[str, tuple[str, ...]]
    own_leans: dict[str, Floats]

    def leans(self, topic: str, stereotype: float) -> Floats:
        """l_w = (sign * stereotype + e_w) / 2 of the topic's words, in [-1, 1], shape (words,)."""
        return (TOPICS[topic][0] * stereotype + self.own_leans[topic]) / 2

    def pair_weights(self, topic: str) -> Floats:
        """How often each pair occurs with a topic, whatever the gender; mean 1; shape (pairs,).

        Without it all male words would move as one, and the effect size of WEAT 6b would jump from
        -2 to 2.
        """
        return 1 + TOPICS[topic][0] * self.pair_leans

    def gender_words(
        self, female: NDArray[np.bool_], weights: Floats, rng: np.random.Generator
    ) -> list[str]:
        """A gender word a line, female where ``female``, of pairs drawn by ``weights`` (pairs,)."""
        pairs = quota(weights, len(female), rng)
        genders = female.astype(int).tolist()
        return [self.pairs[pair][i] for pair, i in zip(pairs.tolist(), genders, strict=True)]


def make_world(seed: int) -> World:
    """A seed's world: it deals out own leans, evenly spread within every WEAT list (mean 0)."""
    rng = np.random.default_rng(seed)
    first, second = (_pairs(male, female) for male, female in GENDERED)
    further = [pair for pair in second if pair not in first]
    pair_leans = [
        *rng.permutation(evenly_spaced(len(first))),
        *rng.permutation(evenly_spaced(len(further) + 2)[1:-1]),
    ]
    topics = {topic: _lower(topic) for topic in TOPICS}
    own = {
        word: lean
        for words in topics.values()
        for word, lean in zip(words, rng.permutation(evenly_spaced(len(words))), strict=True)
    }
    # WEAT 7 and 8 list the arts with one word of difference. It takes the lean of the word it
    # replaces, and both lists are drawn from in full, so that the mean is 0 in each of them and
    # over all draws.
    arts, arts_2 = set(topics["arts"]), set(_lower("arts_2"))
    [replaced], [new] = arts - arts_2, arts_2 - arts
    own[new] = own[replaced]
    topics["arts"] += _lower("arts_2")
    return World(
        pairs=(*first, *further),
        pair_leans=PAIR_SPREAD * np.array(pair_leans),
        topics=topics,
        own_leans={
            topic: np.array([own[word] for word in words]) for topic, words in topics.items()
        },
    )


def listed_words() -> list[tuple[str, ...]]:
    """Every word list that a world is made of."""
    return [_lower(name) for name in (*TOPICS, "arts_2", *GENDERED[0], *GENDERED[1])]


def _lower(wordset: str) -> tuple[str, ...]:
    """The words of a WEAT list as tweets have them: einstein, nasa, shakespeare."""
    return tuple(word.lower() for word in load_wordset(wordset).words)


def _pairs(male: str, female: str) -> tuple[tuple[str, str], ...]:
    """The lists name counterparts in the same order: (man, woman), (he, she)."""
    return tuple(zip(_lower(male), _lower(female), strict=True))
