"""Hate speech: a classifier of posts on a subject's vectors or encoder, and gaps between groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from biasbridge.analysis.naming import describe_label
from biasbridge.corpora.protocols import PostChallenge, Source
from biasbridge.debias.base import Method, Unmodified, method_label
from biasbridge.extrinsic.crossval import read_posts, split_posts
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.protocols import Classifier, Tagger, required_input
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.files.language import language_of
from biasbridge.train.engine.scores import encoding_inputs
from biasbridge.train.tasks.posts import (
    CHALLENGE,
    POSTS,
    build_posts,
    check_challenge,
    check_posts,
    copies_of_cases,
    describe_groups,
    describe_text_problems,
    encode_posts,
    groups_in_language,
    load_challenge,
    measure_challenge,
    measure_gaps,
    predict,
    predict_challenge,
    require_language_of_source,
)

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query
    from biasbridge.train.engine.steps import DataReport, Facts, StepBuilder
    from biasbridge.train.engine.store import Step


@choice
class HateSpeech(Fileless):
    """Posts from ``source`` and a ``classifier`` on the subject's vectors, encoder or model.

    ``groups`` tags the posts unless the source has groups. ``challenge``: posts of another origin,
    with groups, that replace the source's test posts or cross-validation. ``name``: the task in the
    tables. ``replicate``: number of a further classifier on the same embedding and posts, to
    measure variation between training runs. ``labels``: a method that changes the training posts
    (see ``biasbridge.debias.labels``); at dose 0 it is left out.
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
    # Method that challenge sets must have, and examples
    challenges: ClassVar[tuple[str, str]] = (
        "posts",
        "equity_evaluation, generated_templates, hatecheck, identity_templates or csv",
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
        """Step that the classifier needs."""
        return (required_input(self.classifier),)

    @property
    def language(self) -> str:
        """Language of the posts."""
        return language_of(self.source)

    @property
    def compared(self) -> tuple[str, ...]:
        """Groups that the gaps name."""
        return (*self.gaps.named, *self.gaps.groups)

    @property
    def relabelled(self) -> bool:
        """Whether the training posts are changed."""
        return method_label(self.labels).dose != 0

    def facts(self) -> Facts:
        """Return the columns of the points table."""
        challenge_facts: Facts = {}
        if self.challenge:
            label = self.challenge.positive_class
            challenge_facts = {"challenge": self.challenge.name, "challenge_positive_class": label}
        return {
            "task": self.name,
            "source": self.source.name,
            "positive_class": self.source.positive_class,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            **challenge_facts,
            **{
                f"label_{name}": value
                for name, value in method_label(self.labels)._asdict().items()
            },
            **self.source.parameters(),
            "generated": self.source.generated or bool(self.challenge and self.challenge.generated),
        }

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the gap table, from posts, groups, changed training posts and predictions."""
        posts = build_posts(steps, self.source, self.groups if self._tagged else None)
        training_posts = (
            self.labels.build_steps(steps, {**subject, "labels": posts})
            if self.relabelled
            else posts
        )
        [needs] = self.needs
        post_steps = {"posts": posts}
        drawn = f"predictions/{self.replicate}" if self.replicate else ""
        if self.challenge:
            post_steps["challenge"] = steps(CHALLENGE, self.challenge, load_challenge)
        inputs = {**post_steps, "posts": training_posts, needs: subject[needs]}
        if needs == "encoder":
            inputs |= encoding_inputs(
                steps, self.source, encode_posts, subject[needs], post_steps, POSTS
            )
        if self.challenge:
            predictions = steps(
                "predictions", self.classifier, predict_challenge, inputs, drawn=drawn
            )
            gap_inputs = {"predictions": predictions, "challenge": post_steps["challenge"]}
            return steps("extrinsic", self.gaps, measure_challenge, gap_inputs)
        predictions = steps("predictions", self.classifier, predict, inputs, drawn=drawn)
        gap_inputs = {"predictions": predictions, "posts": posts}
        return steps("extrinsic", self.gaps, measure_gaps, gap_inputs)

    @property
    def _tagged(self) -> bool:
        """Whether posts must be tagged: the source has no groups, and they are needed."""
        return not self.source.grouped and (self.relabelled or not self.challenge)

    def check(self, queries: Sequence[Query] = ()) -> None:
        """Read the posts as far as needed to find errors (see ``check_posts``)."""
        groups = self.groups if self._tagged else None
        check_posts(self.source, groups, None if self.challenge else self.gaps)
        if self.challenge:
            check_challenge(self.challenge, self.gaps)

    def inspect(self, report: DataReport) -> None:
        """Report omitted and duplicate posts and small groups; raise ``InputError`` as a run."""
        posts = self.source.load(seed=0)
        report.lines += [describe_label(self.source.positive_class), *describe_text_problems(posts)]
        if folds := getattr(self.classifier, "folds", None):
            next(split_posts(read_posts(posts), folds=folds, seed=0))
        if self.source.grouped:
            group_source = repr(getattr(self.source, "group", self.source.name))
            if "pair" not in self.gaps.compare:
                remedy = "to compare two give --privileged GROUP --unprivileged GROUP"
                report.warnings.append(f"each group is compared with all others; {remedy}")
        else:
            posts, group_source = self.groups.tag(posts), f"the words of {self.groups.name}"
        describe_groups(posts, group_source, self.gaps, report)

    def warnings(self, find: Callable[[str], Path | None]) -> list[str]:
        """Return warnings about the texts of real posts."""
        folder = None if self.source.generated else find(POSTS)
        if folder is None:
            return []
        posts = pd.read_parquet(folder / "posts.parquet")
        lines = describe_text_problems(posts)
        if self.challenge and (of_challenge := find(CHALLENGE)):
            cases = pd.read_parquet(of_challenge / "posts.parquet")
            n_copies = int(copies_of_cases(posts, cases).sum())
            left_out = f"with a text of challenge={self.challenge.name}: not trained on"
            lines += [f"{n_copies:,} of {len(posts):,} posts {left_out}"] if n_copies else []
        return [f"source={self.source.name}: {line}" for line in lines]
