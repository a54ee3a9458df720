"""Hate speech: posts classified by a model on frozen vectors, and the gaps between two groups."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from corpora.kinds import CheckedSource, Source
from extrinsic.gaps import Gaps, gap_table
from extrinsic.kinds import Classifier, Tagger
from extrinsic.tagger import MentionTagger
from files import InputError, choice, nearest
from files.choice import Fileless, Whole
from files.language import (
    UNDETERMINED,
    guess_language,
    language_of,
    require_one_language,
)
from intrinsic.wordsets import in_language
from train.device import one_thread

if TYPE_CHECKING:
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage


MOST_NAMED = 10


@choice
class HateSpeech(Fileless):
    """Posts from ``source``, tagged by ``groups`` where the source does not say whom they are
    about, and a ``classifier`` on the subject's vectors.

    ``name`` stands for the task in the tables. ``replicate``: further classifiers on the same
    embedding and posts, which tell how far a gap is that of one training run.
    """

    source: Source
    groups: Tagger
    classifier: Classifier
    gaps: Gaps
    name: str = "hatespeech_en"
    replicate: Whole = 0

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    def __post_init__(self) -> None:
        if not self.source.grouped:
            object.__setattr__(self, "groups", _following(self.groups, self.language))
            remedy = "take groups of the posts' language, such as groups=gender_es"
            told = {
                f"source={self.source.name}": self.source,
                f"groups={self.groups.name}": self.groups,
            }
            require_one_language(told, remedy)

    def check(self) -> None:
        """Read the posts as far as it takes to find what is wrong with the file or the options.

        Raises ``InputError`` as the source does, for a group that no post belongs to, and for posts
        that look to be in another language than the words by which their groups are told.
        """
        if not isinstance(self.source, CheckedSource):
            return
        posts = self.source.check()
        if self.source.grouped:
            self._check_groups(sorted(set(posts["group"])))
        elif (words := language_of(self.groups)) != UNDETERMINED != self.language:
            return
        else:
            tokens = (token for text in posts["text"] for token in str(text).lower().split())
            seen = guess_language(tokens)
            if UNDETERMINED not in (seen, words) and seen != words:
                looks = f"the posts of source={self.source.name} look to be in {seen!r}"
                told = f"groups={self.groups.name} are words of {words!r}"
                raise InputError(f"{looks}, and {told}; give language={seen}, or {words} if not")

    def _check_groups(self, there: list[str]) -> None:
        for name in ("privileged", "unprivileged"):
            group: str = vars(self.gaps)[name]
            if group not in there:
                lacks = f"gaps.{name}={group}: no post of source={self.source.name} has that group"
                raise InputError(f"{lacks}{nearest(group, there)}; there are {_some(there)}")

    @property
    def language(self) -> str:
        """That of the posts."""
        return language_of(self.source)

    def facts(self) -> Facts:
        """The columns task, source, classifier, replicate, generated and what is planted in the
        labels.
        """
        return {
            "task": self.name,
            "source": self.source.name,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            **self.source.planted(),
            "generated": self.source.generated,
        }

    def lay(self, stages: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Posts, groups where they must be tagged, predictions, and the gap table."""
        posts = stages("posts", self.source, load_posts)
        if not self.source.grouped:
            posts = stages("tagged", self.groups, tag_posts, {"posts": posts})
        predictions = stages(
            "predictions",
            self.classifier,
            predict,
            {"posts": posts, "vectors": subject["vectors"]},
            drawn=f"predictions/{self.replicate}" if self.replicate else "",
        )
        return stages(
            "extrinsic", self.gaps, measure_gaps, {"predictions": predictions, "posts": posts}
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:MOST_NAMED], "..."] if len(names) > MOST_NAMED else names)


def _following(groups: Tagger, language: str) -> Tagger:
    """The tagger; by the built-in words of the posts' language where it is one by such words."""
    if not isinstance(groups, MentionTagger) or groups.file or not groups.query:
        return groups
    if UNDETERMINED in (language, groups.language):
        return groups
    return replace(groups, query=in_language([groups.query], language)[0])


def load_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ``group_by`` says where the groups come from."""
    posts = source.load(seed=seed)
    (posts.assign(group_by="annotation") if source.grouped else posts).to_parquet(
        out / "posts.parquet"
    )


def tag_posts(tagger: Tagger, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet`` with a group for each post."""
    tagged = tagger.tag(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    tagged.assign(group_by=f"tagger: {tagger.description}").to_parquet(out / "posts.parquet")


def predict(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post."""
    from files.vectors import open_mapped

    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    vectors = open_mapped(inputs["vectors"] / "vectors")
    with one_thread():
        predicted = classifier.predict(posts, vectors, seed=seed)
    known = coverage(posts["text"], vectors.key_to_index)
    told = predicted.assign(group_by=posts["group_by"].iloc[0], coverage=known)
    told.to_parquet(out / "predictions.parquet")


def coverage(texts: Iterable[str], vocabulary: Container[str]) -> float:
    """The share of the tokens of tokenised texts that have a vector, as written or in lower case;
    NaN where there are none.
    """
    tokens = [token for text in texts for token in text.split()]
    found = sum(token in vocabulary or token.lower() in vocabulary for token in tokens)
    return found / len(tokens) if tokens else math.nan


def measure_gaps(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: the measures of each group and the signed gaps, each with its interval
    and support.
    """
    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet", columns=["id", "text"])
    # The text says which post it is: sources deal other ids for another seed
    known = predicted.assign(id=predicted["id"].map(posts.set_index("id")["text"]))
    table = gap_table(known, gaps)
    names = [name for name in ("group_by", "coverage") if name in predicted]
    told = {name: predicted[name].iloc[0] for name in names}
    table.assign(**told).to_parquet(out / "scores.parquet")
