"""One correlation: against tables worked by hand, against scipy, and what must hold for any
numbers.
"""

from __future__ import annotations

import itertools
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from analysis.coefficients import Coefficients, coefficients, fisher_interval

whole = st.integers(-1000, 1000)
pairs = st.lists(st.tuples(whole, whole), min_size=4, max_size=12).map(
    lambda rows: np.array(rows, dtype=float).T
)


def estimates(row: Coefficients) -> NDArray[np.float64]:
    return np.array([row.pearson, row.spearman, row.kendall])


def p_values(row: Coefficients) -> NDArray[np.float64]:
    return np.array([row.pearson_p, row.spearman_p, row.kendall_p])


def test_worked_by_hand() -> None:
    """x = 1..5, y = 2 1 4 3 5. Sum of products of deviations 8, of squares 10 and 10: r = .8; two
    of ten pairs discordant: tau = .6.

    t = .8 sqrt(3 / .36) = 2.3094 on 3 degrees of freedom: p = .1041. The tables of Spearman's and
    Kendall's statistics for n = 5 give 16 of 120 orderings (.1333) at |rho| >= .8 and 28 of 120
    (.2333) at |tau| >= .6. Fisher: tanh(1.0986 -+ 1.9600 / sqrt(2)).
    """
    row = coefficients(np.arange(1.0, 6), np.array([2.0, 1, 4, 3, 5]))
    assert row.n == 5
    assert estimates(row) == pytest.approx([0.8, 0.8, 0.6])
    assert row.pearson_p == pytest.approx(0.1041, abs=5e-5)
    assert row.spearman_p == pytest.approx(16 / 120)
    assert row.kendall_p == pytest.approx(28 / 120)
    assert (row.pearson_low, row.pearson_high) == pytest.approx(
        (np.tanh(1.0986123 - 1.3859038), np.tanh(1.0986123 + 1.3859038))
    )


def test_fisher_interval_worked_by_hand() -> None:
    # z(.5) = .54931, 1 / sqrt(103 - 3) = .1: tanh(.35331) and tanh(.74530).
    assert fisher_interval(0.5, 103) == pytest.approx((0.33931, 0.63235), abs=5e-5)


@pytest.mark.parametrize("n", [4, 9, 10, 40, 400])
def test_equals_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = 0.5 * x + rng.normal(size=n)
    row = coefficients(x, y)
    pearson = stats.pearsonr(x, y)
    assert (row.pearson, row.pearson_p) == pytest.approx(
        (pearson.statistic, pearson.pvalue), rel=1e-12
    )
    assert (row.pearson_low, row.pearson_high) == pytest.approx(
        tuple(pearson.confidence_interval()), rel=1e-12
    )
    spearman, kendall = stats.spearmanr(x, y), stats.kendalltau(x, y)
    assert row.spearman == pytest.approx(spearman.statistic)
    if n > 8:
        assert row.spearman_p == pytest.approx(spearman.pvalue)
    assert (row.kendall, row.kendall_p) == pytest.approx((kendall.statistic, kendall.pvalue))


def test_spearman_p_of_few_tied_pairs_is_the_permutation_test() -> None:
    x, y = np.array([1.0, 2, 2, 4, 5, 6]), np.array([3.0, 1, 3, 5, 4, 5])
    observed = abs(stats.spearmanr(x, y).statistic)
    every = [abs(stats.spearmanr(order, y).statistic) for order in itertools.permutations(x)]
    expected = np.mean(np.array(every) >= observed - 1e-9)
    assert coefficients(x, y).spearman_p == pytest.approx(expected)


@pytest.mark.parametrize("slope", [2, -2, 0.3, -1e-9, 1e9])
@pytest.mark.parametrize("n", [3, 4, 7, 30])
def test_points_on_a_line(n: int, slope: float) -> None:
    x = np.arange(n) / 10
    row = coefficients(x, slope * x + 0.7)
    sign = np.sign(slope)
    assert [row.pearson, row.pearson_p] == [sign, 0]
    assert isnan(row.pearson_low)
    assert isnan(row.pearson_high)
    if n > 3:
        assert row.reason == "all pairs lie on a line, no interval"
    else:
        assert row.reason == "n = 3, no interval below 4 pairs"
        assert row.spearman_p == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("x", "y", "n", "missing", "reason"),
    [
        ([], [], 0, 0, "n = 0, fewer than 3 pairs"),
        ([1, 2], [1, 2], 2, 0, "n = 2, fewer than 3 pairs"),
        ([1, 2, nan, 4], [1, nan, 3, 4], 2, 2, "n = 2, fewer than 3 pairs"),
        ([1, 2, np.inf], [1, 2, 3], 2, 1, "n = 2, fewer than 3 pairs"),
        ([1, 2, 3, 4], [5, 5, 5, nan], 3, 1, "y is constant"),
        ([0, 0, 0, 0], [1, 2, 3, 4], 4, 0, "x is constant"),
        ([0.1 + 0.2, 0.3, 0.3], [1, 1, 1], 3, 0, "x and y are constant"),
    ],
)
def test_undefined_is_nan_with_a_reason(
    x: list[float], y: list[float], n: int, missing: int, reason: str
) -> None:
    row = coefficients(np.array(x), np.array(y))
    assert (row.n, row.n_missing, row.reason) == (n, missing, reason)
    interval = [row.pearson_low, row.pearson_high]
    assert np.isnan([*estimates(row), *p_values(row), *interval]).all()


def test_names_stand_in_the_reason() -> None:
    assert (
        coefficients(np.ones(3), np.arange(3.0), names=("WEAT", "gap")).reason == "WEAT is constant"
    )


@given(pairs, st.floats(0.01, 100), st.floats(-100, 100))
@settings(max_examples=60, deadline=None)
def test_r_is_unchanged_by_units_and_by_swapping(
    data: NDArray[np.float64], scale: float, shift: float
) -> None:
    x, y = data
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    row, swapped = coefficients(x, y), coefficients(y, x)
    moved, turned = coefficients(scale * x + shift, y), coefficients(-scale * x + shift, y)
    assert estimates(swapped) == pytest.approx(estimates(row), abs=1e-9)
    assert estimates(moved) == pytest.approx(estimates(row), abs=1e-9)
    assert estimates(turned) == pytest.approx(-estimates(row), abs=1e-9)


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_in_range_and_the_interval_holds_r(data: NDArray[np.float64]) -> None:
    row = coefficients(*data)
    if isnan(row.pearson_low):
        return
    assert (np.abs(estimates(row)) <= 1).all()
    assert ((p_values(row) >= 0) & (p_values(row) <= 1)).all()
    assert row.pearson_low <= row.pearson <= row.pearson_high
    assert coefficients(data[0] ** 3, data[1]).spearman == pytest.approx(row.spearman)


@pytest.mark.parametrize("size", [1e-300, 1e-8, 1e8, 1e300])
def test_extreme_magnitudes(size: float) -> None:
    row = coefficients(np.array([1.0, 2, 3, 4, 5]) * size, np.array([2.0, 1, 4, 3, 5]))
    assert row.pearson == pytest.approx(0.8)
