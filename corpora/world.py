r"""The synthetic world: text whose biases are parameters. Never evidence about the real world.

Two parameters are planted, independently of one another: ``stereotype``, how strongly two groups
and topics co-occur in the corpus (what intrinsic metrics should find), and ``label_bias``, how far
the labels treat posts about either group differently (what gaps should find). ``world`` says which
groups, topics and language (``corpora.world_words.SETTINGS``):

    en_gender    male and female; career, maths and science (+), family and the arts (-); the words
                 are those of WEAT 6b, 7 and 8
    es_gender    the same groups in Spanish; science and pleasant words (+), the arts and unpleasant
                 ones (-), those of the queries gender_es and gender_pleasant_es
    es_migrants  local and migrant, spoken of by their names; pleasant words (+) and unpleasant ones
                 (-), those of migrant_es

all lower-cased, so that the metrics need no word sets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from annotated_types import Ge, Le

from corpora.draws import apportion
from corpora.generated_lines import draw_lines
from corpora.generated_posts import bias_labels, draw_posts
from corpora.kinds import HATE_SPEECH
from corpora.world_words import SETTINGS, list_words, make_world
from files import atomic_path, choice
from files.choice import Fileless
from files.digest import digest_of

Bias = Annotated[float, Ge(-1), Le(1)]  # 0 plants none
WorldName = Literal["en_gender", "es_gender", "es_migrants"]

# Lines made at once: memory stays constant, and every block holds the planted proportions
BLOCK = 30_000

SPLIT_SHARES = {"train": 0.6, "dev": 0.1, "test": 0.3}


class OfWorld(Fileless):
    """Base of data of the synthetic world, in the words of ``world``."""

    world: WorldName

    generated: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """``generated`` and the world."""
        return f"generated_{self.world}"

    @property
    def language(self) -> str:
        """That of the world."""
        return SETTINGS[self.world].language

    def keyed(self) -> Mapping[str, object]:
        """The words that the world is made of."""
        return {"words": digest_of(list_words(SETTINGS[self.world]))}


@choice
class GeneratedCorpus(OfWorld):
    r"""An unlabelled corpus of ``sentences`` lines with a planted ``stereotype`` in [-1, 1].

    In lines where a group meets a topic word w,

        P(first group | w) = (1 + l_w) / 2,    l_w = (sign_w * stereotype + e_w) / 2

    with sign_w = +1 for the topics that stereotype gives to the first group (of ``world``: male, or
    local) and -1 for the others. e_w is w's own lean: evenly spread over [-1, 1] within each word
    set and dealt out by the seed, so that effect sizes are graded instead of jumping from -2 to 2.
    Over the lines, P(first | sign +1) - P(first | sign -1) = stereotype / 2: 0 is unbiased,
    positive is the stereotype, negative its reverse. The words of both groups are equally frequent
    at any stereotype. ``seed`` decides the own leans and every draw; the same seed gives the same
    bytes.
    """

    sentences: Annotated[int, Ge(1_000)] = 30_000  # fewer cannot hold the planted proportions
    stereotype: Bias = 0.5
    world: WorldName = "en_gender"

    version: ClassVar[int] = 1

    def planted(self) -> Mapping[str, float]:
        """``stereotype`` and ``sentences``."""
        return {"stereotype": self.stereotype, "sentences": self.sentences}

    def leans(self, *, seed: int) -> dict[str, float]:
        """The planted truth: l_w of every topic word w, in [-1, 1]; positive = first group."""
        world = make_world(SETTINGS[self.world], seed)
        leans: dict[str, float] = {}
        for topic, words in world.topics.items():
            values: list[float] = world.leans(topic, self.stereotype).tolist()
            leans |= zip(words, values, strict=True)
        return leans

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus; its counts: lines, tokens, types, unknown (0), dropped (0)."""
        tokens = 0
        types: set[str] = set()
        with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
            for block in self._blocks(seed):
                for line in block:
                    words = line.split(" ")
                    tokens += len(words)
                    types.update(words)
                text.write("\n".join(block) + "\n")
        counts = {"lines": self.sentences, "tokens": tokens, "types": len(types)}
        return counts | {"unknown": 0, "dropped": 0}

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        world = make_world(SETTINGS[self.world], seed)
        for number, start in enumerate(range(0, self.sentences, BLOCK)):
            rng = np.random.default_rng([seed, number])
            yield draw_lines(world, self.stereotype, min(BLOCK, self.sentences - start), rng)


@choice
class GeneratedPosts(OfWorld):
    r"""Labelled posts about either group of ``world`` (``male`` and ``female``, or ``local`` and
    ``migrant``) or nobody (``none``), with a planted ``label_bias`` in [-1, 1].

    Splits: 60% train, 10% dev, 30% test. 40% of the posts in every group are hateful. The labels of
    test are always right. In train and dev, for label_bias b > 0, a share 0.6 b of the hateful
    posts about the second group is labelled 0 (missed abuse: recall gap first - second > 0) and a
    share 0.3 b of the benign ones is labelled 1; b < 0 does the same to the first; at 0 the groups
    are treated alike.

    A precision gap of a certain sign is not planted: what is blamed lowers the precision of the
    second group, and what is missed raises it. At b = 0.8 (means and standard errors over seeds,
    vectors of 10,000 sentences; at b = 0 none differs from 0 by more than two of these):

        classifier, seeds   recall gap       precision gap     gap in false positives
        linear, 8           0.091 +- 0.008   -0.019 +- 0.007   -0.037 +- 0.007
        cnn, 5              0.075 +- 0.013    0.010 +- 0.007   -0.011 +- 0.008

    The texts do not depend on ``label_bias``, and topic words are equally frequent in posts about
    both groups, so that it is independent of a corpus's ``stereotype``.
    """

    posts: Annotated[int, Ge(400)] = 4_000  # fewer cannot hold the planted proportions
    label_bias: Bias = 0.0
    world: WorldName = "en_gender"

    version: ClassVar[int] = 1
    grouped: ClassVar[bool] = True
    positive_class: ClassVar[str] = HATE_SPEECH

    def planted(self) -> Mapping[str, float]:
        """``label_bias`` and ``posts``."""
        return {"label_bias": self.label_bias, "posts": self.posts}

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        setting = SETTINGS[self.world]
        world = make_world(setting, seed)
        sizes = apportion([*SPLIT_SHARES.values()], self.posts, np.random.default_rng(seed))
        frames = []
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            words, wrong = (np.random.default_rng([seed, number, i]) for i in range(2))
            posts = draw_posts(world, size, words, topics=True)
            bias = 0.0 if split == "test" else self.label_bias
            labels = bias_labels(posts, bias, setting.groups, wrong)
            frames.append(posts.assign(label=labels, split=split))
        table = pd.concat(frames, ignore_index=True)
        table["id"] = [f"g{i}" for i in range(self.posts)]
        return table[["id", "text", "label", "group", "split"]]
