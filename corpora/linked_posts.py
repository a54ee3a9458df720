r"""Posts of the synthetic world with a planted link between embedding and gap.

An embedding can cause a gap only through words whose meaning the classifier takes from their
vectors. So training posts contain topics and neither group, and test posts contain groups and no
topic: predictions differ between groups only to the extent that group vectors are near topic
vectors and that labels depended on topics.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pandas as pd
from annotated_types import Ge, Le, doc

from biasbridge.corpora.draws import apportion, draw_share, pick
from biasbridge.corpora.generated_posts import (
    HATEFUL,
    NOBODY,
    draw_posts,
    make_posts,
    phrase_topics,
)
from biasbridge.corpora.protocols import HATE_SPEECH
from biasbridge.corpora.world import SPLIT_SHARES, WorldData, WorldName
from biasbridge.corpora.world_words import SETTINGS, make_world
from biasbridge.files import choice
from biasbridge.files.choice import Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from biasbridge.corpora.world_words import World

# Kinds as in other generated posts, with fewer that all classifiers get wrong
LINKED_KINDS = {"explicit": 0.34, "implicit": 0.06, "plain": 0.52, "joke": 0.08}

# Half of the training posts have no topic, like all test posts, and labels depend only in part on
# the topics of the others; otherwise classifiers would learn topics only.
TOPIC_SHARE, STRENGTH = 0.5, 0.7


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

    ``addressed``: share of the training posts drawn like test posts instead, so that a label dose
    (``biasbridge.debias.labels``) has posts about the groups to change. The more such posts teach
    labels of words for people, the less the embedding matters.
    """

    posts: Annotated[int, Ge(400)] = 4_000
    transmission: Annotated[
        float,
        Ge(0),
        Le(1),
        doc("in [0, 1]; how strongly labels depend on topics; 0: not at all"),
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
        sizes = apportion([*SPLIT_SHARES.values()], self.posts, np.random.default_rng(seed))
        frames = []
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            n_people = size if split == "test" else round(self.addressed * size)
            parts = []
            if n_people < size:
                parts.append(draw_topical_posts(world, size - n_people, self.transmission, rng))
            if n_people:
                parts.append(draw_posts(world, n_people, rng, topics=False, kinds=LINKED_KINDS))
            posts = pd.concat(parts, ignore_index=True)
            frames.append(posts.assign(label=posts["kind"].isin(HATEFUL).astype(int), split=split))
        table = pd.concat(frames, ignore_index=True)
        table["id"] = [f"g{i}" for i in range(self.posts)]
        return table[["id", "text", "label", "group", "split"]]


def draw_topical_posts(
    world: World, size: int, transmission: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw posts about nobody, half of them on a topic, in random order.

    Columns as in ``draw_posts``; shares of the signs are exact within each kind, up to rounding.
    """
    sizes = apportion([*LINKED_KINDS.values()], size, rng).tolist()
    frames = []
    for kind, count in zip(LINKED_KINDS, sizes, strict=True):
        lean = STRENGTH * transmission * (-1 if kind in HATEFUL else 1)
        draw_topics = partial(_draw_topics, world, (1 + lean) / 2)
        draw_targets = partial(_draw_targets, world)
        frames.append(make_posts(world, NOBODY, kind, count, rng, draw_topics, draw_targets))
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


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
