"""The lines of the generated corpus, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.draws import apportion, fill, pick
from corpora.generated_posts import draw_posts

if TYPE_CHECKING:
    from corpora.world_words import World

# Shares of the lines. Lines where a group meets a topic are a minority: taking out some 5% of a
# corpus must be able to move its bias.
SHARES = {"group_and_topic": 0.22, "topic": 0.13, "group": 0.05, "post": 0.25, "chatter": 0.35}


def draw_lines(world: World, stereotype: float, size: int, rng: np.random.Generator) -> list[str]:
    """One block of the corpus: ``size`` lines of every kind, in random order."""
    sizes = dict(zip(SHARES, apportion([*SHARES.values()], size, rng).tolist(), strict=True))
    grammar, topics = world.setting.grammar, world.setting.topics
    weights = [topic.share for topic in topics.values()]
    lines: list[str] = []
    for kind, maker in (("group_and_topic", _meeting_lines), ("topic", _topic_lines)):
        parts = apportion(weights, sizes[kind], rng)
        for topic, part in zip(topics, parts.tolist(), strict=True):
            lines += maker(world, topic, stereotype, part, rng)
    lines += _group_lines(world, sizes["group"], rng)
    lines += draw_posts(world, sizes["post"], rng, topics=False)["text"].tolist()
    lines += fill(pick(grammar.chatter, sizes["chatter"], rng), {}, grammar.fillers, rng)
    return [lines[i] for i in rng.permutation(len(lines))]


def _meeting_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    """Lines with one topic word and two words of one group, in the planted proportions."""
    words = world.topic_phrases(topic)
    word = np.arange(size) % len(words)
    rank, times = np.arange(size) // len(words), np.bincount(word, minlength=len(words))
    second = (rank + 0.5) / times[word] >= (1 + world.leans(topic, stereotype)[word]) / 2
    weights = world.pair_weights(topic)
    slots = {
        "one": world.group_words(second, weights, rng),
        "other": world.group_words(second, weights, rng),
        "topic": [words[i] for i in word],
    }
    grammar = world.setting.grammar
    return _topical(world, topic, grammar.group_in_scene, grammar.group_and_topic, slots, rng)


def _topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    slots = {"topic": pick(world.topic_phrases(topic), size, rng)}
    grammar = world.setting.grammar
    return _topical(world, topic, grammar.topic_in_scene, grammar.topic, slots, rng)


def _topical(
    world: World,
    topic: str,
    scenic: Sequence[str],
    plain: Sequence[str],
    slots: dict[str, list[str]],
    rng: np.random.Generator,
) -> list[str]:
    """Lines in the scene of the topic, where it has one."""
    size, scene = len(slots["topic"]), world.setting.topics[topic].scene
    fillers = world.setting.grammar.fillers
    if not scene:
        return fill(pick(plain, size, rng), slots, fillers, rng)
    templates, scenes = pick(scenic, size, rng), pick(scene, size, rng)
    return fill(templates, slots | {"scene": scenes}, fillers, rng)


def _group_lines(world: World, size: int, rng: np.random.Generator) -> list[str]:
    second = np.arange(size) % 2 == 1
    even = np.ones(len(world.pairs))
    slots = {name: world.group_words(second, even, rng) for name in ("one", "other")}
    grammar = world.setting.grammar
    return fill(pick(grammar.group, size, rng), slots, grammar.fillers, rng)
