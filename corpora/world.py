r"""The generated world: text in which the strength of each bias is a known parameter. Never
evidence about the real world.

Two parameters are planted, independently of one another: ``stereotype``, how strongly gender and
topic words keep company in the corpus (what intrinsic metrics should find), and ``label_bias``, how
far the labels treat posts about women and men differently (what gaps should find). The words are
those of WEAT 6b, 7 and 8, lower-cased, so that the metrics need no word sets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from corpora import grammar
from corpora.draws import fill, pick, quota
from corpora.generated_posts import draw_posts, labels
from corpora.vocabulary import TOPICS, World, make_world
from files import InputError, atomic_path

if TYPE_CHECKING:
    from datasets import Dataset

# Lines made at once: memory stays constant, and every block holds the planted proportions
BLOCK = 30_000

# Shares of the lines. Lines where gender meets a topic are a minority: taking out some 5% of a
# corpus must be able to move its bias.
SHARES = {"gendered_topic": 0.22, "topic": 0.13, "gender": 0.05, "post": 0.25, "chatter": 0.35}
SPLITS = {"train": 0.6, "dev": 0.1, "test": 0.3}


@dataclass(frozen=True)
class GeneratedCorpus:
    r"""An unlabelled corpus of ``sentences`` lines with a planted ``stereotype`` in [-1, 1].

    In lines where a gender meets a topic word w,

        P(male | w) = (1 + l_w) / 2,    l_w = (sign_w * stereotype + e_w) / 2

    with sign_w = +1 for career, maths and science, -1 for family and the arts. e_w is w's own lean:
    evenly spread over [-1, 1] within each WEAT list and dealt out by the seed, so that effect sizes
    are graded instead of jumping from -2 to 2. Over the lines, P(male | sign +1) - P(male | sign
    -1) = stereotype / 2: 0 is unbiased, positive is the stereotype, negative its reverse. Male and
    female words are equally frequent at any stereotype. ``seed`` decides the own leans and every
    draw; the same seed gives the same bytes.
    """

    sentences: int = 30_000
    stereotype: float = 0.5

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    name: ClassVar[str] = "generated"

    def __post_init__(self) -> None:
        check_strength("stereotype", self.stereotype)
        check_size("sentences", self.sentences, 1_000)

    def files(self) -> list[Path]:
        """No input files: the text is made from the parameters and the seed alone."""
        return []

    def leans(self, *, seed: int) -> dict[str, float]:
        """The planted truth: l_w of every topic word w, in [-1, 1]; positive = male company."""
        world = make_world(seed)
        return {
            word: float(lean)
            for topic in TOPICS
            for word, lean in zip(
                world.topics[topic], world.leans(topic, self.stereotype), strict=True
            )
        }

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus and return its counts: lines, tokens, types, unknown (0), dropped
        (0).
        """
        tokens, types = 0, set()
        with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
            for block in self._blocks(seed):
                for line in block:
                    words = line.split(" ")
                    tokens += len(words)
                    types.update(words)
                text.write("\n".join(block) + "\n")
        return {
            "lines": self.sentences,
            "tokens": tokens,
            "types": len(types),
            "unknown": 0,
            "dropped": 0,
        }

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        world = make_world(seed)
        for number, start in enumerate(range(0, self.sentences, BLOCK)):
            rng = np.random.default_rng([seed, number])
            yield corpus_lines(world, self.stereotype, min(BLOCK, self.sentences - start), rng)


@dataclass(frozen=True)
class GeneratedPosts:
    r"""Labelled posts about men, women or nobody (groups ``male``, ``female``, ``none``), with a
    planted ``label_bias`` in [-1, 1].

    Splits: 60% train, 10% dev, 30% test. 40% of the posts in every group are hateful. The labels of
    test are always right. In train and dev, for label_bias b > 0, a share 0.6 b of the hateful
    posts about women is labelled 0 (missed abuse: recall gap male - female > 0) and a share 0.3 b
    of the benign ones is labelled 1 (precision gap > 0); b < 0 does the same to men; at 0 the
    groups are treated alike.

    The texts depend on ``seed`` and ``posts`` alone, and topic words are equally frequent in posts
    about men and women, so that ``label_bias`` is independent of a corpus's ``stereotype``.
    """

    posts: int = 4_000
    label_bias: float = 0.0

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    name: ClassVar[str] = "generated"

    def __post_init__(self) -> None:
        check_strength("label_bias", self.label_bias)
        check_size("posts", self.posts, 400)

    def files(self) -> list[Path]:
        """No input files: the posts are made from the parameters and the seed alone."""
        return []

    def load(self, *, seed: int) -> Dataset:
        """The posts as a ``datasets.Dataset`` with columns id, text, label, group, split."""
        from datasets import Dataset  # slow to import, and a corpus does without it

        return Dataset.from_pandas(self.frame(seed=seed), preserve_index=False)

    def frame(self, *, seed: int) -> pd.DataFrame:
        """The same as a table."""
        world = make_world(seed)
        sizes = np.bincount(
            quota(list(SPLITS.values()), self.posts, np.random.default_rng(seed)),
            minlength=len(SPLITS),
        )
        frames = []
        for number, (split, size) in enumerate(zip(SPLITS, sizes, strict=True)):
            posts = draw_posts(
                world, int(size), np.random.default_rng([seed, number, 0]), topics=True
            )
            bias = 0.0 if split == "test" else self.label_bias
            frames.append(
                posts.assign(
                    label=labels(posts, bias, np.random.default_rng([seed, number, 1])), split=split
                )
            )
        table = pd.concat(frames, ignore_index=True)
        return table.assign(id=[f"g{i}" for i in range(self.posts)])[
            ["id", "text", "label", "group", "split"]
        ]


def check_strength(name: str, value: float) -> None:
    if not -1 <= value <= 1:
        raise InputError(
            f"{name}={value} is out of range; give a number from -1 to 1, where 0 plants no bias"
        )


def check_size(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise InputError(
            f"{name}={value} cannot hold the planted proportions; give a whole number of at least"
            f" {least}"
        )


def corpus_lines(world: World, stereotype: float, size: int, rng: np.random.Generator) -> list[str]:
    """One block of the corpus: ``size`` lines of every kind, in random order."""
    sizes = dict(
        zip(
            SHARES,
            np.bincount(quota(list(SHARES.values()), size, rng), minlength=len(SHARES)),
            strict=True,
        )
    )
    weights = [weight for _, weight in TOPICS.values()]
    lines: list[str] = []
    for kind, maker in (("gendered_topic", _gendered_topic_lines), ("topic", _topic_lines)):
        parts = np.bincount(quota(weights, sizes[kind], rng), minlength=len(weights))
        for topic, part in zip(TOPICS, parts, strict=True):
            lines += maker(world, topic, stereotype, int(part), rng)
    lines += _gender_lines(world, int(sizes["gender"]), rng)
    lines += draw_posts(world, int(sizes["post"]), rng, topics=False)["text"].tolist()
    lines += fill(pick(grammar.CHATTER, int(sizes["chatter"]), rng), {}, rng)
    return [lines[i] for i in rng.permutation(len(lines))]


def _gendered_topic_lines(
    world: World, topic: str, stereotype: float, size: int, rng: np.random.Generator
) -> list[str]:
    """Lines with one topic word and two gender words of one gender, in the planted proportions."""
    words = world.topics[topic]
    word = np.arange(size) % len(words)
    rank, times = np.arange(size) // len(words), np.bincount(word, minlength=len(words))
    female = (rank + 0.5) / times[word] >= (1 + world.leans(topic, stereotype)[word]) / 2
    company = world.company(topic)
    slots = {
        "one": world.gender_words(female, company, rng),
        "other": world.gender_words(female, company, rng),
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
    if topic in grammar.SCENES:
        return fill(
            pick(scenic, size, rng), slots | {"scene": pick(grammar.SCENES[topic], size, rng)}, rng
        )
    return fill(pick(plain, size, rng), slots, rng)


def _gender_lines(world: World, size: int, rng: np.random.Generator) -> list[str]:
    female = np.arange(size) % 2 == 1
    even = np.ones(len(world.pairs))
    slots = {
        "one": world.gender_words(female, even, rng),
        "other": world.gender_words(female, even, rng),
    }
    return fill(pick(grammar.GENDER, size, rng), slots, rng)
