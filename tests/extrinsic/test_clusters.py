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

from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest
from biasbridge.files import InputError
from biasbridge.stats.intervals import few_clusters_factor

A, B = GroupOrRest("a"), GroupOrRest("b")


def clustered(n: int, icc: float, rng: np.random.Generator) -> GroupedPredictions:
    """Ten items with label 1 in each of n clusters of two groups, of recall .7."""
    scale = 1 / icc - 1 if icc else np.inf
    rates = rng.beta(0.7 * scale, 0.3 * scale, 2 * n) if icc else np.full(2 * n, 0.7)
    found = (rng.random((2 * n, 10)) < rates[:, None]).astype(int).ravel()
    unit, group = np.repeat(np.arange(2 * n), 10), np.repeat([0, 1], 10 * n)
    return GroupedPredictions(["a", "b"], np.arange(20 * n), group, 2 + found, unit=unit)


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
    [("", "'author' is empty in 200 of 200 rows"), ("x", "'author' has one cluster")],
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
