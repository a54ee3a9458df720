"""Hate speech: posts classified by a model on what a subject gives, and the gaps between groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from analysis.naming import describe_label
from corpora.kinds import PostChallenge, Source
from debias.base import Method, applied
from debias.unmodified import Unmodified
from extrinsic.crossval import read_posts, split_posts
from extrinsic.gaps import Gaps
from extrinsic.kinds import Classifier, CrossValidated, LanguageTagger, Tagger, needs_of
from files import InputError, choice
from files.choice import Fileless, Whole
from files.language import UNDETERMINED, language_of
from train.parts.check_posts import (
    check_challenge,
    check_posts,
    describe_agreement,
    describe_groups,
    describe_oddities,
    groups_in_language,
    require_language_of_source,
)
from train.parts.encodings import encoded
from train.parts.posts import (
    POSTS,
    build_posts,
    encode_posts,
    load_challenge,
    measure_challenge,
    measure_gaps,
    predict,
    predict_challenge,
)

if TYPE_CHECKING:
    from intrinsic.wordsets import Query
    from train.parts.part import Facts, Findings, Stages
    from train.store import Stage


@choice
class HateSpeech(Fileless):
    """Posts from ``source``, tagged by ``groups`` where the source does not say whom they are
    about, and a ``classifier`` on what it needs of the subject: vectors, an encoder or a model.

    ``challenge``: posts of another origin, on which it is tested instead of on the test posts of
    the source, or on posts of its own by cross-validation. They come with their groups.

    ``name`` is the task in the tables. ``replicate``: further classifiers on the same embedding and
    posts, which show how far a gap is that of one training run. ``labels``: a method
    that changes the posts that are learned from (see ``debias.labels``); at dose 0 it is left out.
    """

    source: Source
    groups: Tagger
    classifier: Classifier
    gaps: Gaps
    name: str = "hatespeech_en"
    replicate: Whole = 0
    challenge: PostChallenge | None = None
    labels: Method = Unmodified()

    version: ClassVar[int] = 1
    # What a challenge set must have, and such as have it
    challenges: ClassVar[tuple[str, str]] = (
        "posts",
        "generated_templates, hatecheck, identity_templates or csv",
    )

    def __post_init__(self) -> None:
        if self.labels.acts_on not in ("none", "labels"):
            raise InputError(
                f"labels={self.labels.name} acts on the {self.labels.acts_on}; choose a method on"
                " labels, such as labels=resample"
            )
        if self.challenge:
            require_language_of_source(self.source, self.challenge)
        if self._tagged:
            object.__setattr__(self, "groups", groups_in_language(self.groups, self.source))

    @property
    def needs(self) -> tuple[str, ...]:
        """What the classifier needs."""
        return (needs_of(self.classifier),)

    @property
    def language(self) -> str:
        """That of the posts."""
        return language_of(self.source)

    @property
    def compared(self) -> tuple[str, ...]:
        """The groups that the gaps name."""
        return (*self.gaps.named, *self.gaps.groups)

    @property
    def relabelled(self) -> bool:
        """Whether the posts to learn from are changed."""
        return applied(self.labels).dose != 0

    def facts(self) -> Facts:
        """The columns task, source, positive_class, challenge and challenge_positive_class where
        there is one, classifier, replicate, label_method, label_direction, label_dose, generated
        and what is planted in the labels.
        """
        tested: Facts = {}
        if self.challenge:
            label = self.challenge.positive_class
            tested = {"challenge": self.challenge.name, "challenge_positive_class": label}
        return {
            "task": self.name,
            "source": self.source.name,
            "positive_class": self.source.positive_class,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            **tested,
            **{f"label_{name}": value for name, value in applied(self.labels)._asdict().items()},
            **self.source.planted(),
            "generated": self.source.generated or bool(self.challenge and self.challenge.generated),
        }

    def build_steps(self, steps: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Posts, groups where they must be tagged, what is learned from them where that is changed,
        predictions, and the gap table.
        """
        posts = build_posts(steps, self.source, self.groups if self._tagged else None)
        learned = self.labels.build_steps(steps, {"labels": posts}) if self.relabelled else posts
        [needs] = self.needs
        asked = {"posts": posts}
        drawn = f"predictions/{self.replicate}" if self.replicate else ""
        if self.challenge:
            asked["challenge"] = steps("challenge", self.challenge, load_challenge)
        read = {**asked, "posts": learned, needs: subject[needs]}
        if needs == "encoder":
            read |= encoded(steps, self.source, encode_posts, subject[needs], asked, POSTS)
        if self.challenge:
            predictions = steps(
                "predictions", self.classifier, predict_challenge, read, drawn=drawn
            )
            tested = {"predictions": predictions, "challenge": asked["challenge"]}
            return steps("extrinsic", self.gaps, measure_challenge, tested)
        predictions = steps("predictions", self.classifier, predict, read, drawn=drawn)
        tested = {"predictions": predictions, "posts": posts}
        return steps("extrinsic", self.gaps, measure_gaps, tested)

    @property
    def _tagged(self) -> bool:
        """Whether the groups of the source's posts are asked for, and it does not have them."""
        return not self.source.grouped and (self.relabelled or not self.challenge)

    def check(self, queries: Sequence[Query] = ()) -> None:
        """Read the posts as far as it takes to find what is wrong; see ``check_posts``."""
        groups = self.groups if self._tagged else None
        check_posts(self.source, groups, None if self.challenge else self.gaps)
        if self.challenge:
            check_challenge(self.challenge, self.gaps)

    def inspect(self, found: Findings) -> None:
        """Posts that were left out or repeat others, and groups with too few. Raises ``InputError``
        for what cannot be cross-validated.
        """
        posts = self.source.load(seed=0)
        found.lines += [describe_label(self.source.positive_class), *describe_oddities(posts)]
        if isinstance(self.classifier, CrossValidated):
            next(split_posts(read_posts(posts), folds=self.classifier.folds, seed=0))
        if self.source.grouped:
            how = repr(getattr(self.source, "group", self.source.name))
            if "pair" not in self.gaps.compare:
                pair = "for a pair of them give --privileged GROUP --unprivileged GROUP"
                found.warnings.append(f"each group is compared with all others; {pair}")
        else:
            posts, how = self.groups.tag(posts), f"the words of {self.groups.name}"
        describe_groups(posts, how, self.gaps, found)

    def remarks(self, find: Callable[[str], Path | None]) -> list[str]:
        """What is odd about posts that are not generated; and where their groups are annotated, how
        often words would find them.
        """
        lines = []
        given = {POSTS: self.source, "challenge": self.challenge}
        for step, data in given.items():
            folder = find(step) if data and not data.generated else None
            if data is None or folder is None:
                continue
            posts = pd.read_parquet(folder / "posts.parquet")
            said = describe_oddities(posts) if data is self.source else []
            if data is self.challenge or self.source.grouped:
                said += self._agreement(posts, data)
            option = "source" if data is self.source else "challenge"
            lines += [f"{option}={data.name}: {line}" for line in said]
        return lines

    def _agreement(self, posts: pd.DataFrame, data: Source | PostChallenge) -> list[str]:
        words = self.groups
        if isinstance(words, LanguageTagger):
            with suppress(InputError):  # there are none in that language
                words = words.in_language(language_of(data))
        if language_of(words) not in (language_of(data), UNDETERMINED):
            return []
        return describe_agreement(posts, words)
