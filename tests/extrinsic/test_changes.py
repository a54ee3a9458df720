"""What a later version of a classifier changed, in words, and how sure that is."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from biasbridge.extrinsic.counterfactual import term_rows
from biasbridge.extrinsic.gap_table import (
    GapRow,
    as_table,
    gap_table,
    part_rows,
    read_parts,
    version_parts,
)
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest, WeightedSum
from biasbridge.extrinsic.predictions import GapRequest
from biasbridge.stats.intervals import Estimate, holm
from biasbridge.stats.proportions import difference

# (group, label, v1, v2): number of items
COUNTS = {
    ("women", 1, 1, 1): 100,
    ("women", 1, 1, 0): 60,
    ("women", 1, 0, 0): 40,
    ("women", 0, 0, 0): 270,
    ("women", 0, 1, 1): 30,
    ("men", 1, 1, 1): 160,
    ("men", 1, 0, 0): 40,
    ("men", 0, 0, 0): 200,
    ("men", 0, 0, 1): 60,
    ("men", 0, 1, 1): 40,
}


def items(counts: dict[tuple[str, int, int, int], int]) -> pd.DataFrame:
    """A row per item."""
    rows = [kind for kind, n in counts.items() for _ in range(n)]
    return pd.DataFrame(rows, columns=["group", "label", "v1", "v2"])


def rows_of(table: pd.DataFrame, group: str = "group", **options: Any) -> list[GapRow]:
    request = GapRequest(pred=["v1", "v2"], group=group, **options)
    parts, asked, *_ = read_parts(request, table)
    return part_rows(parts, asked)


def change(measure: str, group: str) -> float:
    """The later rate minus the earlier, from the items one by one."""
    rates = []
    for version in ("v1", "v2"):
        hits = [
            row[version]
            for row in items(COUNTS).to_dict("records")
            if row["group"] == group and row["label"] == (measure == "recall")
        ]
        rates.append(float(np.mean(hits)))
    return rates[1] - rates[0]


@pytest.mark.parametrize(("measure", "group"), list(product(["recall", "fpr"], ["women", "men"])))
def test_a_change_is_later_minus_earlier(measure: str, group: str) -> None:
    table = as_table(rows_of(items(COUNTS)))
    [row] = table.query(
        "classifier == 'v2 - v1' and kind == 'value' and group == @group and measure == @measure"
    ).to_dict("records")
    assert row["earlier"] == "v1"
    assert row["value"] == pytest.approx(change(measure, group))
    gap = table.query(
        "classifier == 'v2 - v1' and kind == 'gap' and unprivileged == @group"
        " and measure == @measure"
    )["value"].item()
    other = change(measure, "men" if group == "women" else "women")
    sign = 1 if measure == "recall" else -1
    assert gap == pytest.approx(sign * (other - change(measure, group)))


def test_the_family_is_all_groups_and_measures_of_the_pair() -> None:
    rows = [row for row in rows_of(items(COUNTS)) if row.earlier and row.kind == "value"]
    assert {(row.group, row.measure) for row in rows} == {
        *product(["women", "men", "all"], ["recall", "fpr"])
    }
    assert [row.p_holm for row in rows] == pytest.approx(holm([row.p for row in rows]))
    for row in rows:
        assert (row.p < 0.05) == (row.low > 0 or row.high < 0)
        assert row.low_simultaneous < row.low
        assert row.high < row.high_simultaneous


def test_changes_of_a_single_group_and_its_rest() -> None:
    table = items(dict.fromkeys(product("ab", (0, 1), (0, 1), (0, 1)), 20))
    table = table.assign(women=(table["group"] == "a").astype(int), v2=table["label"])
    rows = rows_of(table, "women", measures=["recall"])
    rows = [row for row in rows if row.earlier and row.kind == "value"]
    assert [row.group for row in rows] == ["women", "rest", "all"]
    assert all(row.value == pytest.approx(0.5) and row.p_holm < 0.001 for row in rows)


@pytest.mark.slow
def test_changes_hold_the_truth_in_95_of_100() -> None:
    """Of three groups; most errors are shared; the standard error is .006."""
    rng, held = np.random.default_rng(5), []
    rates = {"women": (0.8, 0.6), "men": (0.8, 0.85), "both": (0.7, 0.7)}
    number, item = np.repeat(np.arange(3), 80), np.arange(240)
    earlier, later = np.repeat([*rates.values()], 80, axis=0).T
    for _ in range(500):
        shared, own, is_shared = rng.random(240), rng.random(240), rng.random(240) < 0.7
        drawn = (np.where(is_shared, shared, own) < later, shared < earlier)
        samples = [GroupedPredictions([*rates], item, number, 2 + hits) for hits in drawn]
        change = WeightedSum(samples, [1, -1])
        for name, (before, after) in rates.items():
            estimate = change.group_measure("recall", GroupOrRest(name)).estimate
            held.append(estimate.low <= after - before <= estimate.high)
    assert 0.93 <= np.mean(held) <= 0.97


# Two classifiers on the same items, compared item by item.

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
    table = as_table(part_rows(version_parts(classifiers, ASKED), ASKED))
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
    one, other = (classifier["prediction"].to_numpy() for classifier in classifiers.values())
    rng, result = np.random.default_rng(1), []
    for _ in range(300):
        drawn = rng.integers(0, len(label), len(label))
        result.append(scorer(label[drawn], other[drawn]) - scorer(label[drawn], one[drawn]))
    table = as_table(part_rows(version_parts(classifiers, ASKED), ASKED)).query(
        "group == 'all' and measure == @measure"
    )
    row = table.set_index("classifier").loc["two - one"]
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(np.std(result), rel=0.15)
    classifier = table.set_index("classifier").loc[["one", "two"], ["value", "low", "high"]]
    apart = difference(*(Estimate(*values) for values in classifier.to_numpy()))
    assert row["high"] - row["low"] < 0.5 * (apart.high - apart.low)


def test_classifiers_that_agree_on_every_item_may_yet_differ() -> None:
    """By up to about 3 in n, as by the rule of three."""
    predictions = two(1000)["one"]
    table = as_table(part_rows(version_parts({"x": predictions, "y": predictions}, ASKED), ASKED))
    row = table.query("classifier == 'y - x' and group == 'all' and measure == 'recall'").iloc[0]
    n = int(row["support"])
    assert row["value"] == 0
    assert 1 / n < row["high"] < 5 / n
    assert row["low"] == pytest.approx(-row["high"])


# What changes when nothing but the term changes.

ANY = Gaps("g", "h", min_support=0)
TERMS = {"a": "g", "b": "g", "c": "h", "d": "h"}


def frames(n: int = 60, seed: int = 0, apart: float = 0.0) -> pd.DataFrame:
    """Every term in every frame; the predictions of a frame go together, and the terms of the
    second group are predicted 1 more often by ``apart``.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        label, hard = number % 2, rng.normal()
        for term, group in TERMS.items():
            chance = hard + 0.4 * rng.normal() + (label - 0.5) + apart * (group == "h")
            rows.append((str(number), term, group, label, int(chance > 0)))
    table = pd.DataFrame(rows, columns=["frame", "term", "group", "label", "prediction"])
    return table.assign(unit=table["frame"])


def only(rows: list[GapRow], kind: str) -> pd.DataFrame:
    table = as_table(rows)
    return table[table["kind"] == kind]


def test_equality_differences_by_the_formula() -> None:
    data = frames(apart=0.4)
    result = only(term_rows(data, ANY), "equality_difference").set_index("measure")["value"]
    for name, label in (("fpr", 0), ("fnr", 1)):
        part = data[data["label"] == label]
        wrong = part["prediction"] != part["label"]
        by_term = wrong.groupby(part["term"]).mean()
        assert result[name] == pytest.approx((by_term - wrong.mean()).abs().sum(), abs=1e-12)


def test_flips_are_those_of_all_pairs_counted() -> None:
    data = frames(apart=0.4)
    result = only(term_rows(data, ANY), "flips")
    table = data.pivot_table("prediction", "frame", "term")
    pairs = combinations(TERMS, 2)
    differ = {(one, other): (table[one] != table[other]).mean() for one, other in pairs}
    values = result.set_index("group")["value"]
    assert values["all"] == pytest.approx(np.mean(list(differ.values())))
    for term in TERMS:
        own = [value for pair, value in differ.items() if term in pair]
        assert values[term] == pytest.approx(np.mean(own))
    between = result[result["privileged"] == "g"].iloc[0]
    across = [differ[a, b] for a in "ab" for b in "cd"]
    assert (between["unprivileged"], between["support"]) == ("h", 60)
    assert between["value"] == pytest.approx(np.mean(across))


def test_terms_are_measured_and_compared_with_the_rest() -> None:
    data = frames(apart=0.4)
    table = as_table(term_rows(data, ANY)).query("subset == 'terms'")
    values = table.query("kind == 'value' and measure == 'recall'").set_index("group")["value"]
    positive = data[data["label"] == 1]
    for term in TERMS:
        of = positive["term"] == term
        assert values[term] == positive.loc[of, "prediction"].mean()
        row = table.query("kind == 'term_gap' and measure == 'recall' and unprivileged == @term")
        assert row["value"].iloc[0] == pytest.approx(
            positive.loc[~of, "prediction"].mean() - values[term]
        )


def test_a_classifier_that_ignores_terms_never_flips() -> None:
    data = frames()
    same = data.assign(prediction=data["frame"].astype(int) % 3 == 0)
    rows = term_rows(same.astype({"prediction": int}), ANY)
    flips = only(rows, "flips")
    assert (flips["value"] == 0).all()
    assert flips["high"].between(0.03, 0.08).all()
    result = only(rows, "equality_difference")
    assert (result["value"] == 0).all()
    assert (result["low"] == 0).all()
    assert (result["high"] > 0).all()


def test_gaps_within_frames_are_better_known_than_between_unrelated_posts() -> None:
    """And about as well as a bootstrap over frames says."""
    data = frames(400, apart=0.1)
    paired, apart = (
        gap_table(each, ANY).query("kind == 'gap' and measure == 'recall'").iloc[0]
        for each in (data, data.drop(columns="unit"))
    )
    assert paired["value"] == apart["value"]
    positive = data[data["label"] == 1]
    by_frame = positive.pivot_table("prediction", "frame", "group")
    differences = (by_frame["g"] - by_frame["h"]).to_numpy()
    expected = differences.std() / np.sqrt(len(differences))
    assert (paired["high"] - paired["low"]) / (2 * 1.96) == pytest.approx(expected, rel=0.15)
    assert paired["high"] - paired["low"] < 0.8 * (apart["high"] - apart["low"])


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_the_interval_of_an_equality_difference_holds_the_truth(
    apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 93% or more of 80 sets, though of terms that are alike the sum seen is never 0."""
    monkeypatch.setattr("biasbridge.extrinsic.spread.N_DRAWS", 400)
    many = frames(20_000, seed=99, apart=apart)
    negative = many[many["label"] == 0]
    rates = negative.groupby("term")["prediction"].mean()
    groups = negative.groupby("group")["prediction"].mean()
    truth = float((groups - groups.mean()).abs().sum() * 2) if apart else 0.0
    assert rates.std() < 0.15
    held = 0
    for seed in range(80):
        result = only(term_rows(frames(100, seed, apart), ANY), "equality_difference")
        row = result.set_index("measure").loc["fpr"]
        held += bool(row["low"] - 1e-9 <= truth <= row["high"] + 1e-9)
    assert held / 80 >= 0.9


def test_posts_about_nobody_and_in_no_frame() -> None:
    data = frames()
    other = data.head(4).assign(term="", frame="", unit=["w", "x", "y", "z"], group="none")
    lone = data.head(2).assign(frame="", unit=["p", "q"])
    rows = term_rows(pd.concat([data, other, lone], ignore_index=True), ANY)
    [everything] = [row for row in rows if row.kind == "flips" and row.group == "all"]
    assert everything.support == 60
    [recall] = [row for row in rows if (row.kind, row.measure, row.group) == ("value", "fpr", "a")]
    assert recall.support == 31
    assert not [row for row in term_rows(data.drop(columns="frame"), ANY) if row.kind == "flips"]
