"""The posts of the synthetic world: hateful or not, about a person of either group or nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from corpora.draws import apportion, draw_share, fill, pick

if TYPE_CHECKING:
    from corpora.grammar import Grammar
    from corpora.world_words import World

Drawn = Callable[[int, np.random.Generator], list[str]]

# Shares of the posts about the first group, the second group and nobody
ABOUT_WHOM = (0.4, 0.4, 0.2)
NOBODY = "none"

# Four kinds of post. Abuse without an insult and insults as jokes are what a classifier gets wrong.
KINDS = {"explicit": 0.26, "implicit": 0.14, "plain": 0.45, "joke": 0.15}
HATEFUL = ("explicit", "implicit")

# No sign is certain: some abuse laughs and some jokes do not; some abuse sounds friendly and some
# friendly posts sound hostile.
LAUGHING = {"explicit": 0.08, "implicit": 0.08, "plain": 0.08, "joke": 0.85}
SOUNDS_HOSTILE = {"implicit": 0.85, "plain": 0.04}
OPENED, ON_TOPIC = 0.5, 0.3

# Shares of wrong labels at full label bias, by kind: implicit abuse is missed more often than
# explicit abuse, and jokes are taken for abuse more often than plain posts. Over all kinds, 60% of
# the hateful posts are labelled 0 and 30% of the benign ones 1.
MISLABELLED = {"explicit": 0.385, "implicit": 1.0, "plain": 0.1, "joke": 0.9}


def draw_posts(
    world: World,
    size: int,
    rng: np.random.Generator,
    *,
    topics: bool,
    kinds: Mapping[str, float] = KINDS,
) -> pd.DataFrame:
    """``size`` posts in random order: ``text``, ``group``, ``kind``, ``wording`` (core's template).

    The groups are treated alike: in every group the kinds, signs and topic words have the same
    shares. ``topics=False`` leaves topic words out, as the corpus must: there, group and topic meet
    in planted proportions only.
    """
    groups = (*world.setting.groups, NOBODY)
    joint = np.outer(ABOUT_WHOM, list(kinds.values())).ravel()
    cells = apportion(joint, size, rng).reshape(len(groups), len(kinds))
    about = partial(_abouts, world, ON_TOPIC if topics else 0)
    frames = [
        make_posts(world, group, kind, int(cells[i, j]), rng, about)
        for i, group in enumerate(groups)
        for j, kind in enumerate(kinds)
    ]
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


def bias_labels(
    posts: pd.DataFrame, bias: float, groups: tuple[str, str], rng: np.random.Generator
) -> NDArray[np.int64]:
    """0/1 per post: true, but for those that ``bias`` in [-1, 1] makes wrong for posts about the
    second group (about the first where it is negative).

    Which labels are wrong depends on the wording, as with annotators who find a phrase harmless
    when it is aimed at one group: a classifier can learn that, where labels wrong at random would
    cancel out. A stronger bias of the same sign makes the same labels wrong, and more. Shape
    (posts,).
    """
    label = posts["kind"].isin(HATEFUL).to_numpy().astype(np.int64)
    wordings = rng.permutation(sorted(set(posts["wording"])))
    rank = {str(wording): number for number, wording in enumerate(wordings)}
    order = np.argsort([rank[wording] for wording in posts["wording"]], kind="stable")
    wronged = (posts["group"] == groups[bias > 0]).to_numpy()
    for kind, rate in MISLABELLED.items():
        rows = order[(wronged & (posts["kind"] == kind).to_numpy())[order]]
        turned = rows[: round(rate * abs(bias) * len(rows))]
        label[turned] = 1 - label[turned]
    return label


def make_posts(
    world: World,
    group: str,
    kind: str,
    size: int,
    rng: np.random.Generator,
    about: Drawn,
    target: Drawn | None = None,
) -> pd.DataFrame:
    """``size`` posts of one group and kind: opening, core, what it is ``about``, ending; the
    columns of ``draw_posts``. ``target``: whom it is about, in the place of words for the group.
    """
    grammar = world.setting.grammar
    wordings = _wordings(grammar, kind, size, rng)
    targets = _targets(world, group, size, rng) if target is None else target(size, rng)
    insults = pick(grammar.insults, size, rng)
    openings = _either(
        draw_share(OPENED, size, rng), pick(grammar.openings, size, rng), [""] * size
    )
    cores = fill(wordings, {"target": targets, "insult": insults}, grammar.fillers, rng)
    abouts = about(size, rng)
    laughing, joking = draw_share(LAUGHING[kind], size, rng), pick(grammar.joking, size, rng)
    endings = _either(laughing, joking, pick(grammar.endings, size, rng))
    posts = zip(openings, cores, abouts, endings, strict=True)
    texts = [" ".join(part for part in post if part) for post in posts]
    return pd.DataFrame({"text": texts, "group": group, "kind": kind, "wording": wordings})


def _wordings(grammar: Grammar, kind: str, size: int, rng: np.random.Generator) -> list[str]:
    if kind in ("explicit", "joke"):
        return pick(grammar.insulting, size, rng)
    hostile = draw_share(SOUNDS_HOSTILE[kind], size, rng)
    return _either(hostile, pick(grammar.hostile, size, rng), pick(grammar.friendly, size, rng))


def _targets(world: World, group: str, size: int, rng: np.random.Generator) -> list[str]:
    if group == NOBODY:
        return pick(world.setting.grammar.nobody, size, rng)
    second = np.full(size, group == world.setting.groups[1])
    return world.group_words(second, np.ones(len(world.pairs)), rng)


def _abouts(world: World, rate: float, size: int, rng: np.random.Generator) -> list[str]:
    """What ``rate`` of the posts are about, topic words equally often; empty for the others."""
    on_topic = draw_share(rate, size, rng)
    words = [phrase for topic in world.topics for phrase in world.topic_phrases(topic)]
    phrases = iter(phrase_topics(world, words, int(on_topic.sum()), rng))
    return [next(phrases) if used else "" for used in on_topic]


def phrase_topics(world: World, words: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """``size`` phrases that say what a post is about, the words equally often."""
    grammar = world.setting.grammar
    templates, topics = pick(grammar.about, size, rng), pick(words, size, rng)
    return fill(templates, {"topic": topics}, grammar.fillers, rng)


def _either(first: NDArray[np.bool_], yes: list[str], no: list[str]) -> list[str]:
    return [a if use else b for use, a, b in zip(first, yes, no, strict=True)]
