"""Hate speech: posts classified by a model on frozen vectors, and the gaps between two groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

import pandas as pd

from corpora.kinds import Source
from debias.kinds import LabelMethod, Method, direction_of, dose_of
from debias.unmodified import Unmodified
from extrinsic.gaps import Gaps, gap_table
from extrinsic.kinds import Classifier, Tagger
from files import InputError, choice
from files.choice import Fileless, Whole
from files.language import language_of, require_one_language
from train.device import one_thread

if TYPE_CHECKING:
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage


@choice
class HateSpeech(Fileless):
    """Posts from ``source``, tagged by ``groups`` where the source does not say whom they are
    about, and a ``classifier`` on the subject's vectors.

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
    labels: Method = Unmodified()

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    def __post_init__(self) -> None:
        if self.labels.acts_on not in ("none", "labels"):
            raise InputError(
                f"labels={self.labels.name} acts on the {self.labels.acts_on}; choose a method on"
                " labels, such as labels=resample"
            )
        if not self.source.grouped:
            remedy = "take groups of the posts' language, such as groups=gender_es"
            told = {
                f"source={self.source.name}": self.source,
                f"groups={self.groups.name}": self.groups,
            }
            require_one_language(told, remedy)

    @property
    def language(self) -> str:
        """That of the posts."""
        return language_of(self.source)

    @property
    def relabelled(self) -> bool:
        """Whether the posts to learn from are changed."""
        return self.labels.acts_on != "none" and dose_of(self.labels) > 0

    def facts(self) -> Facts:
        """The columns task, source, classifier, replicate, label_method, label_direction,
        label_dose, generated and what is planted in the labels.
        """
        return {
            "task": self.name,
            "source": self.source.name,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            "label_method": self.labels.name if self.relabelled else "none",
            "label_direction": direction_of(self.labels) if self.relabelled else "",
            "label_dose": dose_of(self.labels) if self.relabelled else 0.0,
            **self.source.planted(),
            "generated": self.source.generated,
        }

    def lay(self, stages: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Posts, groups where they must be tagged, what is learned from them where that is changed,
        predictions, and the gap table.
        """
        posts = lay_posts(stages, self.source, self.groups)
        learned = posts
        if self.relabelled:
            learned = stages("labels", cast("LabelMethod", self.labels), dose, {"posts": posts})
        predictions = stages(
            "predictions",
            self.classifier,
            predict,
            {"posts": learned, "vectors": subject["vectors"]},
            drawn=f"predictions/{self.replicate}" if self.replicate else "",
        )
        return stages(
            "extrinsic", self.gaps, measure_gaps, {"predictions": predictions, "posts": posts}
        )


def lay_posts(stages: Stages, source: Source, groups: Tagger) -> Stage:
    """The posts with their groups."""
    posts = stages("posts", source, load_posts)
    return posts if source.grouped else stages("tagged", groups, tag_posts, {"posts": posts})


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


def dose(method: LabelMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet`` with columns that say how posts are learned from."""
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    method.train_on(posts, seed=seed).to_parquet(out / "posts.parquet")


def predict(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post."""
    from files.vectors import open_mapped

    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    with one_thread():
        predicted = classifier.predict(posts, open_mapped(inputs["vectors"] / "vectors"), seed=seed)
    predicted.assign(group_by=posts["group_by"].iloc[0]).to_parquet(out / "predictions.parquet")


def measure_gaps(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: the measures of each group and the signed gaps, each with its interval
    and support.
    """
    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet", columns=["id", "text"])
    # The text says which post it is: sources deal other ids for another seed
    known = predicted.assign(id=predicted["id"].map(posts.set_index("id")["text"]))
    table = gap_table(known, gaps)
    table.assign(group_by=predicted["group_by"].iloc[0]).to_parquet(out / "scores.parquet")
