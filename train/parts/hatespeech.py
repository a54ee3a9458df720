"""Hate speech: posts classified by a model on frozen vectors, and the gaps between groups."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

import pandas as pd

from corpora.kinds import CheckedSource, PostChallenge, Source
from debias.kinds import LabelMethod, Method, direction_of, dose_of
from debias.unmodified import Unmodified
from extrinsic.counterfactual import term_rows
from extrinsic.gap_table import gap_rows, gap_table, value_rows
from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.kinds import Classifier, Tagger
from extrinsic.predictions import read_sample
from extrinsic.rows import Row, as_table
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
            posts = {
                f"source={self.source.name}": self.source,
                f"challenge={self.challenge.name}": self.challenge,
            }
            require_one_language(posts, "take a challenge set of the posts' language")
        if self._tagged:
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

    @property
    def relabelled(self) -> bool:
        """Whether the posts to learn from are changed."""
        return self.labels.acts_on != "none" and dose_of(self.labels) > 0

    def facts(self) -> Facts:
        """The columns task, source, challenge where there is one, classifier, replicate,
        label_method, label_direction, label_dose, generated and what is planted in the labels.
        """
        return {
            "task": self.name,
            "source": self.source.name,
            "classifier": self.classifier.name,
            "replicate": self.replicate,
            **({"challenge": self.challenge.name} if self.challenge else {}),
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


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:MOST_NAMED], "..."] if len(names) > MOST_NAMED else names)


def _following(groups: Tagger, language: str) -> Tagger:
    """The tagger; by the built-in words of the posts' language where it is one by such words."""
    if not isinstance(groups, MentionTagger) or groups.file or not groups.query:
        return groups
    if UNDETERMINED in (language, groups.language):
        return groups
    return replace(groups, query=in_language([groups.query], language)[0])


def lay_posts(stages: Stages, source: Source, groups: Tagger | None) -> Stage:
    """The posts, with their groups where the source has them or a tagger is given."""
    posts = stages("posts", source, load_posts)
    if source.grouped or groups is None:
        return posts
    return stages("tagged", groups, tag_posts, {"posts": posts})


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
    told = {name: predicted[name].iloc[0] for name in ("group_by", "coverage") if name in predicted}
    gap_table(known, gaps).assign(**told).to_parquet(out / "scores.parquet")


def load_challenge(challenge: PostChallenge, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ids are those of no post of a source."""
    posts = challenge.posts(seed=seed)
    posts.assign(id="challenge " + posts["id"]).to_parquet(out / "posts.parquet")


def predict_challenge(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post of the challenge set and of the source's own test
    posts, where it has such; all its other posts are learned from.
    """
    from files.vectors import open_mapped

    own = pd.read_parquet(inputs["posts"] / "posts.parquet")
    own["split"] = own["split"].replace("all", "train")
    cases = pd.read_parquet(inputs["challenge"] / "posts.parquet").assign(split="test")
    if "train_label" not in own:
        own = own.assign(train_label=own["label"], in_training=True)
    columns = ["id", "text", "label", "split", "train_label", "in_training"]
    cases = cases.assign(train_label=cases["label"], in_training=False)
    posts = pd.concat([own[columns], cases[columns]], ignore_index=True)
    vectors = open_mapped(inputs["vectors"] / "vectors")
    with one_thread():
        predicted = classifier.predict(posts, vectors, seed=seed)
    known = coverage(cases["text"], vectors.key_to_index)
    predicted.assign(coverage=known).to_parquet(out / "predictions.parquet")


def measure_challenge(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: as ``measure_gaps`` has it, of the challenge set; what changes with terms
    alone, where it has such; and, of ``subset`` "held_out", how well the source's own test posts
    are classified.
    """
    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    cases = pd.read_parquet(inputs["challenge"] / "posts.parquet").set_index("id")
    tested = predicted["id"].isin(cases.index)
    rows = _held_out(predicted[~tested], gaps)
    told = cases.loc[predicted.loc[tested, "id"]].reset_index()
    known = predicted[tested].reset_index(drop=True).assign(group=told["group"], id=told["text"])
    if "frame" in told:
        # Posts of one frame are drawn together, and the same for every embedding
        alone = told["frame"] == ""
        known["id"] = told["text"].where(alone, "frame " + told["frame"])
        known = known.assign(unit=known["id"], frame=told["frame"])
    if "term" in told:
        known["term"] = told["term"]
    rows += gap_rows(known, gaps)
    if "term" in told:
        rows += term_rows(known, gaps)
    table = as_table(rows).assign(group_by="annotation", coverage=predicted["coverage"].iloc[0])
    table.to_parquet(out / "scores.parquet")


def _held_out(predicted: pd.DataFrame, gaps: Gaps) -> list[Row]:
    if predicted.empty:
        return []
    nobody = predicted.assign(group=None)
    measures = tuple(name for name in gaps.measures if name not in CRITERIA)
    values_only = replace(gaps, measures=measures, compare=(), groups=())
    rows = value_rows(read_sample(nobody, values_only), values_only)
    return [row._replace(subset="held_out") for row in rows]
