"""Gaps and intervals against statsmodels, fairlearn, scikit-learn and counts by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from biasbridge.extrinsic.gap_table import (
    GapRow,
    as_table,
    difference_rows,
    gap_table,
    part_rows,
    version_parts,
)
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions
from biasbridge.extrinsic.measures import MEASURES, RANKINGS
from biasbridge.extrinsic.predictions import flag_share
from biasbridge.files import InputError
from biasbridge.stats.intervals import Estimate, holm, p_value

# The cell counted and the cells it is counted among, as (label, prediction)
PROPORTIONS = {
    "precision": ((1, 1), [(0, 1), (1, 1)]),
    "recall": ((1, 1), [(1, 0), (1, 1)]),
    "fpr": ((0, 1), [(0, 0), (0, 1)]),
}
ANY = Gaps(min_support=0)
GAPPED = [name for name in ANY.measures if name != "base_rate"]
item = st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from(["male", "female", "both"]))


def frame(rows: Sequence[tuple[int, int, str | None]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["label", "prediction", "group"])


def sample(n: int = 200, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "label": label,
            "prediction": np.where(rng.random(n) < 0.7, label, 1 - label),
            "group": rng.choice(["male", "female"], n, p=[0.6, 0.4]),
        }
    )


def cell(table: pd.DataFrame, measure: str, group: str) -> pd.Series:
    result = table[(table["measure"] == measure) & (table["group"] == group)]
    assert result["kind"].tolist() == ["value"]
    return result.iloc[0]


def gap(table: pd.DataFrame, measure: str) -> pd.Series:
    result = table[(table["measure"] == measure) & (table["kind"] == "gap")]
    assert result["group"].tolist() == [""]
    return result.iloc[0]


def test_a_gap_by_hand() -> None:
    # male: tp 3, fp 1, fn 0; female: tp 1, fp 1, fn 3
    male = [(1, 1, "male")] * 3 + [(0, 1, "male")] + [(0, 0, "male")] * 2
    female = [(1, 1, "female"), (0, 1, "female")] + [(1, 0, "female")] * 3
    table = gap_table(frame(male + female), ANY)
    # Of a false positive rate the larger is the worse
    expected = {
        "precision": 3 / 4 - 1 / 2,
        "recall": 1 - 1 / 4,
        "f1": 6 / 7 - 2 / 6,
        "fpr": 1 / 1 - 1 / 3,
    }
    for measure, value in expected.items():
        assert gap(table, measure)["value"] == pytest.approx(value)
    assert cell(table, "precision", "all")["value"] == pytest.approx(4 / 6)
    supports = {"precision": (4, 2, 2), "recall": (3, 4, 3), "f1": (4, 5, 4), "fpr": (3, 1, 1)}
    for measure, (privileged, unprivileged, smaller) in supports.items():
        row = gap(table, measure)
        assert (row["privileged"], row["unprivileged"]) == ("male", "female")
        assert (row["support_privileged"], row["support_unprivileged"], row["support"]) == (
            privileged,
            unprivileged,
            smaller,
        )


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_swapping_the_groups_mirrors_the_gap(rows: list[tuple[int, int, str]]) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    one = gap_table(data, ANY)
    other = gap_table(data, Gaps("female", "male", min_support=0))
    for measure in GAPPED:
        a, b = gap(one, measure), gap(other, measure)
        assert (a["value"], a["low"], a["high"]) == pytest.approx(
            (-b["value"], -b["high"], -b["low"]), nan_ok=True
        )
        assert a["support"] == b["support"]
        assert a["support_privileged"] == b["support_unprivileged"]
        assert -1 <= a["low"] < a["high"] <= 1 or np.isnan(a["value"])


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_nan_exactly_where_there_is_no_support_and_then_with_a_reason(
    rows: list[tuple[int, int, str]],
) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    table = gap_table(data, ANY)
    empty = table["support"] == 0
    assert (table["value"].isna() == empty).all()
    assert (table["low"].isna() == empty).all()
    assert (table.loc[empty, "reason"] != "").all()
    kept = table[~empty]
    assert (kept["low"] < kept["high"]).all()
    assert kept["value"].between(kept["low"], kept["high"]).all()


def counts(data: pd.DataFrame, measure: str) -> tuple[int, int]:
    """How many items a measure counts, among how many."""
    counted, among = PROPORTIONS[measure]
    items = list(zip(data["label"], data["prediction"], strict=True))
    return items.count(counted), sum(map(items.count, among))


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("measure", PROPORTIONS)
def test_intervals_are_those_of_statsmodels(measure: str, level: float) -> None:
    data = sample()
    table = gap_table(data, Gaps(level=level))
    groups = {name: counts(part, measure) for name, part in data.groupby("group")}
    for name, result in (groups | {"all": counts(data, measure)}).items():
        row = cell(table, measure, str(name))
        expected = proportion_confint(*result, alpha=1 - level, method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)
    better, worse = ("female", "male") if measure == "fpr" else ("male", "female")
    row = gap(table, measure)
    expected = confint_proportions_2indep(
        *groups[better], *groups[worse], method="newcomb", compare="diff", alpha=1 - level
    )
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def test_the_interval_of_f1_is_that_of_the_share_it_is_made_from() -> None:
    data = sample()
    tp, others = ((data["label"] & data["prediction"]).sum(), data["label"] != data["prediction"])
    low, high = proportion_confint(int(tp), int(tp + others.sum()), method="wilson")
    row = cell(gap_table(data), "f1", "all")
    expected = (2 * low / (1 + low), 2 * high / (1 + high))
    assert (row["low"], row["high"]) == pytest.approx(expected)


def test_too_little_support_leaves_values_and_gaps_undefined_and_says_so() -> None:
    data = frame(
        [(1, 1, "male")] * 4 + [(0, 0, "male")] * 9 + [(1, 1, "female")] * 3 + [(0, 0, "female")]
    )
    table = gap_table(data, Gaps(min_support=4))
    assert cell(table, "recall", "male")["value"] == 1
    few = cell(table, "recall", "female")
    assert np.isnan([few["value"], few["low"], few["high"]]).all()
    assert few["reason"] == "3 actual positives of group female, fewer than 4"
    lost = gap(table, "recall")
    assert np.isnan([lost["value"], lost["low"], lost["high"]]).all()
    assert (lost["support"], lost["reason"]) == (3, few["reason"])
    both = gap(gap_table(data), "recall")["reason"]
    assert both == (
        "4 actual positives of group male, fewer than 10;"
        " 3 actual positives of group female, fewer than 10"
    )


def test_a_row_without_group_counts_in_all_only() -> None:
    data = frame([(1, 1, "male"), (1, 1, "female"), (1, 0, None), (1, 0, None)])
    table = gap_table(data, ANY)
    assert set(table["group"]) == {"male", "female", "all", ""}
    row = cell(table, "recall", "all")
    assert (row["value"], row["support"]) == (0.5, 4)


def test_order_of_rows() -> None:
    data = pd.concat([sample(), frame([(1, 1, "both"), (0, 1, "another")])], ignore_index=True)
    table = gap_table(data, Gaps("female", "male"))
    names = ["female", "male", "another", "both", "all"]
    expected = [("value", m, g, "", "") for g in names for m in ANY.measures]
    expected += [("gap", m, "", "female", "male") for m in GAPPED]
    columns = ["kind", "measure", "group", "privileged", "unprivileged"]
    assert list(table[columns].itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize(
    ("change", "privileged", "message"),
    [
        ({"label": 2}, "male", r"column 'label' holds 2 in 200 of 200 rows; it must be 0 or 1"),
        ({"prediction": np.nan}, "male", r"column 'prediction' holds nan in 200 of 200 rows"),
        (
            {},
            "mael",
            r"no rows of group 'mael'; did you mean 'male'\?; groups present: 'female', 'male'",
        ),
        ({"group": None}, "male", r"no rows of group 'male'; groups present: none"),
        ({"group": "all"}, "male", r"a group is called 'all'"),
        ({"id": None}, "male", r"200 of 200 rows have no id; give each, or drop the column"),
    ],
)
def test_bad_input_is_refused(
    change: dict[str, str | float | None], privileged: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        gap_table(sample().assign(**change), Gaps(privileged))


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_a_constant_classifier_is_counted_by_making_one(rows: list[tuple[int, int, str]]) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    gaps = replace(ANY, measures=("f1", "accuracy"))

    def of_all(table: pd.DataFrame, column: str) -> list[float]:
        rows = table[(table["kind"] == "value") & (table["group"] == "all")]
        return rows[column].tolist()

    same = [of_all(gap_table(data.assign(prediction=each), gaps), "value") for each in (0, 1)]
    for result, reached in zip(
        of_all(gap_table(data, gaps), "majority_baseline"), np.nanmax(same, axis=0), strict=True
    ):
        assert np.isnan(result) or result == pytest.approx(reached)


def test_base_rates_alone_make_a_precision_gap() -> None:
    """A classifier that finds .8 and calls .2 of the rest so, in groups of which .5 and .2 are 1:
    tp / (tp + fp) is .4 / .5 = .8 and .16 / .32 = .5. Worked by hand.
    """
    cells = {"male": (40, 10, 10, 40), "female": (64, 16, 4, 16)}
    rows = [
        (label, prediction, group)
        for group, counts in cells.items()
        for (label, prediction), count in zip(((0, 0), (0, 1), (1, 0), (1, 1)), counts, strict=True)
        for _ in range(count)
    ]
    table = gap_table(frame(rows), ANY)
    assert gap(table, "precision")["expected_from_base_rates"] == pytest.approx(0.3)
    assert gap(table, "precision")["value"] == pytest.approx(0.3)
    assert (
        gap(table, "recall")["expected_from_base_rates"]
        == gap(table, "fpr")["expected_from_base_rates"]
        == 0
    )


# Measures and gaps of two to six groups against fairlearn and scikit-learn.

Scorer = Callable[[np.ndarray, np.ndarray], float]
SEEDS = range(3, 13)  # numbers of groups, an empty group, one of one class, and both at once
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
@pytest.mark.parametrize("seed", SEEDS)
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
            for table in (gaps.query("unprivileged == @other"), pair.query("measure == 'recall'"))
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
        ({"at": 1.0}, "at=1.0: give one of threshold, share or a number above 0 and below 1"),
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


# An equal share flagged.


def scored(n: int = 4000) -> pd.DataFrame:
    """Items of two groups, whose label 1 is scored higher, that of the second less so."""
    rng = np.random.default_rng(5)
    female, label = rng.random(n) < 0.5, rng.random(n) < 0.3
    logit = rng.normal(np.where(label, np.where(female, 0.5, 1.5), -1), 1)
    groups = np.where(female, "female", "male")
    items = pd.DataFrame({"label": label.astype(int), "group": groups, "logit": logit})
    return items.assign(score=1 / (1 + np.exp(-logit)), prediction=(logit > 0).astype(int))


@pytest.mark.parametrize("at", ["share", 0.2])
def test_a_model_that_only_flags_more_has_the_same_gap_at_an_equal_share(at: str | float) -> None:
    """Which is that of the k items of the highest scores."""
    one = scored()
    logit = one["logit"] + 1
    more = one.assign(score=1 / (1 + np.exp(-logit)), prediction=(logit > 0).astype(int))
    default, equal = (
        [gap(gap_table(model, gaps), "precision") for model in (one, more)]
        for gaps in (Gaps(), Gaps(at=at))  # type: ignore[arg-type]
    )
    assert abs(default[1]["value"] - default[0]["value"]) > 0.04
    k = int(one["label"].sum()) if at == "share" else round(float(at) * len(one))
    top = one.nlargest(k, "logit").groupby("group")["label"]
    for row in equal:
        assert row["value"] == pytest.approx(top.mean()["male"] - top.mean()["female"])
        assert row["support"] == top.count().min()


@pytest.mark.parametrize(
    ("scores", "share", "n"),
    [
        ([1, 2, 3, 4], 0.5, 2),
        ([1, 2, 2, 2, 3, 4], 0.5, 2),  # 2 or 5: the nearer number
        ([1, 2, 2, 3], 0.5, 1),  # 1 or 3: the smaller
        ([1, 2, 2, 3], 0.51, 3),
        ([1, 1, 1, 1], 0.49, 0),
        ([1, 1, 1, 1], 0.51, 4),
    ],
)
def test_equal_scores_are_flagged_together(scores: list[int], share: float, n: int) -> None:
    items = pd.DataFrame({"id": range(len(scores)), "score": scores, "label": 0, "prediction": 7})
    flagged = flag_share(items.sample(frac=1, random_state=1), share)
    assert sorted(flagged.loc[flagged["prediction"] == 1, "score"]) == scores[len(scores) - n :]
    repeated = flag_share(pd.concat([items, items[items["score"] == 1]]), share)  # rows of an id
    assert repeated.drop_duplicates("id")["prediction"].sum() == n


def test_an_equal_share_needs_scores() -> None:
    with pytest.raises(InputError, match=r"gaps.at=share: there are no scores.*leave gaps.at out"):
        gap_table(sample(), Gaps(at="share"))


# All groups against the rest: adjusted p-values and simultaneous intervals.
#
# Of 1,000 tables of fifteen equal groups of 50 and of 100 items, some simultaneous interval
# excludes
# 0 in .059 and .054 (2,200 tables) with one measure, .055 and .066 with four (standard error .007).

TESTED_MEASURES = ("recall", "fpr", "precision", "f1")


def fifteen_groups(
    n: int, k: int, rng: np.random.Generator, first_fpr: float = 0.1
) -> GroupedPredictions:
    """k groups of n items, all alike but for the false positive rate of the first."""
    label = (rng.random(n * k) < 0.4).astype(int)
    group = np.repeat(np.arange(k), n)
    rate = np.where(label == 1, 0.7, np.where(group == 0, first_fpr, 0.1))
    prediction = (rng.random(n * k) < rate).astype(int)
    names = [f"g{number}" for number in range(k)]
    cells = 2 * label + prediction
    return GroupedPredictions(names, np.arange(n * k), group, cells, min_support=10)


@pytest.mark.parametrize(("n_measures", "tables"), [(1, 150), (4, 60)])
def test_equal_groups_rarely_differ_after_adjustment(n_measures: int, tables: int) -> None:
    gaps = Gaps(measures=TESTED_MEASURES[:n_measures], compare=("one-vs-rest",))
    rng, n_excluding = np.random.default_rng(1), 0
    for _ in range(tables):
        rows = difference_rows(fifteen_groups(100, 15, rng), gaps)
        n_excluding += any(row.low_simultaneous > 0 or row.high_simultaneous < 0 for row in rows)
    assert n_excluding / tables <= 0.06 + 2 * np.sqrt(0.05 * 0.95 / tables)


def test_the_family_is_all_groups_times_all_measures() -> None:
    gaps = Gaps(measures=TESTED_MEASURES, compare=("one-vs-rest",))
    drawn = fifteen_groups(200, 5, np.random.default_rng(1), first_fpr=0.5)
    rows = difference_rows(drawn, gaps)
    assert [row.p_holm for row in rows] == pytest.approx(holm([row.p for row in rows]))
    joint = difference_rows(drawn.at_level(1 - 0.05 / 20), gaps)
    for row, wide in zip(rows, joint, strict=True):
        assert (row.low_simultaneous, row.high_simultaneous) == pytest.approx((wide.low, wide.high))
        assert (row.p < 0.05) == (row.low > 0 or row.high < 0)
        assert (row.p < 0.05 / 20) == (wide.low > 0 or wide.high < 0)
    differing = {(row.unprivileged, row.measure) for row in rows if row.p_holm < 0.05}
    assert ("g0", "fpr") in differing


def test_p_of_normal_intervals_is_that_of_a_z_test() -> None:
    z, joint = 1.959964, 3.290527  # of levels .95 and .999
    for value in (-2.5, -1.0, 0.5, 3.0):
        single, wide = (Estimate(value, value - arm, value + arm) for arm in (z, joint))
        expected = {-2.5: 0.012419, -1.0: 0.317311, 0.5: 0.617075, 3.0: 0.0026998}[value]
        assert p_value(single, 0.95, wide, 0.999) == pytest.approx(expected, rel=1e-4)
    assert p_value(Estimate(0.0, -1, 1), 0.95, Estimate(0.0, -2, 2), 0.99) == 1
    assert np.isnan(p_value(Estimate(), 0.95, Estimate(), 0.99))


# Labels of several classes: each against the rest, and the mean over them.

CLASS_MEASURES = Gaps(
    "m", "f", min_support=0, measures=("precision", "recall", "f1", "accuracy", "fpr")
)
CLASS_SCORERS = {"precision": precision_score, "recall": recall_score, "f1": f1_score}


def class_rows(data: pd.DataFrame, asked: Gaps) -> list[GapRow]:
    return part_rows(version_parts({"": data}, asked, multiclass=True), asked)


def posts(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.choice(["hate", "offensive", "neither"], n, p=[0.2, 0.5, 0.3])
    guess = np.where(rng.random(n) < 0.7, label, rng.choice(["hate", "offensive", "neither"], n))
    return pd.DataFrame({"label": label, "prediction": guess, "group": rng.choice(list("mf"), n)})


@pytest.mark.parametrize("seed", range(3))
def test_macro_and_accuracy_are_those_of_scikit_learn(seed: int) -> None:
    data = posts(seed=seed)
    table = as_table(class_rows(data, CLASS_MEASURES)).query("kind == 'value'")
    result = table.set_index(["subset", "measure", "group"])["value"]
    for group, part in [*data.groupby("group"), ("all", data)]:
        sides = part["label"], part["prediction"]
        for name, scorer in CLASS_SCORERS.items():
            expected = scorer(*sides, average="macro")
            assert result["macro", name, group] == pytest.approx(expected, abs=1e-12)
        assert result["", "accuracy", group] == accuracy_score(*sides)
    gaps = as_table(class_rows(data, CLASS_MEASURES)).query("kind == 'gap' and subset == 'macro'")
    recall = gaps.set_index("measure")["value"]["recall"]
    expected = result["macro", "recall", "m"] - result["macro", "recall", "f"]
    assert recall == pytest.approx(expected, abs=1e-12)


def test_a_label_is_the_same_however_its_number_is_written() -> None:
    """A column of whole numbers of which one is missing comes as 1.0, 2.0, ..."""
    label = pd.Series([0, 1, 2] * 8)
    for said in (label.astype(float), label.astype(str) + " "):
        data = pd.DataFrame({"label": label, "prediction": said, "group": ["m", "f"] * 12})
        table = as_table(class_rows(data, CLASS_MEASURES)).query(
            "kind == 'value' and measure == 'accuracy'"
        )
        assert table["value"].tolist() == [1, 1, 1]
    data = pd.DataFrame({"label": ["Hate", "None"], "prediction": ["hate", "none"], "group": "m"})
    with pytest.raises(InputError, match="hate, none are none of Hate, None; spell them alike"):
        class_rows(data, CLASS_MEASURES)


def test_a_class_is_measured_against_the_rest() -> None:
    data = posts()
    table = (
        as_table(class_rows(data, CLASS_MEASURES)).query("subset == 'hate'").drop(columns="subset")
    )
    alone = data.assign(label=data["label"] == "hate", prediction=data["prediction"] == "hate")
    each = Gaps("m", "f", min_support=0, measures=("precision", "recall", "f1", "fpr"))
    adjusted = ["p", "p_holm", "low_simultaneous", "high_simultaneous"]  # over all classes
    expected = gap_table(alone, each).drop(columns=adjusted)
    pd.testing.assert_frame_equal(table.drop(columns=adjusted).reset_index(drop=True), expected)


@pytest.mark.parametrize("name", CLASS_SCORERS)
def test_the_interval_of_a_mean_is_about_that_of_a_bootstrap(name: str) -> None:
    """Though an error counts against two classes, so that their F1 go together."""
    data = posts(1500)
    label, guess = data["label"].to_numpy(), data["prediction"].to_numpy()
    rng, result = np.random.default_rng(1), []
    for _ in range(200):
        drawn = rng.integers(0, len(label), len(label))
        result.append(CLASS_SCORERS[name](label[drawn], guess[drawn], average="macro"))
    table = as_table(class_rows(data, CLASS_MEASURES))
    row = table.query("group == 'all' and subset == 'macro' and measure == @name").iloc[0]
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(np.std(result), rel=0.12)


def test_a_group_without_a_class_has_no_mean_and_says_so() -> None:
    data = posts()
    data = data[(data["group"] == "m") | (data["label"] != "hate")]
    table = as_table(class_rows(data, CLASS_MEASURES)).query(
        "subset == 'macro' and measure == 'recall'"
    )
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
