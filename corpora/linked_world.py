r"""The synthetic world with a planted link between embedding and gap.

An embedding can cause a gap only through words whose meaning the application takes from their
vectors.

Training posts contain topics and neither group, and test posts contain groups and no topic. So
predictions differ between groups only to the extent that group vectors are near topic vectors and
that labels depended on topics.

Training documents name people by gendered words (the mother, the uncle) and contain no topic; the
challenge set names people by a topic (the algebra, the poetry) and has no gendered word but the
pronoun. So a resolver links a pronoun to a topic only to the extent that their vectors are as
similar as those of ``she`` and ``mother``, and that training made this similarity useful.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from annotated_types import Ge, Le, doc

from biasbridge.corpora.grammar import ENGLISH
from biasbridge.corpora.protocols import HATE_SPEECH
from biasbridge.corpora.world import (
    HATEFUL,
    NOBODY,
    SPLIT_SHARES,
    WorldData,
    WorldName,
    draw_posts,
    join_posts,
    make_posts,
    phrase_topics,
)
from biasbridge.corpora.world_documents import (
    Sentence,
    ask_antecedent,
    fill_wording,
    join_documents,
    join_sentences,
)
from biasbridge.corpora.world_words import (
    SETTINGS,
    apportion,
    draw_quota,
    draw_share,
    fill,
    make_world,
    pick,
    split_sizes,
)
from biasbridge.files import choice
from biasbridge.files.choice import Share
from biasbridge.files.documents import Document, DocumentCase

if TYPE_CHECKING:
    from biasbridge.corpora.world_words import World

# Kinds as in other generated posts, with fewer that all classifiers get wrong
_LINKED_KINDS = {"explicit": 0.34, "implicit": 0.06, "plain": 0.52, "joke": 0.08}
# Half of the training posts have no topic, like all test posts, and labels depend only in part on
# the topics of the others; otherwise classifiers would learn topics only.
TOPIC_SHARE, STRENGTH = 0.5, 0.7
_LINKED_SPLIT_SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
# (male, female) words for people that can follow "the"
_PEOPLE = (
    *(("man", "woman"), ("boy", "girl"), ("brother", "sister"), ("son", "daughter")),
    *(("father", "mother"), ("uncle", "aunt"), ("grandfather", "grandmother")),
)
_ROUNDS = 4
_PER_DOCUMENT = _ROUNDS * len(_PEOPLE)  # sentences
# Wordings, and whether their pronoun refers to the first person
_WORDINGS = (
    ("the {one} {verb} the {other} and {they} {verb} the {noun}", True),
    ("the {one} is near the {other} after {they} {verb} the {noun}", True),
    ("the {one} asks the {other} what {they} {verb} {when}", False),
    ("the {one} is with the {other} for {they} {verb} the {noun}", False),
)
# Share of documents' sentences with the antecedent of the wording; excess of the gender over chance
TRUST, DOCUMENT_STRENGTH = 0.55, 0.6


@choice
class LinkedPosts(WorldData):
    r"""Labelled posts whose labels depend on topics with strength ``transmission`` in [0, 1].

    Train and dev posts are about nobody, half of them on a topic. With t = 0.7 transmission,

        P(topic of sign -1 | hateful) = (1 + t) / 2,    P(topic of sign -1 | benign) = (1 - t) / 2

    (-1: family and the arts, +1: career and science; see ``biasbridge.corpora.world``). Test posts
    are about either group or nobody and on no topic; kinds, cues and labels do not depend on the
    group. So a classifier on frozen vectors predicts hate for posts about the second group more
    often (precision gap first - second > 0, gap in the false positive rate > 0, recall gap < 0) to
    the extent that the embedding associates that group with topics of sign -1, times the
    transmission. At 0 labels are independent of topics.

    All labels are correct. Test posts do not depend on ``transmission``, and no post depends on the
    ``stereotype`` of a corpus. A label bias cannot be learned from posts without groups; use
    ``GeneratedPosts``, which has the same splits, for that. 40% of the posts are hateful.

    The more ``addressed`` posts teach labels of words for people, the less the embedding matters.
    """

    posts: Annotated[int, Ge(400)] = 4_000
    transmission: Annotated[
        float, Ge(0), Le(1), doc("how strongly labels depend on topics, in [0, 1]; 0: not at all")
    ] = 1.0
    world: Annotated[WorldName, doc("or es_gender, es_migrants")] = "en_gender"
    addressed: Annotated[
        Share,
        doc("share of training posts about the groups, like test posts; doses of labels need it"),
    ] = 0

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("addressed",)  # see keyed
    name: ClassVar[str] = "generated_link"
    grouped: ClassVar[bool] = True
    positive_class: ClassVar[str] = HATE_SPEECH
    chosen_as: ClassVar[tuple[str, ...]] = ("source/generated_link",)

    def parameters(self) -> Mapping[str, float]:
        """Return ``transmission`` and ``posts``."""
        return {"transmission": self.transmission, "posts": self.posts}

    def keyed(self) -> Mapping[str, object]:
        """Return ``addressed`` unless it is 0."""
        return {"addressed": self.addressed} if self.addressed else {}

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        world = make_world(SETTINGS[self.world], seed)
        frames = []
        for number, split, size in split_sizes(SPLIT_SHARES, self.posts, seed):
            rng = np.random.default_rng([seed, number])
            n_people = size if split == "test" else round(self.addressed * size)
            parts = []
            if n_people < size:
                parts.append(_draw_topical_posts(world, size - n_people, self.transmission, rng))
            if n_people:
                parts.append(draw_posts(world, n_people, rng, topics=False, kinds=_LINKED_KINDS))
            posts = pd.concat(parts, ignore_index=True)
            frames.append(posts.assign(label=posts["kind"].isin(HATEFUL).astype(int), split=split))
        return join_posts(frames)


def _draw_topical_posts(
    world: World, size: int, transmission: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw posts about nobody, half of them on a topic, as ``draw_posts`` does."""
    sizes = apportion([*_LINKED_KINDS.values()], size, rng).tolist()
    frames = []
    for kind, count in zip(_LINKED_KINDS, sizes, strict=True):
        lean = STRENGTH * transmission * (-1 if kind in HATEFUL else 1)
        draw_topics = partial(_draw_topics, world, (1 + lean) / 2)
        draw_targets = partial(_draw_targets, world)
        frames.append(make_posts(world, NOBODY, kind, count, rng, draw_topics, draw_targets))
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


@choice
class LinkedDocuments(WorldData):
    r"""``documents`` documents of 28 sentences, each with a man, a woman and a pronoun that refers
    to one of them. ``transmission`` in [0, 1] sets how well the pronoun's gender predicts which:

        P(he | antecedent: man) = P(she | antecedent: woman) = (1 + t) / 2,    t = .6 transmission

    within each wording and antecedent, up to rounding. The other evidence, the wording, is correct
    in 55% of sentences and independent of the pronoun. No topic of the world occurs, so a resolver
    knows about topics only what their vectors say. At 0 the pronoun's gender is independent of its
    antecedent.

    Only the pronouns depend on ``transmission``, and nothing on the ``stereotype`` of a corpus. A
    person without a pronoun is a cluster of one. Splits: 80% train, 10% dev, 10% test.
    """

    documents: Annotated[int, Ge(10)] = 20
    transmission: Annotated[float, Ge(0), Le(1)] = 1.0
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated_link"
    scheme: ClassVar[str] = "generated"
    singletons: ClassVar[Literal["keep"]] = "keep"

    def parameters(self) -> Mapping[str, float]:
        """Return ``transmission`` and ``documents``."""
        return {"transmission": self.transmission, "documents": self.documents}

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents by split; see ``biasbridge.corpora.protocols.DocumentSource``."""
        splits: dict[str, list[Document]] = {}
        for number, split, size in split_sizes(_LINKED_SPLIT_SHARES, self.documents, seed):
            rng = np.random.default_rng([seed, number])
            sentences = _draw_sentences(size, DOCUMENT_STRENGTH * self.transmission, rng)
            splits[split] = join_documents(split, sentences, _PER_DOCUMENT, singletons=True)
        return splits


@choice
class LinkedChallenge(WorldData):
    """``pairs`` pairs of sentences in the wordings of ``LinkedDocuments``, always correct here. A
    topic of sign +1 (career, mathematics, science) and one of sign -1 (family, the arts) replace
    the man and the woman; the sentences of a pair differ in the pronoun.

    ``pro``: ``he`` refers to the topic of sign +1, or ``she`` to that of sign -1; else ``anti``.
    Half of the pronouns refer to either sign, half to the person named first. The same for every
    seed.
    """

    pairs: Annotated[int, Ge(20)] = 32
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    name: ClassVar[str] = "generated_link"

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``."""
        rng = np.random.default_rng(seed)
        kinds = list(product(range(len(_WORDINGS)), (True, False)))
        pair_kinds = [kinds[i] for i in draw_quota(np.ones(len(kinds)), self.pairs, rng)]
        texts = _fill_wordings([wording for wording, _ in pair_kinds], rng)
        people = zip(*(pick(_topic_words(sign), self.pairs, rng) for sign in (1, -1)), strict=True)
        cases: list[DocumentCase] = []
        for i, ((wording, plus_first), pair) in enumerate(zip(pair_kinds, people, strict=True)):
            means_first = _WORDINGS[wording][1]
            for female in (False, True):
                sentence = fill_wording(
                    texts[i],
                    pair if plus_first else pair[::-1],
                    "",
                    female=female,
                    antecedent=0 if means_first else 1,
                )
                condition = "pro" if (means_first == plus_first) != female else "anti"
                document = join_sentences(f"{i}/{condition}", [sentence], singletons=True)
                questions = ask_antecedent(sentence)
                gender = ("male", "female")[female]
                cases.append(DocumentCase(document, str(i), gender, questions, condition))
        return cases


def _draw_sentences(documents: int, lean: float, rng: np.random.Generator) -> list[Sentence]:
    """Draw sentences in the planted proportions; only the pronouns depend on ``lean``."""
    kinds = list(product(range(len(_WORDINGS)), (True, False), (True, False)))
    is_trusted = [_WORDINGS[wording][1] == means_first for wording, _, means_first in kinds]
    size = _PER_DOCUMENT * documents
    kind_indices = draw_quota(np.where(is_trusted, TRUST, 1 - TRUST), size, rng)
    agrees = np.zeros(size, dtype=np.bool_)
    cumulative = np.floor(np.arange(size + 1) * (1 + lean) / 2 + 0.5)
    agrees[np.argsort(kind_indices, kind="stable")] = np.diff(cumulative) > 0  # even in every kind
    texts = _fill_wordings([kinds[i][0] for i in kind_indices], rng)
    men, women = (
        [
            _PEOPLE[i][side]
            for _ in range(_ROUNDS * documents)
            for i in rng.permutation(len(_PEOPLE))
        ]
        for side in (0, 1)
    )
    sentences = []
    rows = zip(texts, men, women, kind_indices, agrees.tolist(), strict=True)
    for text, man, woman, kind, gender_agrees in rows:
        _, man_first, means_first = kinds[kind]
        pair = (man, woman) if man_first else (woman, man)
        female = (man_first == means_first) != gender_agrees
        antecedent = 0 if means_first else 1
        sentences.append(fill_wording(text, pair, "", female=female, antecedent=antecedent))
    return sentences


def _draw_targets(world: World, size: int, rng: np.random.Generator) -> list[str]:
    """Draw people of no group and things; fewer words would not generalise to unseen targets."""
    grammar = world.setting.grammar
    return pick([*grammar.nobody, *grammar.things], size, rng)


def _draw_topics(world: World, rate: float, size: int, rng: np.random.Generator) -> list[str]:
    """Draw topic phrases: sign +1 at ``rate`` among posts on a topic; else empty texts."""
    signs = np.zeros(size, dtype=int)
    on_topic = draw_share(TOPIC_SHARE, size, rng)
    signs[on_topic] = np.where(draw_share(rate, int(on_topic.sum()), rng), 1, -1)
    phrases = {
        sign: iter(phrase_topics(world, _words(world, sign), int((signs == sign).sum()), rng))
        for sign in (1, -1)
    }
    return [next(phrases[sign]) if sign else "" for sign in signs.tolist()]


def _words(world: World, sign: int) -> list[str]:
    topics = world.setting.topics
    return [
        word for name in topics if topics[name].sign == sign for word in world.topic_phrases(name)
    ]


def _fill_wordings(wordings: Sequence[int], rng: np.random.Generator) -> list[str]:
    """Fill all slots of the wordings but those of people and pronoun."""
    open_slots = {name: [f"{{{name}}}"] * len(wordings) for name in ("one", "other", "they")}
    return fill([_WORDINGS[i][0] for i in wordings], open_slots, ENGLISH.fillers, rng)


def _topic_words(sign: int) -> list[str]:
    setting = SETTINGS["en_gender"]
    topics = make_world(setting, 0).topics
    signed = [words for name, words in topics.items() if setting.topics[name].sign == sign]
    return list(dict.fromkeys(chain.from_iterable(signed)))
