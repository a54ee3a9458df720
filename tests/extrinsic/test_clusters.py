"""Intervals of items in clusters, of few and of many.

Coverage of the gap of two groups of equal rates .7, ten items a cluster (600 sets), by clusters a
group and intraclass correlation:

           5     10    20    60
    0     .992  .968  .980  .960
    .3    .970  .973  .935  .958

A single rate of .9, where often all items are right (400 sets): .98 for 10 clusters of 100 items
that are all alike; for clusters of 10 items .96 (10 clusters, icc 0) and .99 (5 clusters, icc .3).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, norm, poisson

import biasbridge
from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.measures import MEASURES, auc_estimate, placements
from biasbridge.files import InputError
from biasbridge.intrinsic.resampling import RESAMPLES, resample_counts
from biasbridge.stats.intervals import few_clusters_factor, quantile

A, B = GroupOrRest("a"), GroupOrRest("b")


def clustered(n: int, icc: float, rng: np.random.Generator) -> GroupedPredictions:
    """Ten items with label 1 in each of n clusters of two groups, of recall .7."""
    scale = 1 / icc - 1 if icc else np.inf
    rates = rng.beta(0.7 * scale, 0.3 * scale, 2 * n) if icc else np.full(2 * n, 0.7)
    result = (rng.random((2 * n, 10)) < rates[:, None]).astype(int).ravel()
    unit, group = np.repeat(np.arange(2 * n), 10), np.repeat([0, 1], 10 * n)
    return GroupedPredictions(["a", "b"], np.arange(20 * n), group, 2 + result, unit=unit)


@pytest.mark.parametrize("icc", [0.0, 0.3])
@pytest.mark.parametrize("n", [5, 10, 20, 60])
def test_intervals_of_clustered_items_hold_the_truth(n: int, icc: float) -> None:
    rng, held = np.random.default_rng(n), 0
    for _ in range(200):
        low, high = clustered(n, icc, rng).difference("recall", A, B)[1:]
        held += low <= 0 <= high
    assert held / 200 >= 0.93 - 2 * 0.017


@pytest.mark.parametrize("n", [10, 30])
def test_intervals_of_clusters_of_zipfs_sizes_hold_the_truth(n: int) -> None:
    """The largest of ten clusters has a third of the items; by their number alone .905 held it."""
    rng, held, studies = np.random.default_rng(n), 0, 300
    sizes = np.maximum(1, (100 * n / 10 / np.arange(1, n + 1)).astype(int))
    for _ in range(studies):
        both = np.tile(sizes, 2)
        rates = np.repeat(rng.beta(0.7 * 7 / 3, 0.3 * 7 / 3, len(both)), both)
        label = 2 + (rng.random(both.sum()) < rates).astype(int)
        group = np.repeat([0, 1], sizes.sum())
        unit = np.repeat(np.arange(2 * n), both)
        drawn = GroupedPredictions(["a", "b"], np.arange(len(label)), group, label, unit=unit)
        low, high = drawn.difference("recall", A, B)[1:]
        held += low <= 0 <= high
    assert held / studies >= 0.93 - 2 * 0.0126


def test_few_clusters_take_the_quantiles_of_t() -> None:
    five = 5 / 4 * (2.776445 / 1.959964) ** 2
    assert few_clusters_factor(np.full(5, 3), 0.95) == pytest.approx(five)
    assert few_clusters_factor(np.ones(10_000), 0.95) == pytest.approx(1, abs=1e-3)
    # 6^2 / (16 + 1 + 1) = 2 effective clusters: t of 1 degree of freedom
    two = 3 / 2 * (12.706205 / 1.959964) ** 2
    assert few_clusters_factor(np.array([4, 1, 1]), 0.95) == pytest.approx(two)


def test_the_variance_is_that_of_a_loop_over_clusters() -> None:
    drawn = clustered(8, 0.3, np.random.default_rng(0))
    right = (drawn.confusion_cell[:80] == 3).reshape(8, 10)
    expected = 0.0
    for cluster in right:
        expected += (sum(float(item) - right.mean() for item in cluster) / 80) ** 2
    expected *= few_clusters_factor(np.full(8, 10), 0.95)
    assert (drawn.unit_influences("recall", A) ** 2).sum() == pytest.approx(expected)


def table(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    author = rng.integers(0, 20, n)
    right = rng.random(n) < np.where(author % 3, 0.95, 0.3)
    label = rng.integers(0, 2, n)
    groups = np.where(author % 2, "m", "f")
    prediction = np.where(right, label, 1 - label)
    columns = {"label": label, "prediction": prediction, "group": groups, "author": author}
    return pd.DataFrame(columns)


def test_a_column_of_clusters_widens_and_is_counted() -> None:
    options: dict[str, Any] = {"privileged": "m", "measures": "recall", "min_support": 0}
    plain, wide = (
        biasbridge.gaps(table(), cluster=cluster, **options).query("kind == 'gap'").iloc[0]
        for cluster in (None, "author")
    )
    assert "n_clusters" not in plain
    positives = table().query("label == 1")
    assert wide["n_clusters"] == positives["author"].nunique()
    assert wide["value"] == plain["value"]
    widening = (wide["high"] - wide["low"]) / (plain["high"] - plain["low"])
    assert wide["widening"] == pytest.approx(widening)
    assert widening > 1.2


@pytest.mark.parametrize(
    ("author", "message"),
    [
        ("", "'author' is empty in every row; leave out --cluster"),
        ("x", "'author' has one cluster"),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(author: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        biasbridge.gaps(table().assign(author=author), cluster="author")


def test_where_all_items_agree_each_cluster_counts_once() -> None:
    """Wilson's interval of 10 of 10, not of 1,000 of 1,000."""
    unit = np.repeat(np.arange(10), 100)
    all_right = GroupedPredictions(
        ["a", "b"], np.arange(1000), np.zeros(1000, dtype=int), np.full(1000, 3), unit=unit
    )
    low = all_right.group_measure("recall", A).estimate.low
    assert low == pytest.approx(10 / (10 + 1.959964**2))


def test_intervals_hold_a_rate_near_1_where_items_of_a_cluster_are_alike() -> None:
    rng, held = np.random.default_rng(0), 0
    unit = np.repeat(np.arange(10), 100)
    for _ in range(200):
        right = np.repeat(rng.random(10) < 0.9, 100).astype(int)
        sample = GroupedPredictions(
            ["a"], np.arange(1000), np.zeros(1000, dtype=int), 2 + right, unit=unit
        )
        estimate = sample.group_measure("recall", A).estimate
        held += estimate.low <= 0.9 <= estimate.high
    assert held / 200 >= 0.93


# Resamples of the posts that are the same for everybody who predicts them.

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


EVERY = Gaps(measures=tuple(MEASURES))


def posts(n: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    groups = rng.choice(["male", "female", "none"], n, p=[0.5, 0.3, 0.2])
    ids = [f"post {number}" for number in range(n)]
    return pd.DataFrame({"resampled_by": ids, "group": groups, "label": rng.integers(0, 2, n)})


def predicted(table: pd.DataFrame, seed: int, errors: float = 0.3) -> pd.DataFrame:
    wrong = np.random.default_rng(seed).random(len(table)) < errors
    return table.assign(prediction=np.where(wrong, 1 - table["label"], table["label"]))


def resampled(predictions: pd.DataFrame, measure: str) -> Floats:
    table = gap_table(predictions, EVERY)
    result = table.query("kind == 'gap' and measure == @measure")["resampled"].tolist()
    assert len(result) == 1
    return np.array(result[0])


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "base_rate"])
def test_equal_predictions_in_any_order_have_equal_lists(measure: str) -> None:
    data = predicted(posts(), seed=1)
    one = resampled(data, measure)
    assert one.shape == (RESAMPLES,)
    assert one.std() > 0
    shuffled = data.sample(frac=1, random_state=0)
    others = data["group"] == "none"
    names = data["resampled_by"].where(~others, "x")
    renamed = data.assign(resampled_by=names, label=data["label"].mask(others, 1))
    for same in (shuffled, data[~others], renamed):
        np.testing.assert_array_equal(resampled(same, measure), one)


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "base_rate"])
def test_the_spread_is_the_standard_error_of_the_bootstrap(measure: str) -> None:
    """The ordinary bootstrap: as many posts as there are, drawn from each group."""
    data = predicted(posts(3000), seed=2)
    rng = np.random.default_rng(0)
    values = {}
    for group in ("male", "female"):
        part = data[data["group"] == group]
        cells = np.bincount(2 * part["label"] + part["prediction"], minlength=4)
        drawn = rng.multinomial(len(part), cells / len(part), size=4000)
        values[group] = MEASURES[measure].values(drawn)
    expected = (values["male"] - values["female"]).std()
    result = resampled(data, measure)
    assert result.std() == pytest.approx(expected, rel=0.15)
    table = gap_table(data, EVERY).query("kind == 'gap' and measure == @measure")
    assert result.mean() == pytest.approx(table["value"].iloc[0], abs=0.3 * expected)


def test_how_often_a_post_is_drawn_is_poisson_and_its_own() -> None:
    ids = [str(number) for number in range(10_000)]
    kinds = np.arange(10_000) % 5
    counts = resample_counts(ids, kinds, 5)
    assert counts.shape == (RESAMPLES, 5)
    parts = (slice(3000), slice(3000, None))
    np.testing.assert_array_equal(
        counts, sum(resample_counts(ids[part], kinds[part], 5) for part in parts)
    )
    one_each = resample_counts(ids[:500], np.arange(500), 500)
    result = np.bincount(one_each.ravel(), minlength=9)
    expected = poisson.pmf(np.arange(5), 1) * one_each.size
    tail = (result[5:].sum(), one_each.size - expected.sum())
    assert chisquare([*result[:5], tail[0]], [*expected, tail[1]]).pvalue > 0.001


def test_a_resample_without_support_is_nan() -> None:
    rows = [(f"m{i}", "male", 1, 1) for i in range(20)] + [("f", "female", 1, 1)]
    data = pd.DataFrame(rows, columns=["resampled_by", "group", "label", "prediction"])
    table = gap_table(data, Gaps(min_support=0)).query("kind == 'gap'").set_index("measure")
    recall = np.array(table["resampled"]["recall"])
    assert np.isnan(recall).mean() == pytest.approx(np.exp(-1), abs=0.12)
    assert (recall[~np.isnan(recall)] == 0).all()
    assert table["resampled"]["fpr"] == []


# Areas under the ROC curve: the interval by its definition, and how often it holds.
#
# Coverage of 1,500 simulated sets, binormal, by the true area and the numbers of positives and
# negatives:
#
#             10, 10   20, 80   100, 100
#     .50     .949     .953     .945
#     .70     .956     .965     .937
#     .85     .965     .979     .956
#     .95     .959     .989     .971


def variance(auc: float, m: int, n: int) -> float:
    """Hanley and McNeil (1982), by their Q1 and Q2."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (auc * (1 - auc) + (m - 1) * (q1 - auc**2) + (n - 1) * (q2 - auc**2)) / (m * n)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("sizes", [(5, 5), (10, 200), (300, 40)])
def test_the_ends_are_where_the_area_seen_is_as_far_as_its_error_goes(
    value: float, sizes: tuple[int, int]
) -> None:
    z, result = quantile(0.95), auc_estimate(value, *sizes, 0.95, 1.0)
    for end in (result.low, result.high):
        if 0 < end < 1:
            assert abs(value - end) == pytest.approx(z * np.sqrt(variance(end, *sizes)), abs=1e-9)
        else:
            assert end == value
    assert result.low < result.high


def test_placements_count_pairs() -> None:
    rng = np.random.default_rng(0)
    positive, negative = np.round(rng.random(30), 1), np.round(rng.random(20), 1)
    pairs = list(product(positive, negative))
    expected = np.mean([1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs])
    for each in placements(positive, negative):
        assert each.mean() == pytest.approx(expected)


@pytest.mark.parametrize("auc", [0.7, 0.95])
def test_it_holds_the_truth(auc: float) -> None:
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        positive = rng.normal(np.sqrt(2) * norm.ppf(auc), 1, 50)
        value = float(placements(positive, rng.normal(size=50))[0].mean())
        result = auc_estimate(value, 50, 50, 0.95, 1.0)
        held += result.low <= auc <= result.high
    assert 0.93 <= held / 400 <= 0.99
