"""Vocabulary of a synthetic world: two groups and topics, each word with its own lean; and draws by
shuffled quotas, so that planted proportions hold exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import gcd, lcm
from string import Formatter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasbridge.corpora.grammar import AT_HOME, AT_WORK, BAD_DAYS, ENGLISH, GOOD_DAYS, SPANISH
from biasbridge.intrinsic.words import load_wordset

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Grammar, Words
    from biasbridge.stats.arrays import Floats

T = TypeVar("T")
_PAIR_SPREAD = 0.75


def draw_quota(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw ``size`` indices into weights, in random order, each in proportion, up to rounding."""
    edges = np.cumsum(np.asarray(weights, dtype=float))
    points = (np.arange(size) + 0.5) / size * edges[-1] if size else np.empty(0)
    return rng.permutation(np.searchsorted(edges, points))


def apportion(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Divide ``size`` by weights: the counts of ``draw_quota``. Shape (weights,)."""
    return np.bincount(draw_quota(weights, size, rng), minlength=len(weights))


def split_sizes(
    shares: Mapping[str, float], size: int, seed: int
) -> Iterator[tuple[int, str, int]]:
    """Yield number, name and size of each split of ``size`` items."""
    sizes = apportion([*shares.values()], size, np.random.default_rng(seed))
    yield from zip(range(len(shares)), shares, sizes.tolist(), strict=True)


def _space_evenly(size: int) -> Floats:
    """Return ``size`` values evenly spaced over [-1, 1], with mean 0. Shape (size,)."""
    return np.linspace(-1, 1, size)


def draw_share(rate: float, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw booleans in random order, ``rate * size`` of them true, rounded. Shape (size,)."""
    return draw_quota([1 - rate, rate], size, rng).astype(bool)


def pick(words: Sequence[T], size: int, rng: np.random.Generator) -> list[T]:
    """Draw ``size`` words in random order, all equally often, up to rounding."""
    return [words[i] for i in draw_quota(np.ones(len(words)), size, rng)]


def fill(
    templates: Sequence[str],
    slots: Mapping[str, Sequence[object]],
    fillers: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
) -> list[str]:
    """Fill each template from ``slots`` (one word per template), else by draws from ``fillers``."""
    names = {name for template in set(templates) for name in _slots(template)} - {*slots}
    draws = {name: pick(fillers[name], len(templates), rng) for name in fillers if name in names}
    columns = {**slots, **draws}
    return [
        template.format(**{name: column[i] for name, column in columns.items()})
        for i, template in enumerate(templates)
    ]


@dataclass(frozen=True)
class Topic:
    """Words that the stereotype associates with the first group (``sign`` +1) or the second (-1).

    ``share``: share of the lines about topics. ``lists``: word sets; a second set differs from the
    first by one word. ``scene``: nouns that occur with the topic. They also occur with the group
    words in its lines, which brings these nearer the topic in tests with groups as targets.
    """

    sign: int
    share: float
    lists: tuple[str, ...]
    scene: Words = ()


@dataclass(frozen=True)
class Setting:
    """Two groups, the word sets that name them, and topics.

    Topic shares are equal for both signs: group words are equally frequent at any stereotype.
    """

    language: str
    grammar: Grammar
    groups: tuple[str, str]
    terms: tuple[tuple[str, str], ...]
    topics: Mapping[str, Topic]


_GOOD = Topic(+1, 0.25, ("agradable_es",), GOOD_DAYS)


_BAD = Topic(-1, 0.25, ("desagradable_es",), BAD_DAYS)


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
            "pleasant": _GOOD,
            "unpleasant": _BAD,
        },
    ),
    "es_migrants": Setting(
        "es",
        SPANISH,
        ("local", "migrant"),
        (("nombres_espanoles_es", "nombres_migrantes_es"),),
        {"pleasant": _GOOD, "unpleasant": _BAD},
    ),
}


@dataclass(frozen=True)
class World:
    """The words of one seed and their leans.

    ``pairs``: a word of the first group and one of the second. ``pair_leans``: shape (pairs,), how
    much more often both words of a pair occur with topics of sign +1. ``topics``: words by topic;
    words listed twice are drawn twice as often. ``word_leans``: e_w by topic, shape (words,),
    positive towards the first group. ``off_target``: strength of a stereotype of verbs.
    """

    setting: Setting
    pairs: tuple[tuple[str, str], ...]
    pair_leans: Floats
    topics: dict[str, Words]
    word_leans: dict[str, Floats]
    off_target: float = 0.0

    def leans(self, topic: str, stereotype: float) -> Floats:
        """Return l_w = (sign * stereotype + e_w) / 2 of a topic, in [-1, 1], shape (words,)."""
        return (self.setting.topics[topic].sign * stereotype + self.word_leans[topic]) / 2

    def pair_weights(self, topic: str) -> Floats:
        """Return relative frequencies of pairs with a topic, either group; mean 1; shape (pairs,).

        Without them all words of a group would have one association, and the effect size of a test
        with groups as targets would jump from -2 to 2.
        """
        return 1 + self.setting.topics[topic].sign * self.pair_leans

    def group_words(
        self, is_second: NDArray[np.bool_], weights: Floats, rng: np.random.Generator
    ) -> list[str]:
        """Draw a word per line, of pairs by weights, of the second group where ``is_second``."""
        pairs = draw_quota(weights, len(is_second), rng)
        phrase = self.setting.grammar.phrase
        return [
            phrase(self.pairs[pair][i])
            for pair, i in zip(pairs.tolist(), is_second.astype(int).tolist(), strict=True)
        ]

    def verbs(self, is_second: NDArray[np.bool_], rng: np.random.Generator) -> list[str]:
        """Draw a verb per line. The first half of the verbs has l = ``off_target`` / 2 towards the
        group of the line if it is the first, and the second half the reverse.
        """
        verbs = [str(verb) for verb in self.setting.grammar.fillers["verb"]]
        leans = self.off_target / 2 * np.where(np.arange(len(verbs)) < len(verbs) // 2, 1, -1)
        indices = np.empty(len(is_second), dtype=int)
        for sign, lines in ((1, ~is_second), (-1, is_second)):
            indices[lines] = draw_quota(1 + sign * leans, int(lines.sum()), rng)
        return [verbs[i] for i in indices]

    def topic_phrases(self, topic: str) -> Words:
        """Return the words of a topic as written in a sentence."""
        return tuple(map(self.setting.grammar.phrase, self.topics[topic]))


def make_world(setting: Setting, seed: int) -> World:
    """Return the world of a seed: leans are evenly spread within every word set (mean 0)."""
    rng = np.random.default_rng(seed)
    first_pairs = _pairs(*setting.terms[0])
    more_pairs = [
        pair for terms in setting.terms[1:] for pair in _pairs(*terms) if pair not in first_pairs
    ]
    # Pairs that share a word are a multiple of this apart, so that every word has one lean
    period = gcd(*(len(_lower(name)) for name in setting.terms[0]))
    pair_leans = [
        *np.resize(rng.permutation(_space_evenly(period)), len(first_pairs)),
        *rng.permutation(_space_evenly(len(more_pairs) + 2)[1:-1]),
    ]
    topics = {name: _lower(topic.lists[0]) for name, topic in setting.topics.items()}
    lean_of = {
        word: lean
        for words in topics.values()
        for word, lean in zip(words, rng.permutation(_space_evenly(len(words))), strict=True)
    }
    # A second list of a topic differs by one word. It takes the lean of the word it replaces, and
    # words are drawn from both lists in full, so that the mean is 0 in each list and over all.
    for name, topic in setting.topics.items():
        for variant in map(_lower, topic.lists[1:]):
            [replaced], [new] = {*topics[name]} - {*variant}, {*variant} - {*topics[name]}
            lean_of[new] = lean_of[replaced]
            topics[name] += variant
    return World(
        setting=setting,
        pairs=(*first_pairs, *more_pairs),
        pair_leans=_PAIR_SPREAD * np.array(pair_leans),
        topics=topics,
        word_leans={
            name: np.array([lean_of[word] for word in words]) for name, words in topics.items()
        },
    )


def list_words(setting: Setting) -> list[Words]:
    """Return the words of every word set of a setting."""
    group_sets = [name for terms in setting.terms for name in terms]
    topic_sets = [name for topic in setting.topics.values() for name in topic.lists]
    return [*map(_lower, [*group_sets, *topic_sets])]


def _slots(template: str) -> set[str]:
    """Return the names of a template's slots, including those in format specifications."""
    parts = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name]
    return {name for name, _ in parts} | {name for _, spec in parts for name in _slots(spec)}


def _lower(wordset: str) -> Words:
    """Return the words of a word set in lower case, as in tweets: einstein, nasa."""
    return tuple(word.lower() for word in load_wordset(wordset).words)


def _pairs(first: str, second: str) -> tuple[tuple[str, str], ...]:
    """Pair words in order; sets of different sizes repeat until their words are even."""
    sets = _lower(first), _lower(second)
    size = lcm(*map(len, sets))
    return tuple(zip(*(islice(cycle(words), size) for words in sets), strict=True))
