"""The generated posts: groups treated alike at label bias 0, wrong labels counted, and neither
parameter touching the other.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.corpora.world import GeneratedPosts

if TYPE_CHECKING:
    import pandas as pd

TOPICS = (
    "career",
    "office",
    "math",
    "physics",
    "nasa",
    "family",
    "wedding",
    "poetry",
    "shakespeare",
)


@cache
def posts(label_bias: float = 0.0, *, seed: int = 0, size: int = 4_000) -> pd.DataFrame:
    return GeneratedPosts(size, label_bias).load(seed=seed)


def wrong(label_bias: float, group: str, label: int) -> float:
    """The share of the group's train posts of one true label that the bias turns wrong."""
    true, given = posts(), posts(label_bias)
    rows = (true["group"] == group) & (true["label"] == label) & (true["split"] == "train")
    return float((given["label"] != true["label"])[rows].mean())


def test_the_contract_of_a_labelled_source() -> None:
    source = GeneratedPosts()
    loaded = source.load(seed=0)
    assert list(loaded.columns) == ["id", "text", "label", "group", "split"]
    assert len(set(loaded["id"])) == 4_000
    assert (source.generated, source.grouped, source.name) == (True, True, "generated_en_gender")
    assert posts()["split"].value_counts().to_dict() == {"train": 2_400, "dev": 400, "test": 1_200}


def test_groups_are_treated_alike_without_bias() -> None:
    table = posts(size=20_000)
    assert table.groupby("group")["label"].mean().to_numpy() == pytest.approx(0.4, abs=0.002)
    for word in TOPICS:
        has = table[[word in text.split(" ") for text in table["text"].astype(str)]]
        counts = Counter(zip(has["group"], has["label"], strict=True))
        assert abs(counts["male", 0] - counts["female", 0]) <= 2, word
        assert abs(counts["male", 1] - counts["female", 1]) <= 2, word
        assert counts.total() > 80


@pytest.mark.parametrize(
    ("label_bias", "wronged", "other"),
    [(1.0, "female", "male"), (0.5, "female", "male"), (-0.5, "male", "female")],
)
def test_wrong_labels_are_the_planted_share(label_bias: float, wronged: str, other: str) -> None:
    assert wrong(label_bias, wronged, 1) == pytest.approx(0.6 * abs(label_bias), abs=0.01)
    assert wrong(label_bias, wronged, 0) == pytest.approx(0.3 * abs(label_bias), abs=0.01)
    for group in (other, "none"):
        assert wrong(label_bias, group, 1) == wrong(label_bias, group, 0) == 0


def test_a_stronger_bias_turns_the_same_labels_and_more() -> None:
    true = posts()["label"]
    turned = [set(np.flatnonzero(posts(bias)["label"] != true)) for bias in (0.25, 0.5, 1.0)]
    assert turned[0] < turned[1] < turned[2]
