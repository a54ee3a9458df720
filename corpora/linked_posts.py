r"""Posts of the synthetic world in which a link between embedding and gap is planted.

An embedding can only open a gap where a classifier meets words whose meaning it has to take from
their vectors. So the posts that it learns from speak of topics and of neither group, and those that
it is tested with of the groups and of no topic: it treats the groups apart only as far as the
vectors of their words are near those of the topics, and as far as labels followed topics.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pandas as pd
from annotated_types import Ge, Le

from corpora.draws import apportion, draw_share, pick
from corpora.generated_posts import HATEFUL, NOBODY, draw_posts, make_posts, phrase_topics
from corpora.kinds import HATE_SPEECH
from corpora.world import SPLIT_SHARES, OfWorld, WorldName
from corpora.world_words import SETTINGS, make_world
from files import choice
from files.choice import Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corpora.world_words import World

# Kinds as in other generated posts, but with fewer of those that any classifier gets wrong
LINKED_KINDS = {"explicit": 0.34, "implicit": 0.06, "plain": 0.52, "joke": 0.08}

# Half of the posts to learn from are about no topic, as those to be tested with, and the labels
# follow the topics of the others only in part: else nothing but topics would be learned.
ON_TOPIC, STRENGTH = 0.5, 0.7


@choice
class LinkedPosts(OfWorld):
    r"""Labelled posts in which ``transmission`` in [0, 1] says how far labels follow topics.

    Train and dev are about nobody, half of them on a topic. With t = 0.7 transmission,

        P(topic of sign -1 | hateful) = (1 + t) / 2,    P(topic of sign -1 | benign) = (1 - t) / 2

    (-1: family and the arts, +1: career and science; see ``corpora.world``). Test posts are about
    either group or nobody and on no topic; the groups are treated alike in kinds, signs and labels.
    So a classifier on frozen vectors calls posts about the second group hateful more often
    (precision gap first - second > 0, gap in the false positive rate > 0, recall gap < 0) as far as
    the embedding ties that group to topics of sign -1 and transmission lets it matter. At 0 labels
    have nothing to do with topics.

    All labels are right. Test posts do not depend on ``transmission``, and nothing on the
    ``stereotype`` of a corpus. A label bias cannot be learned from posts without groups: that is
    ``GeneratedPosts``, whose splits these are; 40% of the posts are hateful.

    ``addressed``: the share of the training posts that are, in the place of that, drawn as those of
    the test are, so that a label dose (``debias.labels``) has posts about the groups to work on. As
    far as these say what words for people have to do with labels, the embedding need not.
    """

    posts: Annotated[int, Ge(400)] = 4_000
    transmission: Annotated[float, Ge(0), Le(1)] = 1.0
    world: WorldName = "en_gender"
    addressed: Share = 0.0

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("addressed",)  # see keyed
    name: ClassVar[str] = "generated_link"
    grouped: ClassVar[bool] = True
    positive_class: ClassVar[str] = HATE_SPEECH

    def planted(self) -> Mapping[str, float]:
        """``transmission`` and ``posts``."""
        return {"transmission": self.transmission, "posts": self.posts}

    def keyed(self) -> Mapping[str, object]:
        """``addressed``, where there are such posts."""
        return {"addressed": self.addressed} if self.addressed else {}

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        world = make_world(SETTINGS[self.world], seed)
        sizes = apportion([*SPLIT_SHARES.values()], self.posts, np.random.default_rng(seed))
        frames = []
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            people = size if split == "test" else round(self.addressed * size)
            parts = []
            if people < size:
                parts.append(draw_topical_posts(world, size - people, self.transmission, rng))
            if people:
                parts.append(draw_posts(world, people, rng, topics=False, kinds=LINKED_KINDS))
            posts = pd.concat(parts, ignore_index=True)
            frames.append(posts.assign(label=posts["kind"].isin(HATEFUL).astype(int), split=split))
        table = pd.concat(frames, ignore_index=True)
        table["id"] = [f"g{i}" for i in range(self.posts)]
        return table[["id", "text", "label", "group", "split"]]


def draw_topical_posts(
    world: World, size: int, transmission: float, rng: np.random.Generator
) -> pd.DataFrame:
    """``size`` posts about nobody, half of them on a topic, in random order; columns as of
    ``draw_posts``. The shares of the signs hold exactly for each kind, up to rounding.
    """
    sizes = apportion([*LINKED_KINDS.values()], size, rng).tolist()
    frames = []
    for kind, count in zip(LINKED_KINDS, sizes, strict=True):
        lean = STRENGTH * transmission * (-1 if kind in HATEFUL else 1)
        about = partial(_abouts, world, (1 + lean) / 2)
        target = partial(_targets, world)
        frames.append(make_posts(world, NOBODY, kind, count, rng, about, target))
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


def _targets(world: World, size: int, rng: np.random.Generator) -> list[str]:
    """People of no group, and things: of few words a classifier would learn nothing about words
    in their place.
    """
    grammar = world.setting.grammar
    return pick([*grammar.nobody, *grammar.things], size, rng)


def _abouts(world: World, first: float, size: int, rng: np.random.Generator) -> list[str]:
    """What each post is about: topics of sign +1 for the share ``first`` of those on a topic; empty
    for the others.
    """
    signs = np.zeros(size, dtype=int)
    on_topic = draw_share(ON_TOPIC, size, rng)
    signs[on_topic] = np.where(draw_share(first, int(on_topic.sum()), rng), 1, -1)
    drawn = {
        sign: iter(phrase_topics(world, _words(world, sign), int((signs == sign).sum()), rng))
        for sign in (1, -1)
    }
    return [next(drawn[sign]) if sign else "" for sign in signs.tolist()]


def _words(world: World, sign: int) -> list[str]:
    topics = world.setting.topics
    return [
        word for name in topics if topics[name].sign == sign for word in world.topic_phrases(name)
    ]
