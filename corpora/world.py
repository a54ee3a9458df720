r"""The synthetic world: text whose biases are parameters. Never evidence about the real world.

Two biases are planted independently: ``stereotype``, how strongly two groups and topics co-occur in
the corpus (intrinsic metrics should detect it), and ``label_bias``, how much labels differ between
posts about the two groups (gaps should detect it). ``world`` sets the groups, topics and language
(``biasbridge.corpora.world_words.SETTINGS``):

    en_gender    male and female; career, maths and science (+), family and the arts (-); the words
                 are those of WEAT 6b, 7 and 8
    es_gender    the same groups in Spanish; science and pleasant words (+), the arts and unpleasant
                 ones (-), those of the queries gender_es and gender_pleasant_es
    es_migrants  local and migrant, referred to by names; pleasant words (+) and unpleasant ones
                 (-), those of migrant_es

all lower-cased, so that the metrics need no special word sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from annotated_types import Ge, Le, doc
from numpy.typing import NDArray

from biasbridge.corpora.grammar import ENGLISH_FILLERS
from biasbridge.corpora.protocols import HATE_SPEECH
from biasbridge.corpora.world_words import (
    SETTINGS,
    World,
    apportion,
    draw_share,
    fill,
    list_words,
    make_world,
    pick,
    split_sizes,
)
from biasbridge.files import atomic_path, choice
from biasbridge.files.choice import Fileless, Share
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.word_forms import Form, word_form
from biasbridge.intrinsic.words import load_wordset

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Grammar

Bias = Annotated[float, Ge(-1), Le(1)]  # 0: no bias
WorldName = Literal["en_gender", "es_gender", "es_migrants"]
# Lines per block: memory stays constant, and every block holds the planted proportions
_BLOCK = 30_000
# Shares of the lines. Lines with a group and a topic are a minority, so that removing some 5% of a
# corpus can change its bias.
_SHARES = {"group_and_topic": 0.22, "topic": 0.13, "group": 0.05, "post": 0.25, "chatter": 0.35}
SPLIT_SHARES = {"train": 0.6, "dev": 0.1, "test": 0.3}
DrawTexts = Callable[[int, np.random.Generator], list[str]]
# Shares of the posts about the first group, the second group and nobody
_GROUP_SHARES = (0.4, 0.4, 0.2)
NOBODY = "none"
# Kinds of posts. Classifiers err on abuse without an insult (implicit) and on insults as jokes.
_POST_KINDS = {"explicit": 0.26, "implicit": 0.14, "plain": 0.45, "joke": 0.15}
HATEFUL = ("explicit", "implicit")
# No cue is certain: some abuse contains laughter and some jokes do not; some abuse sounds friendly
# and some friendly posts sound hostile.
_LAUGHING = {"explicit": 0.08, "implicit": 0.08, "plain": 0.08, "joke": 0.85}
_SOUNDS_HOSTILE = {"implicit": 0.85, "plain": 0.04}
OPENING_SHARE, TOPIC_SHARE = 0.5, 0.3
# Shares of wrong labels at full label bias, by kind: annotators miss implicit more than explicit
# abuse, and take jokes for abuse more often than plain posts. Over all kinds, 60% of hateful posts
# are labelled 0 and 30% of benign posts 1.
_MISLABELLED = {"explicit": 0.385, "implicit": 1.0, "plain": 0.1, "joke": 0.9}


def write_lines(lines: Iterable[str], out: Path) -> dict[str, int]:
    """Write a corpus; return counts: lines, tokens, types, unknown (0), dropped (0)."""
    n_lines, words = 0, Counter[str]()
    with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
        for line in lines:
            n_lines += 1
            words.update(line.split(" "))
            text.write(f"{line}\n")
    counts = {"lines": n_lines, "tokens": words.total(), "types": len(words)}
    return counts | {"unknown": 0, "dropped": 0}


class WorldData(Fileless):
    """Base of data of the synthetic world, in the words of ``world``."""

    world: WorldName

    generated: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """``generated`` and the world."""
        return f"generated_{self.world}"

    @property
    def language(self) -> str:
        """Language of the world."""
        return SETTINGS[self.world].language

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words of the world."""
        return {"words": digest_of(list_words(SETTINGS[self.world]))}

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters."""
        return {}


@choice
class GeneratedCorpus(WorldData):
    r"""An unlabelled corpus of ``sentences`` lines with a planted ``stereotype`` in [-1, 1].

    In lines with a word of a group and a topic word w,

        P(first group | w) = (1 + l_w) / 2,    l_w = (sign_w * stereotype + e_w) / 2

    with sign_w = +1 for the topics that the stereotype associates with the first group (of
    ``world``: male, or local) and -1 for the others. e_w is the lean of the word w itself: evenly
    spread over [-1, 1] within each word set and permuted by the seed, so that effect sizes are
    graded instead of jumping from -2 to 2. Over the lines, P(first | sign +1) - P(first | sign -1)
    = stereotype / 2: 0 is unbiased, positive is the stereotype, negative its reverse. The words of
    both groups are equally frequent at any stereotype. Leans and draws depend on ``seed`` only; the
    same seed gives the same bytes.

    ``off_target`` plants a stereotype of other words, of the same form: in these lines half of the
    verbs go with the first group and half with the second. No query asks for them.
    """

    sentences: Annotated[int, Ge(1_000)] = 30_000  # fewer cannot hold the planted proportions
    stereotype: Bias = 0.5
    world: WorldName = "en_gender"
    off_target: Bias = 0.0

    version: ClassVar[int] = 1

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``, ``sentences`` and, unless it is 0, ``off_target``."""
        off_target = {"off_target": self.off_target} if self.off_target else {}
        return {"stereotype": self.stereotype, "sentences": self.sentences, **off_target}

    def leans(self, *, seed: int) -> dict[str, float]:
        """Return the planted l_w of every topic word w, in [-1, 1]; positive: first group."""
        world = make_world(SETTINGS[self.world], seed)
        leans: dict[str, float] = {}
        for topic, words in world.topics.items():
            values: list[float] = world.leans(topic, self.stereotype).tolist()
            leans |= zip(words, values, strict=True)
        return leans

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus as ``write_lines`` does."""
        return write_lines(chain.from_iterable(self._blocks(seed)), out)

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        world = replace(make_world(SETTINGS[self.world], seed), off_target=self.off_target)
        for number, start in enumerate(range(0, self.sentences, _BLOCK)):
            rng = np.random.default_rng([seed, number])
            yield _draw_lines(world, self.stereotype, min(_BLOCK, self.sentences - start), rng)


@choice
class GeneratedPosts(WorldData):
    r"""Labelled posts about either group of ``world`` (``male`` and ``female``, or ``local`` and
    ``migrant``) or nobody (``none``), with a planted ``label_bias`` in [-1, 1].

    Splits: 60% train, 10% dev, 30% test. 40% of the posts in every group are hateful. Test labels
    are always correct. In train and dev, for label_bias b > 0, a share 0.6 b of the hateful posts
    about the second group is labelled 0 (missed abuse: recall gap first - second > 0) and a share
    0.3 b of the benign posts is labelled 1; b < 0 does the same to the first group; at 0 labels do
    not depend on the group.

    No sign of a precision gap is planted: false positives lower the precision of the second group,
    and false negatives raise it. At b = 0.8 (means and standard errors over seeds, vectors of
    10,000 sentences; at b = 0 no mean differs from 0 by more than two standard errors):

        classifier, seeds   recall gap       precision gap     gap in false positives
        linear, 8           0.091 +- 0.008   -0.019 +- 0.007   -0.037 +- 0.007
        cnn, 5              0.075 +- 0.013    0.010 +- 0.007   -0.011 +- 0.008

    Texts do not depend on ``label_bias``. Topic words are equally frequent in posts about both
    groups, so ``label_bias`` is independent of a corpus's ``stereotype``.
    """

    posts: Annotated[int, Ge(400)] = 4_000  # fewer cannot hold the planted proportions
    label_bias: Annotated[
        Bias,
        doc("above 0: in training, abuse of the second group is labelled 0, and benign posts 1"),
    ] = 0.0
    world: Annotated[WorldName, doc("or es_gender, es_migrants")] = "en_gender"

    version: ClassVar[int] = 1
    grouped: ClassVar[bool] = True
    positive_class: ClassVar[str] = HATE_SPEECH
    chosen_as: ClassVar[tuple[str, ...]] = ("source/generated",)

    def parameters(self) -> Mapping[str, float]:
        """Return ``label_bias`` and ``posts``."""
        return {"label_bias": self.label_bias, "posts": self.posts}

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        setting = SETTINGS[self.world]
        world = make_world(setting, seed)
        frames = []
        for number, split, size in split_sizes(SPLIT_SHARES, self.posts, seed):
            text_rng, label_rng = (np.random.default_rng([seed, number, i]) for i in range(2))
            posts = draw_posts(world, size, text_rng, topics=True)
            bias = 0.0 if split == "test" else self.label_bias
            labels = _bias_labels(posts, bias, setting.groups, label_rng)
            frames.append(posts.assign(label=labels, split=split))
        return join_posts(frames)


def join_posts(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the posts of all splits with ids, in the columns of a source."""
    table = pd.concat(frames, ignore_index=True)
    table["id"] = [f"g{i}" for i in range(len(table))]
    return table[["id", "text", "label", "group", "split"]]


def draw_posts(
    world: World,
    size: int,
    rng: np.random.Generator,
    *,
    topics: bool,
    kinds: Mapping[str, float] = _POST_KINDS,
) -> pd.DataFrame:
    """Draw posts in random order, with the same shares of kinds, cues and topics in every group."""
    groups = (*world.setting.groups, NOBODY)
    joint = np.outer(_GROUP_SHARES, list(kinds.values())).ravel()
    cells = apportion(joint, size, rng).reshape(len(groups), len(kinds))
    draw_topics = partial(_draw_topics, world, TOPIC_SHARE if topics else 0)
    frames = [
        make_posts(world, group, kind, int(cells[i, j]), rng, draw_topics)
        for i, group in enumerate(groups)
        for j, kind in enumerate(kinds)
    ]
    return pd.concat(frames, ignore_index=True).iloc[rng.permutation(size)].reset_index(drop=True)


def _bias_labels(
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
    for kind, rate in _MISLABELLED.items():
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
    """Draw posts of one group and kind: ``text``, ``group``, ``kind``, ``wording`` (its core)."""
    grammar = world.setting.grammar
    wordings = _wordings(grammar, kind, size, rng)
    targets = draw_targets(size, rng) if draw_targets else _targets(world, group, size, rng)
    insults = pick(grammar.insults, size, rng)
    openings = _where(
        draw_share(OPENING_SHARE, size, rng), pick(grammar.openings, size, rng), [""] * size
    )
    cores = fill(wordings, {"target": targets, "insult": insults}, grammar.fillers, rng)
    topics = draw_topics(size, rng)
    laughing, joking = draw_share(_LAUGHING[kind], size, rng), pick(grammar.joking, size, rng)
    endings = _where(laughing, joking, pick(grammar.endings, size, rng))
    posts = zip(openings, cores, topics, endings, strict=True)
    texts = [" ".join(part for part in post if part) for post in posts]
    return pd.DataFrame({"text": texts, "group": group, "kind": kind, "wording": wordings})


def phrase_topics(world: World, words: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """Draw ``size`` topic phrases of posts with the words equally often."""
    grammar = world.setting.grammar
    templates, topics = pick(grammar.about, size, rng), pick(words, size, rng)
    return fill(templates, {"topic": topics}, grammar.fillers, rng)


@choice
class GeneratedTemplates(WorldData):
    """``frames`` sentences with a slot for a word for people, each filled with every word for the
    groups of ``world``: predictions within a frame differ by this word only. A quarter are insults,
    a quarter are hostile without an insult, half are friendly. The same for every seed.
    """

    frames: Annotated[int, Ge(8)] = 200
    world: WorldName = "en_gender"

    version: ClassVar[int] = 1
    positive_class: ClassVar[str] = HATE_SPEECH
    seeded: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """``generated_templates`` and the world."""
        return f"generated_templates_{self.world}"

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.PostChallenge``."""
        setting = SETTINGS[self.world]
        grammar, rng = setting.grammar, np.random.default_rng(0)
        frames = _frames(grammar, self.frames, rng)
        pairs = make_world(setting, 0).pairs
        terms = [
            (group, term)
            for i, group in enumerate(setting.groups)
            for term in dict.fromkeys(pair[i] for pair in pairs)
        ]
        rows = [
            (wording.format(target=grammar.phrase(term), **slots), label, group, term, str(number))
            for number, (wording, label, slots) in enumerate(frames)
            for group, term in terms
        ]
        posts = pd.DataFrame(rows, columns=["text", "label", "group", "term", "frame"])
        return posts.assign(id=[f"c{number}" for number in range(len(posts))])


@choice
class GeneratedForms(GeneratedCorpus):
    """``GeneratedCorpus`` in which a share ``changed`` of the occurrences of group words, topic
    words and nouns has another form: a third each capitalised, upper-case and plural (group words:
    a half each capitalised and upper-case).

    Forms are drawn independently for each occurrence, so all forms of a word have the same
    contexts: differences of a metric between them are noise.
    """

    changed: Share = 0.6
    world: Literal["en_gender"] = "en_gender"

    @property
    def name(self) -> str:
        """``generated``, the world and ``forms``."""
        return f"{super().name}_forms"

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``, ``sentences`` and ``changed``."""
        return {**super().parameters(), "changed": self.changed}

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        forms = _other_forms_by_word()
        for number, block in enumerate(super()._blocks(seed)):
            rng = np.random.default_rng([seed, number, 1])
            yield [_change_forms(line, forms, self.changed, rng) for line in block]


def _draw_lines(world: World, stereotype: float, size: int, rng: np.random.Generator) -> list[str]:
    """Draw one block of the corpus: ``size`` lines of all kinds, in random order."""
    sizes = dict(zip(_SHARES, apportion([*_SHARES.values()], size, rng).tolist(), strict=True))
    grammar, topics = world.setting.grammar, world.setting.topics
    weights = [topic.share for topic in topics.values()]
    lines: list[str] = []
    for kind, draw in (("group_and_topic", _group_and_topic_lines), ("topic", _topic_lines)):
        topic_sizes = apportion(weights, sizes[kind], rng)
        for topic, topic_size in zip(topics, topic_sizes.tolist(), strict=True):
            lines += draw(world, topic, stereotype, topic_size, rng)
    lines += _group_lines(world, sizes["group"], rng)
    lines += draw_posts(world, sizes["post"], rng, topics=False)["text"].tolist()
    lines += fill(pick(grammar.chatter, sizes["chatter"], rng), {}, grammar.fillers, rng)
    return [lines[i] for i in rng.permutation(len(lines))]


def _group_and_topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    """Draw lines with one topic word and two words of one group, in the planted proportions."""
    words = world.topic_phrases(topic)
    word_indices = np.arange(size) % len(words)
    ranks, counts = np.arange(size) // len(words), np.bincount(word_indices, minlength=len(words))
    p_first = (1 + world.leans(topic, stereotype)[word_indices]) / 2
    is_second = (ranks + 0.5) / counts[word_indices] >= p_first
    weights = world.pair_weights(topic)
    slots = {
        "one": world.group_words(is_second, weights, rng),
        "other": world.group_words(is_second, weights, rng),
        "topic": [words[i] for i in word_indices],
    }
    if world.off_target:
        slots["verb"] = world.verbs(is_second, rng)
    grammar = world.setting.grammar
    return _fill_scene_or_plain(
        world, topic, grammar.group_in_scene, grammar.group_and_topic, slots, rng
    )


def _topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    slots = {"topic": pick(world.topic_phrases(topic), size, rng)}
    grammar = world.setting.grammar
    return _fill_scene_or_plain(world, topic, grammar.topic_in_scene, grammar.topic, slots, rng)


def _fill_scene_or_plain(
    world: World,
    topic: str,
    scene_templates: Sequence[str],
    plain_templates: Sequence[str],
    slots: dict[str, list[str]],
    rng: np.random.Generator,
) -> list[str]:
    size, scene = len(slots["topic"]), world.setting.topics[topic].scene
    fillers = world.setting.grammar.fillers
    if not scene:
        return fill(pick(plain_templates, size, rng), slots, fillers, rng)
    templates, scenes = pick(scene_templates, size, rng), pick(scene, size, rng)
    return fill(templates, slots | {"scene": scenes}, fillers, rng)


def _group_lines(world: World, size: int, rng: np.random.Generator) -> list[str]:
    is_second = np.arange(size) % 2 == 1
    weights = np.ones(len(world.pairs))
    slots = {name: world.group_words(is_second, weights, rng) for name in ("one", "other")}
    grammar = world.setting.grammar
    return fill(pick(grammar.group, size, rng), slots, grammar.fillers, rng)


def _wordings(grammar: Grammar, kind: str, size: int, rng: np.random.Generator) -> list[str]:
    if kind in ("explicit", "joke"):
        return pick(grammar.insulting, size, rng)
    hostile = draw_share(_SOUNDS_HOSTILE[kind], size, rng)
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


def _where(condition: NDArray[np.bool_], x: list[str], y: list[str]) -> list[str]:
    return [a if is_true else b for is_true, a, b in zip(condition, x, y, strict=True)]


def _frames(
    grammar: Grammar, size: int, rng: np.random.Generator
) -> list[tuple[str, int, dict[str, object]]]:
    """Draw wordings with their labels and the fillers of their other slots."""
    quarter = size // 4
    wordings = [
        *pick(grammar.insulting, quarter, rng),
        *pick(grammar.hostile, quarter, rng),
        *pick(grammar.friendly, size - 2 * quarter, rng),
    ]
    labels = [1] * (2 * quarter) + [0] * (size - 2 * quarter)
    fillers: dict[str, list[object]] = {"insult": [*pick(grammar.insults, size, rng)]}
    for name, words in grammar.fillers.items():
        fillers[name] = [*pick([*words], size, rng)]
    slots = [{name: words[i] for name, words in fillers.items()} for i in range(size)]
    return list(zip(wordings, labels, slots, strict=True))


def _other_forms_by_word() -> dict[str, list[str]]:
    setting = SETTINGS["en_gender"]
    topic_sets = [name for topic in setting.topics.values() for name in topic.lists]
    topic_words = {word.lower() for name in topic_sets for word in load_wordset(name).words}
    plurals = {word for word in topic_words if word.endswith("s") or word == "children"}
    nouns = (topic_words | {str(word) for word in ENGLISH_FILLERS["noun"]}) - plurals
    group_words = {
        word for names in setting.terms for name in names for word in load_wordset(name).words
    }
    planted_words = group_words | topic_words
    kinds: dict[str, tuple[Form, ...]] = dict.fromkeys(planted_words, ("capital", "upper"))
    kinds |= dict.fromkeys(nouns, ("capital", "upper", "plural"))
    return {
        word: [form for kind in kinds[word] if (form := word_form(word, kind))] for word in kinds
    }


def _change_forms(
    line: str, forms: Mapping[str, Sequence[str]], share: float, rng: np.random.Generator
) -> str:
    """Replace words that have other forms by one of them, at the rate ``share``."""
    words = line.split(" ")
    positions = [i for i, word in enumerate(words) if word in forms]
    for i, u in zip(positions, rng.random(len(positions)).tolist(), strict=True):
        if u < share:
            word_forms = forms[words[i]]
            words[i] = word_forms[int(u / share * len(word_forms))]
    return " ".join(words)
