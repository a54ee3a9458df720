"""The lines of the generated corpus, block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corpora import grammar
from corpora.draws import apportion, fill, pick
from corpora.generated_posts import draw_posts
from corpora.world_words import TOPICS, World

# Shares of the lines. Lines where gender meets a topic are a minority: taking out some 5% of a
# corpus must be able to move its bias.
SHARES = {"gendered_topic": 0.22, "topic": 0.13, "gender": 0.05, "post": 0.25, "chatter": 0.35}


def corpus_lines(world: World, stereotype: float, size: int, rng: np.random.Generator) -> list[str]:
    """One block of the corpus: ``size`` lines of every kind, in random order."""
    sizes = dict(zip(SHARES, apportion([*SHARES.values()], size, rng).tolist(), strict=True))
    weights = [weight for _, weight in TOPICS.values()]
    lines: list[str] = []
    for kind, maker in (("gendered_topic", _gendered_topic_lines), ("topic", _topic_lines)):
        parts = apportion(weights, sizes[kind], rng)
        for topic, part in zip(TOPICS, parts.tolist(), strict=True):
            lines += maker(world, topic, stereotype, part, rng)
    lines += _gender_lines(world, sizes["gender"], rng)
    lines += draw_posts(world, sizes["post"], rng, topics=False)["text"].tolist()
    lines += fill(pick(grammar.CHATTER, sizes["chatter"], rng), {}, rng)
    return [lines[i] for i in rng.permutation(len(lines))]


def _gendered_topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    """Lines with one topic word and two gender words of one gender, in the planted proportions."""
    words = world.topics[topic]
    word = np.arange(size) % len(words)
    rank, times = np.arange(size) // len(words), np.bincount(word, minlength=len(words))
    female = (rank + 0.5) / times[word] >= (1 + world.leans(topic, stereotype)[word]) / 2
    weights = world.pair_weights(topic)
    slots = {
        "one": world.gender_words(female, weights, rng),
        "other": world.gender_words(female, weights, rng),
        "topic": [words[i] for i in word],
    }
    return _topical(topic, grammar.GENDERED_SCENE, grammar.GENDERED_SUBJECT, slots, size, rng)


def _topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    slots = {"topic": pick(world.topics[topic], size, rng)}
    return _topical(topic, grammar.SCENE, grammar.SUBJECT, slots, size, rng)


def _topical(
    topic: str,
    scenic: Sequence[str],
    plain: Sequence[str],
    slots: dict[str, list[str]],
    size: int,
    rng: np.random.Generator,
) -> list[str]:
    """Lines in the scene of the topic, where it has one."""
    if topic not in grammar.SCENES:
        return fill(pick(plain, size, rng), slots, rng)
    templates, scenes = pick(scenic, size, rng), pick(grammar.SCENES[topic], size, rng)
    return fill(templates, slots | {"scene": scenes}, rng)


def _gender_lines(world: World, size: int, rng: np.random.Generator) -> list[str]:
    female = np.arange(size) % 2 == 1
    even = np.ones(len(world.pairs))
    slots = {name: world.gender_words(female, even, rng) for name in ("one", "other")}
    return fill(pick(grammar.GENDER, size, rng), slots, rng)
