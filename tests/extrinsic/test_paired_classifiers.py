"""Two classifiers on the same items, compared item by item."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from biasbridge.extrinsic.gap_table import as_table, gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.multiclass import classifier_rows
from biasbridge.stats.intervals import Estimate, difference

ASKED = Gaps("a", "b", min_support=0, measures=("precision", "recall", "f1", "auc"))


def two(n: int = 300, seed: int = 0, *, apart: float = 0.1) -> dict[str, pd.DataFrame]:
    """Two classifiers that mostly make the same errors."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    items = pd.DataFrame({"label": label, "group": rng.choice(["a", "b", "c"], n)})
    score = rng.normal(label, 1.2)
    scores = {"one": score, "two": score + apart * rng.normal(size=n)}
    return {
        name: items.assign(score=each, prediction=(each > 0.5).astype(int))
        for name, each in scores.items()
    }


def test_each_has_its_own_rows_and_each_pair_the_difference() -> None:
    classifiers = two()
    table = as_table(classifier_rows(classifiers, ASKED))
    for name, predictions in classifiers.items():
        own = table[table["classifier"] == name].drop(columns=["classifier", "earlier"])
        own = own.reset_index(drop=True)
        pd.testing.assert_frame_equal(own, gap_table(predictions, ASKED))
    one, other, both = (
        table[table["classifier"] == name].reset_index(drop=True)
        for name in ("one", "two", "two - one")
    )
    assert both["value"].to_numpy() == pytest.approx(other["value"] - one["value"], abs=1e-12)
    assert (both["low"] < both["value"]).all()
    assert (both["value"] < both["high"]).all()


@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_the_interval_is_about_that_of_a_bootstrap_over_items(measure: str) -> None:
    """And much shorter than of two that were tested on different items."""
    classifiers = two(2000)
    scorer = {"precision": precision_score, "recall": recall_score, "f1": f1_score}[measure]
    label = classifiers["one"]["label"].to_numpy()
    one, other = (each["prediction"].to_numpy() for each in classifiers.values())
    rng, found = np.random.default_rng(1), []
    for _ in range(300):
        drawn = rng.integers(0, len(label), len(label))
        found.append(scorer(label[drawn], other[drawn]) - scorer(label[drawn], one[drawn]))
    table = as_table(classifier_rows(classifiers, ASKED)).query(
        "group == 'all' and measure == @measure"
    )
    row = table.set_index("classifier").loc["two - one"]
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(np.std(found), rel=0.15)
    each = table.set_index("classifier").loc[["one", "two"], ["value", "low", "high"]]
    apart = difference(*(Estimate(*values) for values in each.to_numpy()))
    assert row["high"] - row["low"] < 0.5 * (apart.high - apart.low)


def test_classifiers_that_agree_on_every_item_may_yet_differ() -> None:
    """By up to about 3 in n, as by the rule of three."""
    predictions = two(1000)["one"]
    table = as_table(classifier_rows({"x": predictions, "y": predictions}, ASKED))
    row = table.query("classifier == 'y - x' and group == 'all' and measure == 'recall'").iloc[0]
    n = int(row["support"])
    assert row["value"] == 0
    assert 1 / n < row["high"] < 5 / n
    assert row["low"] == pytest.approx(-row["high"])
