"""The steps of a task on posts: loaded, tagged, classified, and their gaps; on test posts of their
own or on a challenge set.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from extrinsic.kinds import needs_of
from train.device import one_thread
from train.parts.encodings import keep_encodings
from train.parts.scores import open_needed

if TYPE_CHECKING:
    from corpora.kinds import PostChallenge, Source
    from debias.base import S, Steps
    from extrinsic.gap_table import Row
    from extrinsic.gaps import Gaps
    from extrinsic.kinds import Classifier, Tagger
    from files.models.encodes import Encodes
    from files.models.language_model import LanguageModel
    from train.parts.part import Inputs

POSTS = "posts"  # the step of a source's posts


def build_posts(steps: Steps[S], source: Source, groups: Tagger | None) -> S:
    """The posts, with their groups where the source has them or a tagger is given."""
    posts = steps(POSTS, source, load_posts)
    if source.grouped or groups is None:
        return posts
    return steps("tagged", groups, tag_posts, {"posts": posts})


def load_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ``group_by`` says where the groups come from."""
    posts = source.load(seed=seed)
    posts = posts.assign(group_by="annotation") if source.grouped else posts
    posts.to_parquet(out / "posts.parquet")


def tag_posts(tagger: Tagger, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet`` with a group for each post."""
    tagged = tagger.tag(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    tagged.assign(group_by=f"tagger: {tagger.description}").to_parquet(out / "posts.parquet")


def load_challenge(challenge: PostChallenge, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ids are those of no post of a source."""
    posts = challenge.posts(seed=seed)
    posts.assign(id="challenge " + posts["id"]).to_parquet(out / "posts.parquet")


def predict(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post."""
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    predicted = _predict(classifier, posts, posts["text"], inputs, seed)
    predicted.assign(group_by=posts["group_by"].iloc[0]).to_parquet(out / "predictions.parquet")


def predict_challenge(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post of the challenge set and of the source's own test
    posts, where it has such; all its other posts are learned from.
    """
    from extrinsic.crossval import read_posts

    own = read_posts(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    own["split"] = own["split"].replace("all", "train")
    cases = read_posts(pd.read_parquet(inputs["challenge"] / "posts.parquet").assign(split="test"))
    posts = pd.concat([own, cases], ignore_index=True).drop(columns="group")
    predicted = _predict(classifier, posts, cases["text"], inputs, seed)
    predicted.to_parquet(out / "predictions.parquet")


def encode_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """The vectors of the posts, and of those of a challenge set."""
    from extrinsic.crossval import read_posts, texts_as_written

    encoder = open_needed("encoder", inputs)
    for name in sorted(inputs.keys() - {"encoder"}):
        posts = pd.read_parquet(inputs[name] / "posts.parquet")
        encoder.encode(texts_as_written(read_posts(posts)))
    keep_encodings(encoder, out)


def _predict(
    classifier: Classifier, posts: pd.DataFrame, texts: Iterable[str], inputs: Inputs, seed: int
) -> pd.DataFrame:
    """The predictions, with the ``coverage`` of some texts."""
    given = open_needed(needs_of(classifier), inputs)
    with one_thread():
        predicted = classifier.predict(posts, given, seed=seed)
    known = given.key_to_index if hasattr(given, "key_to_index") else Known(given)
    return predicted.assign(coverage=coverage(texts, known))


class Known:
    """The words that a language model or encoder knows whole, as a vocabulary."""

    def __init__(self, model: Encodes | LanguageModel) -> None:
        self._knows = cache(model.knows)

    def __contains__(self, word: object) -> bool:
        return self._knows(str(word))


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
    from extrinsic.gap_table import gap_table  # what measures gaps loads when there are some

    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet", columns=["id", "text"])
    # The text says which post it is: sources deal other ids for another seed
    by_text = predicted["id"].map(posts.set_index("id")["text"])
    known = predicted.drop(columns="id").assign(resampled_by=by_text)
    columns = [name for name in ("group_by", "coverage") if name in predicted]
    table = gap_table(known, gaps).assign(**{name: predicted[name].iloc[0] for name in columns})
    table.to_parquet(out / "scores.parquet")


def measure_challenge(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: as ``measure_gaps`` has it, of the challenge set; what changes with terms
    alone, where it has such; and, of ``subset`` "held_out", how well the source's own test posts
    are classified.
    """
    from extrinsic.counterfactual import term_rows
    from extrinsic.gap_table import as_table, gap_rows

    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    cases = pd.read_parquet(inputs["challenge"] / "posts.parquet").set_index("id")
    tested = predicted["id"].isin(cases.index)
    rows = _held_out(predicted[~tested], gaps)
    posts = cases.loc[predicted.loc[tested, "id"]].reset_index()
    known = predicted[tested].reset_index(drop=True).drop(columns="id")
    known = known.assign(group=posts["group"], resampled_by=posts["text"])
    if "frame" in posts:
        # Posts of one frame are drawn together, and the same for every embedding
        alone = posts["frame"] == ""
        together = posts["text"].where(alone, "frame " + posts["frame"])
        known = known.assign(resampled_by=together, unit=together, frame=posts["frame"])
    if "term" in posts:
        known["term"] = posts["term"]
    rows += gap_rows(known, gaps)
    if "term" in posts:
        rows += term_rows(known, gaps)
    table = as_table(rows).assign(group_by="annotation", coverage=predicted["coverage"].iloc[0])
    table.to_parquet(out / "scores.parquet")


def _held_out(predicted: pd.DataFrame, gaps: Gaps) -> list[Row]:
    from extrinsic.gap_table import value_rows
    from extrinsic.gaps import CRITERIA
    from extrinsic.predictions import read_sample

    if predicted.empty:
        return []
    nobody = predicted.drop(columns="id").assign(group=None)
    measures = tuple(name for name in gaps.measures if name not in CRITERIA)
    values_only = replace(gaps, measures=measures, compare=(), groups=())
    rows = value_rows(read_sample(nobody, values_only), values_only)
    return [row._replace(subset="held_out") for row in rows]
