"""What a synthetic world speaks of: two groups and topics, each word with its own lean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corpora.draws import Floats, draw_quota, space_evenly
from corpora.english import AT_HOME, AT_WORK, ENGLISH
from corpora.spanish import BAD_DAYS, GOOD_DAYS, SPANISH
from intrinsic.wordsets import load_wordset

if TYPE_CHECKING:
    from corpora.grammar import Grammar, Words

PAIR_SPREAD = 0.75


@dataclass(frozen=True)
class Topic:
    """Words that stereotype gives to the first group (``sign`` +1) or to the second (-1).

    ``share``: of the lines about topics. ``lists``: word sets; a second one differs from the first
    by one word. ``scene``: what there is where the topic is spoken of. It joins the words of the
    topic and those of the group that occurs with them: that is how a group's word comes to be
    nearer one topic, where groups are the targets of a test.
    """

    sign: int
    share: float
    lists: tuple[str, ...]
    scene: Words = ()


@dataclass(frozen=True)
class Setting:
    """Two groups, the word sets that name them, and topics whose shares are equal for both signs,
    so that the groups' words stay equally frequent at any stereotype.
    """

    language: str
    grammar: Grammar
    groups: tuple[str, str]
    terms: tuple[tuple[str, str], ...]
    topics: Mapping[str, Topic]


GOOD = Topic(+1, 0.25, ("agradable_es",), GOOD_DAYS)
BAD = Topic(-1, 0.25, ("desagradable_es",), BAD_DAYS)
SETTINGS = {
    "en_gender": Setting(
        "en",
        ENGLISH,
        ("male", "female"),
        (("male_terms", "female_terms"), ("male_terms_2", "female_terms_2")),
        {
            "career": Topic(+1, 0.25, ("career",), AT_WORK),
            "math": Topic(+1, 0.125, ("math",)),
            "science": Topic(+1, 0.125, ("science",)),
            "family": Topic(-1, 0.25, ("family",), AT_HOME),
            "arts": Topic(-1, 0.25, ("arts", "arts_2")),
        },
    ),
    "es_gender": Setting(
        "es",
        SPANISH,
        ("male", "female"),
        (("masculino_es", "femenino_es"),),
        {
            "science": Topic(+1, 0.25, ("ciencia_es",)),
            "arts": Topic(-1, 0.25, ("arte_es",)),
            "pleasant": GOOD,
            "unpleasant": BAD,
        },
    ),
    "es_migrants": Setting(
        "es",
        SPANISH,
        ("local", "migrant"),
        (("nombres_espanoles_es", "nombres_migrantes_es"),),
        {"pleasant": GOOD, "unpleasant": BAD},
    ),
}


@dataclass(frozen=True)
class World:
    """The words of one seed and their own leans.

    ``pairs``: a word of the first group and one of the second. ``pair_leans``: shape (pairs,), how
    much more often a pair occurs with topics of sign +1, alike for both words of the pair.
    ``topics``: words by topic; a word listed twice is drawn twice as often. ``own_leans``: e_w by
    topic, shape (words,), positive towards the first group.
    """

    setting: Setting
    pairs: tuple[tuple[str, str], ...]
    pair_leans: Floats
    topics: dict[str, Words]
    own_leans: dict[str, Floats]

    def leans(self, topic: str, stereotype: float) -> Floats:
        """l_w = (sign * stereotype + e_w) / 2 of the topic's words, in [-1, 1], shape (words,)."""
        return (self.setting.topics[topic].sign * stereotype + self.own_leans[topic]) / 2

    def pair_weights(self, topic: str) -> Floats:
        """How often each pair occurs with a topic, whatever the group; mean 1; shape (pairs,).

        Without it all words of a group would move as one, and the effect size of a test with groups
        as targets would jump from -2 to 2.
        """
        return 1 + self.setting.topics[topic].sign * self.pair_leans

    def group_words(
        self, second: NDArray[np.bool_], weights: Floats, rng: np.random.Generator
    ) -> list[str]:
        """A word of the first group a line, of the second where ``second``, as written in a
        sentence; of pairs drawn by ``weights`` (pairs,).
        """
        pairs = draw_quota(weights, len(second), rng)
        phrase = self.setting.grammar.phrase
        return [
            phrase(self.pairs[pair][i])
            for pair, i in zip(pairs.tolist(), second.astype(int).tolist(), strict=True)
        ]

    def topic_phrases(self, topic: str) -> Words:
        """The words of a topic as written in a sentence."""
        return tuple(map(self.setting.grammar.phrase, self.topics[topic]))


def make_world(setting: Setting, seed: int) -> World:
    """A seed's world: it deals out own leans, evenly spread within every word set (mean 0)."""
    rng = np.random.default_rng(seed)
    first = _pairs(*setting.terms[0])
    further = [pair for terms in setting.terms[1:] for pair in _pairs(*terms) if pair not in first]
    # Pairs that share a word are as many places apart, so that every word has one lean
    steps = gcd(*(len(_lower(name)) for name in setting.terms[0]))
    pair_leans = [
        *np.resize(rng.permutation(space_evenly(steps)), len(first)),
        *rng.permutation(space_evenly(len(further) + 2)[1:-1]),
    ]
    words = {name: _lower(topic.lists[0]) for name, topic in setting.topics.items()}
    own = {
        word: lean
        for each in words.values()
        for word, lean in zip(each, rng.permutation(space_evenly(len(each))), strict=True)
    }
    # Tests may list a topic with one word of difference. It takes the lean of the word it replaces,
    # and all lists are drawn from in full, so that the mean is 0 in each of them and over all.
    for name, topic in setting.topics.items():
        for other in map(_lower, topic.lists[1:]):
            [replaced], [new] = {*words[name]} - {*other}, {*other} - {*words[name]}
            own[new] = own[replaced]
            words[name] += other
    return World(
        setting=setting,
        pairs=(*first, *further),
        pair_leans=PAIR_SPREAD * np.array(pair_leans),
        topics=words,
        own_leans={name: np.array([own[word] for word in each]) for name, each in words.items()},
    )


def list_words(setting: Setting) -> list[Words]:
    """The words of every word set that a world of this setting is made of."""
    of_groups = [name for terms in setting.terms for name in terms]
    return [*map(_lower, [*of_groups, *(n for t in setting.topics.values() for n in t.lists)])]


def _lower(wordset: str) -> Words:
    """The words of a word set as tweets have them: einstein, nasa, shakespeare."""
    return tuple(word.lower() for word in load_wordset(wordset).words)


def _pairs(first: str, second: str) -> tuple[tuple[str, str], ...]:
    """Counterparts where the sets name them in the same order, (man, woman), (he, she); of sets of
    different sizes as many pairs as it takes for every word of a set to be in equally many.
    """
    sides = _lower(first), _lower(second)
    size = lcm(*map(len, sides))
    return tuple(zip(*(islice(cycle(side), size) for side in sides), strict=True))
