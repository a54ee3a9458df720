"""Hate speech: posts classified by a model on frozen vectors, and the gaps between groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from corpora.kinds import PostChallenge, Source
from debias.kinds import LabelMethod, Method, direction_of, dose_of
from debias.unmodified import Unmodified
from extrinsic.gaps import Gaps
from extrinsic.kinds import Classifier, Tagger
from files import InputError, choice
from files.choice import Fileless, Whole
from files.language import language_of
from train.parts.challenge_posts import load_challenge, measure_challenge, predict_challenge
from train.parts.check_posts import (
    check_challenge,
    check_posts,
    groups_in_language,
    require_language_of_source,
)
from train.parts.classify_posts import measure_gaps, predict
from train.parts.posts import dose, lay_posts

if TYPE_CHECKING:
    from train.parts.part import Facts, Stages
    from train.store import Stage


@choice
class HateSpeech(Fileless):
    """Posts from ``source``, tagged by ``groups`` where the source does not say whom they are
    about, and a ``classifier`` on the subject's vectors.

    ``challenge``: posts of another origin, on which it is tested instead of on the test posts of
    the source, or on posts of its own by cross-validation. They come with their groups.

    ``name`` stands for the task in the tables. ``replicate``: further classifiers on the same
    embedding and posts, which tell how far a gap is that of one training run. ``labels``: a method
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
    needs: ClassVar[tuple[str, ...]] = ("vectors",)
    challenges: ClassVar[type] = PostChallenge

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

    def check(self) -> None:
        """Read the posts as far as it takes to find what is wrong; see ``check_posts``."""
        groups = self.groups if self._tagged else None
        check_posts(self.source, groups, None if self.challenge else self.gaps)
        if self.challenge:
            check_challenge(self.challenge, self.gaps)

    @property
    def language(self) -> str:
        """That of the posts."""
        return language_of(self.source)

    @property
    def relabelled(self) -> bool:
        """Whether the posts to learn from are changed."""
        return self.labels.acts_on != "none" and dose_of(self.labels) > 0

    def facts(self) -> Facts:
        """The columns task, source, positive_class, challenge and challenge_positive_class where
        there is one, classifier, replicate, label_method, label_direction, label_dose, generated
        and what is planted in the labels.
        """
        tested: Facts = {}
        if self.challenge:
            told = self.challenge.positive_class
            tested = {"challenge": self.challenge.name, "challenge_positive_class": told}
        return {
            "task": self.name,
            "source": self.source.name,
            "positive_class": self.source.positive_class,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            **tested,
            "label_method": self.labels.name if self.relabelled else "none",
            "label_direction": direction_of(self.labels) if self.relabelled else "",
            "label_dose": dose_of(self.labels) if self.relabelled else 0.0,
            **self.source.planted(),
            "generated": self.source.generated or bool(self.challenge and self.challenge.generated),
        }

    def lay(self, stages: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Posts, groups where they must be tagged, what is learned from them where that is changed,
        predictions, and the gap table.
        """
        posts = lay_posts(stages, self.source, self.groups if self._tagged else None)
        learned = posts
        if self.relabelled:
            learned = stages("labels", cast("LabelMethod", self.labels), dose, {"posts": posts})
        if self.challenge:
            return self._lay_challenge(stages, self.challenge, learned, subject["vectors"])
        predictions = stages(
            "predictions",
            self.classifier,
            predict,
            {"posts": learned, "vectors": subject["vectors"]},
            drawn=self._drawn,
        )
        return stages(
            "extrinsic", self.gaps, measure_gaps, {"predictions": predictions, "posts": posts}
        )

    def _lay_challenge(
        self, stages: Stages, challenge: PostChallenge, posts: Stage, vectors: Stage
    ) -> Stage:
        cases = stages("challenge", challenge, load_challenge)
        read = {"posts": posts, "challenge": cases, "vectors": vectors}
        predictions = stages(
            "predictions", self.classifier, predict_challenge, read, drawn=self._drawn
        )
        tested = {"predictions": predictions, "challenge": cases}
        return stages("extrinsic", self.gaps, measure_challenge, tested)

    @property
    def _tagged(self) -> bool:
        """Whether the groups of the source's posts are asked for, and it does not have them."""
        return not self.source.grouped and (self.relabelled or not self.challenge)

    @property
    def _drawn(self) -> str:
        return f"predictions/{self.replicate}" if self.replicate else ""
