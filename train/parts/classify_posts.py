"""A classifier on posts and frozen vectors, and the gaps of what it predicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from extrinsic.gap_table import gap_table
from train.device import one_thread

if TYPE_CHECKING:
    from extrinsic.gaps import Gaps
    from extrinsic.kinds import Classifier
    from train.parts.part import Inputs


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


def without_vector(texts: Iterable[str], vocabulary: Container[str], most: int = 5) -> list[str]:
    """The most frequent tokens of tokenised texts that have no vector, then by the alphabet."""
    counts = Counter(token for text in texts for token in text.split())
    lost = (
        token
        for token in sorted(counts, key=lambda token: (-counts[token], token))
        if token not in vocabulary and token.lower() not in vocabulary
    )
    return list(islice(lost, most))


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
