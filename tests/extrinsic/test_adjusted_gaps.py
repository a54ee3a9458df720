"""All groups against the rest: adjusted p-values and simultaneous intervals.

Of 1,000 tables of fifteen equal groups of 50 and of 100 items, some simultaneous interval excludes
0 in .059 and .054 (2,200 tables) with one measure, .055 and .066 with four (standard error .007).
"""

from __future__ import annotations

import numpy as np
import pytest

from biasbridge.extrinsic.gap_table import difference_rows
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions
from biasbridge.stats.intervals import Estimate
from biasbridge.stats.multiple_testing import describe_adjusted, holm, p_value

MEASURES = ("recall", "fpr", "precision", "f1")


def sample(n: int, k: int, rng: np.random.Generator, first_fpr: float = 0.1) -> GroupedPredictions:
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
    gaps = Gaps(measures=MEASURES[:n_measures], compare=("one-vs-rest",))
    rng, n_excluding = np.random.default_rng(1), 0
    for _ in range(tables):
        rows = difference_rows(sample(100, 15, rng), gaps)
        n_excluding += any(row.low_simultaneous > 0 or row.high_simultaneous < 0 for row in rows)
    assert n_excluding / tables <= 0.06 + 2 * np.sqrt(0.05 * 0.95 / tables)


def test_the_family_is_all_groups_times_all_measures() -> None:
    gaps = Gaps(measures=MEASURES, compare=("one-vs-rest",))
    drawn = sample(200, 5, np.random.default_rng(1), first_fpr=0.5)
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


def test_the_sentence_counts_gaps_with_a_value() -> None:
    assert describe_adjusted(["a", "b", "c"], [0.0249, float("nan"), 0.0251]) == (
        "After adjustment over 2 comparisons (Bonferroni), 1 gap differs from 0: a."
    )
    assert describe_adjusted(["a"], [0.051]).endswith("no gap differs from 0.")
