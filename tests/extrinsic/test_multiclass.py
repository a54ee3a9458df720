"""Labels of several classes: each against the rest, and the mean over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from biasbridge.extrinsic.gap_table import as_table, gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.multiclass import class_rows
from biasbridge.files import InputError

ASKED = Gaps("m", "f", min_support=0, measures=("precision", "recall", "f1", "accuracy", "fpr"))
SCORERS = {"precision": precision_score, "recall": recall_score, "f1": f1_score}


def posts(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.choice(["hate", "offensive", "neither"], n, p=[0.2, 0.5, 0.3])
    guess = np.where(rng.random(n) < 0.7, label, rng.choice(["hate", "offensive", "neither"], n))
    return pd.DataFrame({"label": label, "prediction": guess, "group": rng.choice(list("mf"), n)})


@pytest.mark.parametrize("seed", range(20))
def test_macro_and_accuracy_are_those_of_scikit_learn(seed: int) -> None:
    data = posts(seed=seed)
    table = as_table(class_rows(data, ASKED)).query("kind == 'value'")
    found = table.set_index(["subset", "measure", "group"])["value"]
    for group, part in [*data.groupby("group"), ("all", data)]:
        sides = part["label"], part["prediction"]
        for name, scorer in SCORERS.items():
            expected = scorer(*sides, average="macro")
            assert found["macro", name, group] == pytest.approx(expected, abs=1e-12)
        assert found["", "accuracy", group] == accuracy_score(*sides)
    gaps = as_table(class_rows(data, ASKED)).query("kind == 'gap' and subset == 'macro'")
    recall = gaps.set_index("measure")["value"]["recall"]
    expected = found["macro", "recall", "m"] - found["macro", "recall", "f"]
    assert recall == pytest.approx(expected, abs=1e-12)


def test_a_label_is_the_same_however_its_number_is_written() -> None:
    """A column of whole numbers of which one is missing comes as 1.0, 2.0, ..."""
    label = pd.Series([0, 1, 2] * 8)
    for said in (label.astype(float), label.astype(str) + " "):
        data = pd.DataFrame({"label": label, "prediction": said, "group": ["m", "f"] * 12})
        table = as_table(class_rows(data, ASKED)).query("kind == 'value' and measure == 'accuracy'")
        assert table["value"].tolist() == [1, 1, 1]
    data = pd.DataFrame({"label": ["Hate", "None"], "prediction": ["hate", "none"], "group": "m"})
    with pytest.raises(InputError, match="hate, none are none of Hate, None; spell them alike"):
        class_rows(data, ASKED)


def test_a_class_is_measured_against_the_rest() -> None:
    data = posts()
    table = as_table(class_rows(data, ASKED)).query("subset == 'hate'").drop(columns="subset")
    alone = data.assign(label=data["label"] == "hate", prediction=data["prediction"] == "hate")
    each = Gaps("m", "f", min_support=0, measures=("precision", "recall", "f1", "fpr"))
    pd.testing.assert_frame_equal(table.reset_index(drop=True), gap_table(alone, each))


@pytest.mark.parametrize("name", SCORERS)
def test_the_interval_of_a_mean_is_about_that_of_a_bootstrap(name: str) -> None:
    """Though an error counts against two classes, so that their F1 go together."""
    data = posts(1500)
    label, guess = data["label"].to_numpy(), data["prediction"].to_numpy()
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        drawn = rng.integers(0, len(label), len(label))
        found.append(SCORERS[name](label[drawn], guess[drawn], average="macro"))
    table = as_table(class_rows(data, ASKED))
    row = table.query("group == 'all' and subset == 'macro' and measure == @name").iloc[0]
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(np.std(found), rel=0.12)


def test_a_group_without_a_class_has_no_mean_and_says_so() -> None:
    data = posts()
    data = data[(data["group"] == "m") | (data["label"] != "hate")]
    table = as_table(class_rows(data, ASKED)).query("subset == 'macro' and measure == 'recall'")
    row = table[table["group"] == "f"].iloc[0]
    assert np.isnan(row["value"])
    assert row["reason"] == "no actual positive of group f"
    assert np.isnan(table[table["kind"] == "gap"]["value"]).all()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"measures": ("auc",)}, "measures=auc needs labels of 0 and 1"),
        ({"prediction": ""}, {}, "column 'prediction' is empty in 400 of 400 rows"),
        ({"label": "macro"}, {}, "a class is called 'macro'"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    change: dict[str, str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        as_table(class_rows(posts().assign(**change), Gaps("m", "f", **options)))
