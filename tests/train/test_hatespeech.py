"""The steps of the hate-speech task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.debias.labels import Relabel, Resample
from biasbridge.extrinsic.crossval import read_posts
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.linear import Linear
from biasbridge.files.vectors import keyed, save_mapped
from biasbridge.train.tasks.posts import measure_gaps, predict_challenge

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """The input folders of a prediction on a challenge set, and that of its result."""
    folders = {name: tmp_path / name for name in ("posts", "challenge", "vectors", "out")}
    for folder in folders.values():
        folder.mkdir()
    return folders


def test_resamples_are_of_the_texts_whatever_their_ids(tmp_path: Path) -> None:
    """Sources shuffle by the run's seed and number what they have shuffled."""
    rng = np.random.default_rng(0)
    texts = pd.DataFrame(
        {
            "text": [f"text {number}" for number in range(200)],
            "label": rng.integers(0, 2, 200),
            "prediction": rng.integers(0, 2, 200),
            "group": rng.choice(["male", "female"], 200),
            "group_by": "annotation",
        }
    )
    lists = []
    for seed in range(2):
        folders = {name: tmp_path / f"{name}{seed}" for name in ("posts", "predictions", "out")}
        for folder in folders.values():
            folder.mkdir()
        posts = texts.sample(frac=1, random_state=seed).assign(id=[str(i) for i in range(200)])
        posts.to_parquet(folders["posts"] / "posts.parquet")
        predicted = posts.drop(columns="text")
        predicted.to_parquet(folders["predictions"] / "predictions.parquet")
        measure_gaps(Gaps(), folders["out"], folders, seed)
        table = pd.read_parquet(folders["out"] / "scores.parquet")
        assert set(table["group_by"]) == {"annotation"}
        lists.append(np.stack(table.query("kind == 'gap'")["resampled"].tolist()))
    assert lists[0].shape == (4, 200)
    np.testing.assert_array_equal(lists[0], lists[1])


def test_a_challenge_set_tests_what_was_learned_from_changed_labels(
    folders: dict[str, Path],
) -> None:
    """Its own labels are for judging alone, and posts that left training teach nothing."""
    vectors = keyed(["good", "bad"], np.array([[1, 0], [0, 1]], dtype=np.float32))
    save_mapped(vectors, folders["vectors"] / "vectors")
    own = pd.DataFrame({"text": ["good", "bad"] * 20, "label": [0, 1] * 20, "split": "all"})
    own = own.assign(id=[f"own {number}" for number in range(len(own))])
    cases = pd.DataFrame({"id": ["c1", "c2"], "text": ["good", "bad"], "label": [0, 1]})
    cases.to_parquet(folders["challenge"] / "posts.parquet")

    def predicted(posts: pd.DataFrame) -> list[int]:
        posts.to_parquet(folders["posts"] / "posts.parquet")
        predict_challenge(Linear(), folders["out"], folders, 0)
        found = pd.read_parquet(folders["out"] / "predictions.parquet")
        assert found["id"].tolist() == ["c1", "c2"]
        assert found["label"].tolist() == [0, 1]
        return list(found["prediction"])

    assert predicted(own) == [0, 1]
    turned = own.assign(train_label=1 - own["label"], in_training=True)
    assert predicted(turned) == [1, 0]
    first = np.arange(len(own)) < 8
    assert predicted(turned.assign(train_label=own["label"] ^ ~first, in_training=first)) == [0, 1]


@pytest.mark.parametrize("method", [Resample("overbias"), Relabel("overbias")])
def test_a_label_dose_reaches_the_classifier_of_a_challenge_set(
    method: Resample | Relabel, folders: dict[str, Path]
) -> None:
    """Each method leaves one of two columns, and the challenge set changes neither."""
    save_mapped(keyed(["a"], np.ones((1, 1), dtype=np.float32)), folders["vectors"] / "vectors")
    rows = [(group, label) for group in ("male", "female") for label in (0, 1)] * 10
    own = pd.DataFrame(rows, columns=["group", "label"]).assign(text="a", split="all")
    own["id"] = [f"own {number}" for number in range(len(own))]
    changed = method.train_on(own, seed=0)
    changed.to_parquet(folders["posts"] / "posts.parquet")
    cases = pd.DataFrame({"id": ["c1", "c2"], "text": ["a", "a"], "label": [0, 1]})
    cases.to_parquet(folders["challenge"] / "posts.parquet")
    given: list[pd.DataFrame] = []

    class Seen(Linear):
        def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
            given.append(read_posts(posts))
            return super().predict(posts, vectors, seed=seed)

    predict_challenge(Seen(), folders["out"], folders, 0)
    learned = given[0][given[0]["split"] == "train"].reset_index(drop=True)
    whole = read_posts(changed)
    for name in ("train_label", "in_training"):
        assert learned[name].tolist() == whole[name].tolist()
    assert (learned["train_label"] != whole["label"]).any() or not learned["in_training"].all()
