"""Who is trained on, who is judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.extrinsic.crossval import Fold, cross_predict, deal, read_posts, split_posts
from biasbridge.files import InputError


def table(n: int = 100, split: str = "all", seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {
        "id": [f"p{i}" for i in range(n)],
        "text": [f"x{i}" for i in range(n)],
        "split": split,
        "label": rng.integers(0, 2, n),
    }
    return pd.DataFrame(columns | {"group": rng.choice(["male", "female"], n)})


def constant(fold: Fold) -> np.ndarray:
    return np.full(len(fold.test), 0.5)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=80), st.integers(2, 6), st.integers(0, 99))
def test_dealing_is_even_overall_and_within_strata(
    strata: list[int], parts: int, seed: int
) -> None:
    part = deal(np.array(strata), parts, np.random.default_rng(seed))
    for chosen in (part, *(part[np.array(strata) == stratum] for stratum in set(strata))):
        counts = np.bincount(chosen, minlength=parts)
        assert len(counts) == parts
        assert counts.max() - counts.min() <= 1


def test_folds_are_stratified_by_label_where_no_group_is_known() -> None:
    data = table(100).assign(label=[0, 1] * 50, group=None)
    for fold in split_posts(data, folds=5, seed=0):
        assert data["label"][fold.test].mean() == 0.5
        assert data["label"][fold.dev].mean() == 0.5


@settings(deadline=None, max_examples=25)
@given(st.integers(20, 120), st.integers(2, 6), st.integers(0, 2**63))
def test_folds_predict_each_item_once_and_never_overlap(n: int, folds: int, seed: int) -> None:
    found = list(split_posts(table(n), folds=folds, seed=seed))
    assert [fold.name for fold in found] == [f"fold{number}" for number in range(folds)]
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(n))
    for fold in found:
        assert sorted([*fold.train, *fold.dev, *fold.test]) == list(range(n))
        assert len(fold.dev) == -(-(n - len(fold.test)) // 10)
    assert len({fold.seed for fold in found}) == folds


def test_posts_of_one_text_are_never_learned_from_and_predicted() -> None:
    data = table(120)
    data["text"] = [f"x{i % 50}" for i in range(120)]
    found = list(split_posts(data, folds=5, seed=0))
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(120))
    for fold in found:
        learned = data["text"][np.concatenate([fold.train, fold.dev])]
        assert not set(learned) & set(data["text"][fold.test])
    with pytest.raises(InputError, match=r"the number of different posts \(50\)"):
        list(split_posts(data, folds=51, seed=0))


def test_a_given_split_is_kept() -> None:
    data = table(10)
    data["split"] = [
        "test",
        "train",
        "dev",
        "train",
        "test",
        "train",
        "dev",
        "train",
        "train",
        "train",
    ]
    (fold,) = split_posts(data, folds=5, seed=0)
    assert fold.name == "test"
    assert [each.tolist() for each in (fold.train, fold.dev, fold.test)] == [
        [1, 3, 5, 7, 8, 9],
        [2, 6],
        [0, 4],
    ]


def test_without_dev_a_tenth_of_train_serves() -> None:
    data = table(110)
    data["split"] = ["train"] * 100 + ["test"] * 10
    (fold,) = split_posts(data, folds=5, seed=0)
    assert len(fold.dev) == 10
    assert sorted([*fold.train, *fold.dev]) == list(range(100))


def test_copies_of_a_text_are_not_parted_between_train_and_dev() -> None:
    data = table(200)
    data["text"] = [f"text {number % 50}" for number in range(200)]
    for fold in split_posts(data, folds=5, seed=0):
        train, dev = (set(data["text"].iloc[rows]) for rows in (fold.train, fold.dev))
        assert dev
        assert not train & dev


@pytest.mark.parametrize("split", ["all", "mixed"])
def test_predictions_follow_the_order_of_the_posts(split: str) -> None:
    data = table(50)
    if split == "mixed":
        data["split"] = ["train", "test", "dev", "train", "test"] * 10
    predictions = cross_predict(data, lambda fold: fold.test / 50, folds=4, seed=0)
    judged = data if split == "all" else data[data["split"] == "test"]
    assert list(predictions.columns) == ["id", "split", "group", "label", "score", "prediction"]
    for column in ("id", "group", "label"):
        assert list(predictions[column]) == list(judged[column])
    assert list(predictions["score"]) == list(judged.index / 50)
    assert list(predictions["prediction"]) == [int(row >= 25) for row in judged.index]
    assert set(predictions["split"]) == (
        {f"fold{i}" for i in range(4)} if split == "all" else {"test"}
    )
    assert list(predictions.index) == list(range(len(judged)))


def test_one_class_in_train_is_refused() -> None:
    data = table(20, "train")
    data.loc[:4, "split"] = "test"
    data["label"] = (data["split"] == "test").astype(int)
    with pytest.raises(InputError, match=r"the training items of test \(13\) hold one class only"):
        cross_predict(data, constant, folds=5, seed=0)


@pytest.mark.parametrize(
    ("splits", "folds", "message"),
    [
        (
            ["train", "validation"],
            5,
            r"split 'validation' of the posts is none of train, dev, test, all",
        ),
        (["train", "dev"], 5, r"the posts are split as train 10, dev 10; they need train and test"),
        (["all", "test"], 5, r"'all' on every post"),
        (["all", "all"], 21, "folds=21 must lie between 2 and the number of different posts"),
    ],
)
def test_unusable_splits_are_refused(splits: list[str], folds: int, message: str) -> None:
    data = table(20)
    data["split"] = splits * 10
    with pytest.raises(InputError, match=message):
        list(split_posts(data, folds=folds, seed=0))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": "a", "text": "x", "labels": 1, "split": "all"}],
            r"no column 'label'; did you mean 'labels'\?",
        ),
        (
            [{"id": "a", "text": "x", "label": 1, "split": "all"}, {"id": "b", "label": 1}],
            r"1 posts have no text, the first with id 'b'",
        ),
    ],
)
def test_unusable_posts_are_refused(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_posts(pd.DataFrame(rows))
