"""Measures and gaps of two to six groups against fairlearn and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    selection_rate,
)
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.measures import MEASURES
from biasbridge.extrinsic.ranking import RANKINGS
from biasbridge.files import InputError

Scorer = Callable[[np.ndarray, np.ndarray], float]
TABLES = 60  # every mix of number of groups, an empty group and a group of one class
ADJUSTED = ("p", "p_holm", "low_simultaneous", "high_simultaneous")
ASKED = Gaps(
    min_support=0,
    measures=(*MEASURES, *RANKINGS, "demographic_parity", "equalised_odds"),
    compare=("one-vs-rest", "max-difference"),
)


def undefined_is_nan(scorer: Callable[..., float], **options: int) -> Scorer:
    def score(label: np.ndarray, prediction: np.ndarray) -> float:
        return scorer(label, prediction, zero_division=np.nan, **options)

    return score


def rate_of(label: int, prediction: int) -> Scorer:
    """The share of the items of a class that are predicted so: scikit-learn's recall of it, or what
    that leaves.
    """
    recall = undefined_is_nan(recall_score, pos_label=label)
    return lambda y, guess: recall(y, guess) if label == prediction else 1 - recall(y, guess)


SCORERS: dict[str, Scorer] = {
    "precision": undefined_is_nan(precision_score),
    "recall": rate_of(1, 1),
    "f1": undefined_is_nan(f1_score),
    "fpr": rate_of(0, 1),
    "fnr": rate_of(1, 0),
    "accuracy": accuracy_score,
    "selection_rate": selection_rate,
}
WORSE_IF_LARGER = ("fpr", "fnr")


def area(data: pd.DataFrame) -> float:
    return roc_auc_score(data["label"], data["score"]) if 0 < data["label"].mean() < 1 else np.nan


def random_table(seed: int) -> pd.DataFrame:
    """2 to 6 groups, one of which may have no item, one only items of one class, some few items."""
    rng = np.random.default_rng(seed)
    names = list("abcdef")[: 2 + seed % 5]
    n = int(rng.integers(2 * len(names), 200))
    group = rng.choice(names[: -1 if seed % 3 == 0 and len(names) > 2 else None], n)
    label = rng.integers(0, 2, n)
    if seed % 4 == 0:
        label[group == "a"] = seed // 4 % 2
    score = np.round(rng.random(n) + 0.3 * label, rng.integers(1, 4))
    return pd.DataFrame(
        {
            "label": label,
            "prediction": (score > 0.6).astype(int),
            "score": score,
            "group": pd.Categorical(group, categories=names),
        }
    )


def values_of(table: pd.DataFrame, kind: str, key: str) -> dict[tuple[str, str], float]:
    rows = table[table["kind"] == kind]
    return dict(zip(zip(rows["measure"], rows[key], strict=True), rows["value"], strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(TABLES))
def test_tables_are_those_of_fairlearn_and_scikit_learn(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "biasbridge.extrinsic.spread.N_DRAWS", 3
    )  # of intervals, which are not compared
    data = random_table(seed)
    table = gap_table(data, ASKED)
    values, rest = values_of(table, "value", "group"), values_of(table, "gap", "unprivileged")
    largest, ratio = values_of(table, "max_difference", "group"), values_of(table, "ratio", "group")
    near: dict[str, Any] = {"abs": 1e-12, "rel": 0, "nan_ok": True}
    groups = list(data["group"].cat.categories)
    for measure, scorer in SCORERS.items():
        frame = MetricFrame(
            metrics=scorer,
            y_true=data["label"],
            y_pred=data["prediction"],
            sensitive_features=data["group"].astype(str),
        )
        for group in groups:
            expected = frame.by_group.get(group, np.nan)
            assert values[measure, group] == pytest.approx(expected, **near)
            others = data[data["group"] != group]
            other = scorer(others["label"], others["prediction"]) if len(others) else np.nan
            signed = expected - other if measure in WORSE_IF_LARGER else other - expected
            assert rest[measure, group] == pytest.approx(signed, **near)
        assert values[measure, "all"] == pytest.approx(frame.overall, **near)
        if frame.by_group.notna().sum() > 1:
            assert largest[measure, ""] == pytest.approx(frame.difference(), **near)
            assert ratio[measure, ""] == pytest.approx(frame.ratio(), **near)
        else:
            assert np.isnan([largest[measure, ""], ratio[measure, ""]]).all()
    for group in groups:
        own = data["group"] == group
        for measure, kept in {
            "auc": own,
            "bpsn_auc": own & (data["label"] == 0) | ~own & (data["label"] == 1),
            "bnsp_auc": own & (data["label"] == 1) | ~own & (data["label"] == 0),
        }.items():
            assert values[measure, group] == pytest.approx(area(data[kept]), **near)
    sides = {
        "y_true": data["label"],
        "y_pred": data["prediction"],
        "sensitive_features": data["group"].astype(str),
    }
    assert largest["demographic_parity", ""] == pytest.approx(
        demographic_parity_difference(**sides), **near
    )
    if data["prediction"].any():
        assert ratio["demographic_parity", ""] == pytest.approx(
            demographic_parity_ratio(**sides), **near
        )
    # Of a group of one class fairlearn takes the rate that it cannot know for 0
    if (data.groupby("group", observed=True)["label"].nunique() == 2).all():
        assert largest["equalised_odds", ""] == pytest.approx(
            equalized_odds_difference(**sides), **near
        )
        if not np.isnan(ratio["equalised_odds", ""]):
            assert ratio["equalised_odds", ""] == pytest.approx(
                equalized_odds_ratio(**sides), **near
            )


def test_a_known_group_asked_for_that_has_no_item_is_named() -> None:
    data = random_table(1)
    data["group"] = data["group"].cat.add_categories("z")
    asked = Gaps(min_support=0, compare=("max-difference",), groups=("a", "b", "z"))
    table = gap_table(data, asked)
    [reason] = table.query("kind == 'value' and group == 'z' and measure == 'recall'")["reason"]
    assert reason == "no actual positive of group z"
    [left_out] = table.query("kind == 'max_difference' and measure == 'recall'")["reason"]
    assert left_out == "left out: no actual positive of group z"


def test_the_privileged_group_against_each_other() -> None:
    data = random_table(4)
    table = gap_table(data, Gaps("c", min_support=0, compare=("pairwise",)))
    gaps = table.query("kind == 'gap' and measure == 'recall'")
    assert gaps["unprivileged"].tolist() == ["a", "b", "d", "e", "f"]
    for other in gaps["unprivileged"]:
        pair = gap_table(data, Gaps("c", other, min_support=0)).query("kind == 'gap'")
        one, two = (
            table.drop(columns=["resampled", *ADJUSTED])
            for table in (
                gaps.query("unprivileged == @other"),
                pair.query("measure == 'recall'"),
            )
        )
        pd.testing.assert_frame_equal(one.reset_index(drop=True), two.reset_index(drop=True))


def test_the_rest_holds_items_of_no_group() -> None:
    rows = [(1, 1, "a"), (1, 0, "b"), (1, 0, None), (1, 0, None)]
    data = pd.DataFrame(rows, columns=["label", "prediction", "group"])
    table = gap_table(data, Gaps(min_support=0, compare=("one-vs-rest",)))
    row = table.query("kind == 'gap' and measure == 'recall' and unprivileged == 'b'").iloc[0]
    assert (row["privileged"], row["support_privileged"]) == ("rest", 3)
    assert row["value"] == pytest.approx(1 / 3)


def test_the_largest_difference_names_who_fares_best_and_worst() -> None:
    rows = [(0, 1, "a"), *[(0, 0, "a")] * 3, *[(0, 1, "b")] * 3, (0, 0, "b"), *[(0, 0, "c")] * 4]
    data = pd.DataFrame(rows, columns=["label", "prediction", "group"])
    asked = Gaps(min_support=0, measures=("fpr",), compare=("max-difference",))
    table = gap_table(data, asked).set_index("kind")
    assert tuple(table.loc["max_difference", ["privileged", "unprivileged", "value"]]) == (
        "c",
        "b",
        0.75,
    )
    assert table.loc["ratio", "value"] == 0
    equal = gap_table(data.assign(prediction=1), asked).set_index("kind").loc["max_difference"]
    assert (equal["value"], equal["privileged"]) != (0, equal["unprivileged"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ("recal",)}, r"measures='recal'; did you mean 'recall'\?"),
        ({"measures": ("recall", "recall")}, "name each once"),
        ({"measures": ("equalised_odds",)}, "add max-difference to compare"),
        ({"compare": ("others",)}, "compare"),
        ({"unprivileged": "male"}, "group are both 'male'; name two groups"),
        ({"min_support": -1}, "min_support=-1: give a whole number of at least 0"),
        ({"level": 95}, "level=95: give a number above 0 and below 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gaps(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": np.nan}, "column 'score' holds nan in"),
        ({"group": "rest"}, "a group is called 'rest', the name of all items but those"),
    ],
)
def test_bad_columns_are_refused(change: dict[str, str | float], message: str) -> None:
    asked = Gaps(measures=("auc",), compare=("one-vs-rest",))
    with pytest.raises(InputError, match=message):
        gap_table(random_table(1).assign(**change), asked)
    with pytest.raises(InputError, match="no column 'score'"):
        gap_table(random_table(1).drop(columns="score"), asked)
