"""Posts of the synthetic world: hateful or not, about a person of either group or nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasbridge.corpora.draws import apportion, draw_share, fill, pick

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Grammar
    from biasbridge.corpora.world_words import World

DrawTexts = Callable[[int, np.random.Generator], list[str]]

# Shares of the posts about the first group, the second group and nobody
GROUP_SHARES = (0.4, 0.4, 0.2)
NOBODY = "none"

# Kinds of posts. Classifiers err on abuse without an insult (implicit) and on insults as jokes.
KINDS = {"explicit": 0.26, "implicit": 0.14, "plain": 0.45, "joke": 0.15}
HATEFUL = ("explicit", "implicit")

# No cue is certain: some abuse contains laughter and some jokes do not; some abuse sounds friendly
# and some friendly posts sound hostile.
LAUGHING = {"explicit": 0.08, "implicit": 0.08, "plain": 0.08, "joke": 0.85}
SOUNDS_HOSTILE = {"implicit": 0.85, "plain": 0.04}
OPENING_SHARE, TOPIC_SHARE = 0.5, 0.3

# Shares of wrong labels at full label bias, by kind: annotators miss implicit more than explicit
# abuse, and take jokes for abuse more often than plain posts. Over all kinds, 60% of hateful posts
# are labelled 0 and 30% of benign posts 1.
MISLABELLED = {"explicit": 0.385, "implicit": 1.0, "plain": 0.1, "joke": 0.9}


def draw_posts(
    world: World,
    size: int,
    rng: np.random.Generator,
    *,
    topics: bool,
    kinds: Mapping[str, float] = KINDS,
) -> pd.DataFrame:
    """Draw posts in random order: ``text``, ``group``, ``kind``, ``wording`` (the core's template).

    Kinds, cues and topic words have the same shares in every group. ``topics=False`` omits topic
    words: in the corpus, group and topic must co-occur in planted proportions only.
    """
    groups = (*world.setting.groups, NOBODY)
    joint = np.outer(GROUP_SHARES, list(kinds.values())).ravel()
    cells = apportion(joint, size, rng).reshape(len(groups), len(kinds))
    draw_topics = partial(_draw_topics, world, TOPIC_SHARE if topics else 0)
    frames = [
        make_posts(world, group, kind, int(cells[i, j]), rng, draw_topics)
        for i, group in enumerate(groups)
        for j, kind in enumerate(kinds)
    ]
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


def bias_labels(
    posts: pd.DataFrame, bias: float, groups: tuple[str, str], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return 0/1 labels, shape (posts,), some of them wrong for one group.

    ``bias`` in [-1, 1]; positive: wrong labels of the second group, negative: of the first. Wrong
    labels depend on the wording, as with annotators who find a phrase harmless if it targets one
    group: a classifier can learn them, while random errors would cancel out. A stronger bias of the
    same sign makes the same labels wrong, and more.
    """
    label = posts["kind"].isin(HATEFUL).to_numpy().astype(np.int64)
    wordings = rng.permutation(sorted(set(posts["wording"])))
    rank = {str(wording): number for number, wording in enumerate(wordings)}
    order = np.argsort([rank[wording] for wording in posts["wording"]], kind="stable")
    is_target = (posts["group"] == groups[bias > 0]).to_numpy()
    for kind, rate in MISLABELLED.items():
        rows = order[(is_target & (posts["kind"] == kind).to_numpy())[order]]
        flipped = rows[: round(rate * abs(bias) * len(rows))]
        label[flipped] = 1 - label[flipped]
    return label


def make_posts(
    world: World,
    group: str,
    kind: str,
    size: int,
    rng: np.random.Generator,
    draw_topics: DrawTexts,
    draw_targets: DrawTexts | None = None,
) -> pd.DataFrame:
    """Draw posts of one group and kind: opening, core, topic, ending; columns as in ``draw_posts``.

    ``draw_targets`` replaces the words for the group.
    """
    grammar = world.setting.grammar
    wordings = _wordings(grammar, kind, size, rng)
    targets = draw_targets(size, rng) if draw_targets else _targets(world, group, size, rng)
    insults = pick(grammar.insults, size, rng)
    openings = _where(
        draw_share(OPENING_SHARE, size, rng), pick(grammar.openings, size, rng), [""] * size
    )
    cores = fill(wordings, {"target": targets, "insult": insults}, grammar.fillers, rng)
    topics = draw_topics(size, rng)
    laughing, joking = draw_share(LAUGHING[kind], size, rng), pick(grammar.joking, size, rng)
    endings = _where(laughing, joking, pick(grammar.endings, size, rng))
    posts = zip(openings, cores, topics, endings, strict=True)
    texts = [" ".join(part for part in post if part) for post in posts]
    return pd.DataFrame({"text": texts, "group": group, "kind": kind, "wording": wordings})


def _wordings(grammar: Grammar, kind: str, size: int, rng: np.random.Generator) -> list[str]:
    if kind in ("explicit", "joke"):
        return pick(grammar.insulting, size, rng)
    hostile = draw_share(SOUNDS_HOSTILE[kind], size, rng)
    return _where(hostile, pick(grammar.hostile, size, rng), pick(grammar.friendly, size, rng))


def _targets(world: World, group: str, size: int, rng: np.random.Generator) -> list[str]:
    if group == NOBODY:
        return pick(world.setting.grammar.nobody, size, rng)
    is_second = np.full(size, group == world.setting.groups[1])
    return world.group_words(is_second, np.ones(len(world.pairs)), rng)


def _draw_topics(world: World, rate: float, size: int, rng: np.random.Generator) -> list[str]:
    """Draw topic phrases for a share ``rate`` of the posts; empty texts for the others."""
    on_topic = draw_share(rate, size, rng)
    words = [phrase for topic in world.topics for phrase in world.topic_phrases(topic)]
    phrases = iter(phrase_topics(world, words, int(on_topic.sum()), rng))
    return [next(phrases) if has_topic else "" for has_topic in on_topic]


def phrase_topics(world: World, words: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """Draw ``size`` topic phrases of posts with the words equally often."""
    grammar = world.setting.grammar
    templates, topics = pick(grammar.about, size, rng), pick(words, size, rng)
    return fill(templates, {"topic": topics}, grammar.fillers, rng)


def _where(condition: NDArray[np.bool_], x: list[str], y: list[str]) -> list[str]:
    return [a if is_true else b for is_true, a, b in zip(condition, x, y, strict=True)]
