"""Word sets that come from the posts a task learns from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import pandas as pd

from corpora.kinds import PostChallenge, Source, Unsplit
from debias.base import WORDS, S, Steps
from extrinsic.kinds import Tagger
from extrinsic.task_words import FROM_TASK, Limits, as_query, words_of_task
from files import InputError, choice
from files.choice import Count, Fileless, NotNegative, Positive
from files.language import UNDETERMINED, language_of
from intrinsic.wordsets import write_query
from train.parts.check_posts import groups_in_language
from train.parts.posts import build_posts

if TYPE_CHECKING:
    from train.parts.part import Inputs

EVIDENCE = "words.parquet"
TEST, ALL = "test", "all"


@choice
class TaskWords(Fileless):
    """The query ``from_task``: X and Y the words of posts about the ``privileged`` and the
    ``unprivileged`` group, A and B those of posts with label 0 and 1, by the log-odds of
    ``extrinsic.task_words``, from the training posts alone.

    ``source``, ``groups`` and ``challenge`` are the task's own, so that its steps are shared.
    Without a source it has no posts, and its words cannot be asked for; with a challenge, which is
    what it is tested on, all posts of a source without a split are learned from. size, min_posts,
    min_z, prior: see ``extrinsic.task_words.Limits``.
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
    # The result of the first two is the input; of the third see keyed
    unkeyed: ClassVar[tuple[str, ...]] = ("source", "groups", "challenge")

    @property
    def language(self) -> str:
        """That of the posts."""
        return language_of(self.source) if self.source else UNDETERMINED

    def keyed(self) -> Mapping[str, object]:
        """What the word sets say of the posts; whether those without a split are learned from."""
        of = {"language": self.language, "of": self.source.name if self.source else ""}
        return of | ({"learned": "all"} if self.challenge else {})

    def in_language(self, language: str) -> Self:
        """The same: they are in the language of the posts."""
        return self

    def require_roles(self, roles: Sequence[str]) -> None:
        """Nothing is missing: there are X, Y, A and B."""

    def build_steps(self, steps: Steps[S], vectors: S | None = None) -> S:
        """The step that ends in ``words.yaml``. Raises ``InputError`` where no posts are set apart
        to be learned from.
        """
        if self.source is None:
            raise InputError(
                f"{FROM_TASK} takes words from a task's posts, and there are none; choose"
                " task=hatespeech_en and a source, or other words"
            )
        unsplit = isinstance(self.source, Unsplit) and self.source.cross_validated
        if unsplit and not self.challenge:
            raise _no_training(self.source.name)
        groups = None if self.source.grouped else groups_in_language(self.groups, self.source)
        posts = build_posts(steps, self.source, groups)
        return steps("words", self, draw_words, {"posts": posts})


def draw_words(words: TaskWords, out: Path, inputs: Inputs, seed: int) -> None:
    """``words.yaml``, the query, and ``words.parquet``, the evidence for each word."""
    assert words.source is not None
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    if (posts["split"] == ALL).any() and not words.challenge:
        raise _no_training(words.source.name)
    limits = Limits(words.size, words.min_posts, words.min_z, words.prior)
    groups = (words.privileged, words.unprivileged)
    found = words_of_task(posts[posts["split"] != TEST], groups, limits)
    found.insert(0, "query", FROM_TASK)
    found.to_parquet(out / EVIDENCE, index=False)
    query = as_query(found, language=words.language, name=words.source.name)
    write_query(query, out / WORDS)


def _no_training(source: str) -> InputError:
    return InputError(
        f"source={source} is cross-validated, so that every post is a test item, and"
        f" {FROM_TASK} never looks at these; hold some out, such as source.test_share=0.3"
    )
