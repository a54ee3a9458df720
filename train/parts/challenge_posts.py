"""A classifier tested on a challenge set of posts, and the gaps of what it predicts there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from extrinsic.counterfactual import term_rows
from extrinsic.crossval import read_posts
from extrinsic.gap_table import gap_rows, value_rows
from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.predictions import read_sample
from extrinsic.rows import Row, as_table
from train.device import one_thread
from train.parts.classify_posts import coverage

if TYPE_CHECKING:
    from corpora.kinds import PostChallenge
    from extrinsic.kinds import Classifier
    from train.parts.part import Inputs


def load_challenge(challenge: PostChallenge, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ids are those of no post of a source."""
    posts = challenge.posts(seed=seed)
    posts.assign(id="challenge " + posts["id"]).to_parquet(out / "posts.parquet")


def predict_challenge(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """``predictions.parquet``, one row a post of the challenge set and of the source's own test
    posts, where it has such; all its other posts are learned from.
    """
    from files.vectors import open_mapped

    own = read_posts(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    own["split"] = own["split"].replace("all", "train")
    cases = read_posts(pd.read_parquet(inputs["challenge"] / "posts.parquet").assign(split="test"))
    posts = pd.concat([own, cases], ignore_index=True).drop(columns="group")
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
