"""Word sets drawn from the training posts of a task, and whether queries compare men and women."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import pandas as pd

from biasbridge.corpora.protocols import MaybeCrossValidated, PostChallenge, Source
from biasbridge.debias.base import WORDS, S, StepBuilder
from biasbridge.extrinsic.protocols import Tagger
from biasbridge.extrinsic.task_words import FROM_TASK, WordLimits, as_query, extract_task_words
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, NotNegative, Positive
from biasbridge.files.language import UNDETERMINED, language_of
from biasbridge.intrinsic.words import load_query, write_query
from biasbridge.train.tasks.posts import build_posts, groups_in_language

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query, WordSet
    from biasbridge.train.engine.steps import Inputs


_GENDER_MENTIONS = ("gender_mentions", "gender_mentions_es")
_SIDES = (("X", "Y"), ("A", "B"))

EVIDENCE = "words.parquet"
TEST, ALL = "test", "all"


def compares_genders(queries: Iterable[Query]) -> bool:
    """Test whether there are queries and all compare words for men with words for women.

    At least half of the words of each set must be in the lists by which posts are tagged.
    """
    all_queries = list(queries)
    return bool(all_queries) and all(
        any(_opposes_genders(query, *pair) for pair in _SIDES) for query in all_queries
    )


def _opposes_genders(query: Query, first: str, second: str) -> bool:
    if not {first, second} <= query.sets.keys():
        return False
    sets = query[first], query[second]
    return any(
        all(_mostly(words, mentions) for words, mentions in zip(sets, sides, strict=True))
        for men, women in _mentions()
        for sides in ((men, women), (women, men))
    )


def _mostly(words: WordSet, mentions: frozenset[str]) -> bool:
    is_mention = [word.lower() in mentions for word in words.words]
    return sum(is_mention) * 2 >= len(is_mention) > 0


@cache
def _mentions() -> list[tuple[frozenset[str], frozenset[str]]]:
    word_lists = ([load_query(name)[role].words for role in "XY"] for name in _GENDER_MENTIONS)
    return [(frozenset(map(str.lower, x)), frozenset(map(str.lower, y))) for x, y in word_lists]


@choice
class TaskWords(Fileless):
    """The query ``from_task``, drawn from training posts (see ``biasbridge.extrinsic.task_words``).

    X, Y: words of posts about the ``privileged`` and ``unprivileged`` group; A, B: of posts with
    label 0 and 1. ``source``, ``groups`` and ``challenge`` are those of the task, so that its steps
    are shared; without a source there are no words. With a challenge all posts of an unsplit source
    are training posts. size, min_posts, min_z, prior: see
    ``biasbridge.extrinsic.task_words.WordLimits``.
    """

    source: Source | None
    groups: Tagger
    privileged: str = "male"
    unprivileged: str = "female"
    challenge: PostChallenge | None = None
    size: Count = 25
    min_posts: Count = 10
    min_z: NotNegative = 1.96
    prior: Positive = 1.0

    name: ClassVar[str] = FROM_TASK
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    # The first two are inputs of the step; for the third see keyed
    unkeyed: ClassVar[tuple[str, ...]] = ("source", "groups", "challenge")

    @property
    def language(self) -> str:
        """Language of the posts."""
        return language_of(self.source) if self.source else UNDETERMINED

    def keyed(self) -> Mapping[str, object]:
        """Return language and source of the posts, and whether unsplit posts are training posts."""
        params = {"language": self.language, "of": self.source.name if self.source else ""}
        return params | ({"learned": "all"} if self.challenge else {})

    def in_language(self, language: str) -> Self:
        """Return the same words: they are in the language of the posts."""
        return self

    def require_roles(self, roles: Sequence[str]) -> None:
        """Accept all roles: X, Y, A and B exist."""

    def build_steps(self, steps: StepBuilder[S], vectors: S | None = None) -> S:
        """Return the step of ``words.yaml``. Raises ``InputError`` without training posts."""
        if self.source is None:
            raise InputError(
                f"{FROM_TASK} takes words from a task's posts, and there are none; choose"
                " task=hatespeech_en and a source, or other words"
            )
        unsplit = isinstance(self.source, MaybeCrossValidated) and self.source.cross_validated
        if unsplit and not self.challenge:
            raise _no_training_posts(self.source.name)
        groups = None if self.source.grouped else groups_in_language(self.groups, self.source)
        posts = build_posts(steps, self.source, groups)
        return steps("words", self, _draw_words, {"posts": posts})


def _draw_words(words: TaskWords, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``words.yaml``, the query, and ``words.parquet``, the evidence for each word."""
    assert words.source is not None
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    if (posts["split"] == ALL).any() and not words.challenge:
        raise _no_training_posts(words.source.name)
    limits = WordLimits(words.size, words.min_posts, words.min_z, words.prior)
    groups = (words.privileged, words.unprivileged)
    evidence = extract_task_words(posts[posts["split"] != TEST], groups, limits)
    evidence.insert(0, "query", FROM_TASK)
    evidence.to_parquet(out / EVIDENCE, index=False)
    query = as_query(evidence, language=words.language, name=words.source.name)
    write_query(query, out / WORDS)


def _no_training_posts(source: str) -> InputError:
    return InputError(
        f"source={source} is cross-validated: every post is a test item, and {FROM_TASK} uses"
        " training posts only; hold some posts out, such as source.test_share=0.3"
    )
