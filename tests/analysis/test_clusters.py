"""Clustered correlations against literal loops: rows copied out, units left out, every ordering
tried.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from analysis.clusters import (
    Pairs,
    coverage,
    detectable,
    jackknife_interval,
    leave_one_out,
    moments,
    pearson_interval,
    resample,
    rho_and_tau,
    unit_permutation_p,
    weighted_pearson,
)


def made(k: int = 7, rows: int = 3, seed: int = 0, rho: float = 0.5) -> Pairs:
    """k units of ``rows`` rows each; y is the same within a unit."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=k)
    x = (rho * y)[:, None] + rng.normal(size=(k, rows))
    return Pairs(x.ravel(), np.repeat(y, rows), np.repeat(np.arange(k), rows))


def copied(pairs: Pairs, counts: NDArray[np.float64]) -> Pairs:
    """The rows of a resample written out, each copy of a unit a unit of its own."""
    picked = [
        np.flatnonzero(pairs.unit == unit)
        for unit, count in enumerate(counts.astype(int))
        for _ in range(count)
    ]
    unit = np.repeat(np.arange(len(picked)), [len(rows) for rows in picked])
    rows = np.concatenate(picked)
    return Pairs(pairs.x[rows], pairs.y[rows], unit)


def influence_error(pairs: Pairs) -> float:
    """The error of z by the infinitesimal jackknife, from its definition: the derivative of r in
    each unit's weight, numerically.
    """
    sums, ones = moments(pairs), np.ones((1, pairs.units))
    r = float(weighted_pearson(ones, sums)[0][0])
    total = 0.0
    for unit in range(pairs.units):
        more, less = ones.copy(), ones.copy()
        more[0, unit] += 1e-5
        less[0, unit] -= 1e-5
        total += (
            (weighted_pearson(more, sums)[0][0] - weighted_pearson(less, sums)[0][0]) / 2e-5
        ) ** 2
    return math.sqrt(total) / (1 - r * r)


def test_weighted_moments_are_the_rows_copied_out() -> None:
    pairs = made()
    weights = resample(pairs.units, 40, 1)
    found, errors = weighted_pearson(weights, moments(pairs))
    for counts, r, error in zip(weights, found, errors, strict=True):
        rows = copied(pairs, counts)
        assert r == pytest.approx(np.corrcoef(rows.x, rows.y)[0, 1], abs=1e-10)
        assert error == pytest.approx(influence_error(rows), rel=1e-6)


def test_the_interval_is_the_studentised_bootstrap_written_out() -> None:
    pairs = made(k=9)
    weights = resample(9, 300, 2)
    r = np.corrcoef(pairs.x, pairs.y)[0, 1]
    strayed = []
    for counts in weights:
        rows = copied(pairs, counts)
        strayed.append(
            abs(math.atanh(np.corrcoef(rows.x, rows.y)[0, 1]) - math.atanh(r))
            / influence_error(rows)
        )
    reach = np.quantile(strayed, 0.95) * influence_error(pairs)
    found = pearson_interval(pairs, weights)
    bounds = [math.tanh(math.atanh(r) + side * reach) for side in (-1, 1)]
    assert [found.value, found.low, found.high] == pytest.approx([r, *bounds], abs=1e-6)


def without(pairs: Pairs, unit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return pairs.x[pairs.unit != unit], pairs.y[pairs.unit != unit]


def test_units_left_out_one_by_one() -> None:
    pairs = made()
    expected = [stats.pearsonr(*without(pairs, unit)).statistic for unit in range(pairs.units)]
    assert leave_one_out(pairs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_rank_correlations_are_scipys_of_all_rows_and_without_each_unit(ties: bool) -> None:
    pairs = made()
    if ties:
        pairs = Pairs(pairs.x.round(), pairs.y.round(), pairs.unit)
    rho, tau = rho_and_tau(pairs)
    kept = [(pairs.x, pairs.y), *(without(pairs, unit) for unit in range(pairs.units))]
    assert rho == pytest.approx([stats.spearmanr(*rows).statistic for rows in kept], abs=1e-12)
    assert tau == pytest.approx([stats.kendalltau(*rows).statistic for rows in kept], abs=1e-12)


def test_of_many_units_groups_are_left_out() -> None:
    pairs = made(k=101, rows=1)
    rho, tau = rho_and_tau(pairs)
    assert len(rho) == len(tau) == 1 + 40
    first = pairs.unit * 40 // 101 > 0
    expected = stats.kendalltau(pairs.x[first], pairs.y[first]).statistic
    assert tau[1] == pytest.approx(expected, abs=1e-12)


def test_a_constant_side_has_no_rank_correlation() -> None:
    flat = Pairs(np.ones(4), np.arange(4.0), np.arange(4))
    assert np.isnan(rho_and_tau(flat)).all()


def test_the_jackknife_interval_by_hand() -> None:
    left_out = np.array([0.5, 0.6, 0.4, 0.5])
    z = np.arctanh(left_out)
    error = math.sqrt(3 / 4 * sum((value - z.mean()) ** 2 for value in z))
    found = jackknife_interval(0.5, left_out)
    # t, 2 degrees of freedom
    assert found.high == pytest.approx(math.tanh(math.atanh(0.5) + 4.302652729911275 * error))
    assert jackknife_interval(1.0, left_out).low == 1
    assert math.isnan(jackknife_interval(0.5, left_out[:3]).low)


@pytest.mark.parametrize("rows", [1, 3])
def test_permutation_p_is_that_of_all_orderings_of_whole_units(rows: int) -> None:
    pairs = made(k=6, rows=rows, seed=5)
    x, y = pairs.x.reshape(6, rows), pairs.y.reshape(6, rows)
    observed = abs(np.corrcoef(pairs.x, pairs.y)[0, 1])
    every = [
        abs(np.corrcoef(x.ravel(), y[list(order)].ravel())[0, 1])
        for order in itertools.permutations(range(6))
    ]
    exact = np.mean(np.array(every) >= observed - 1e-12)
    p, reason = unit_permutation_p(pairs, 20_000, 0)
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)
    assert reason == ""


def test_units_change_places_with_units_of_their_size() -> None:
    one_alone = Pairs(
        np.arange(7.0), np.array([1.0, 3, 2, 5, 4, 4, 1]), np.array([0, 0, 1, 1, 2, 2, 3])
    )
    assert (
        unit_permutation_p(one_alone, 100, 0)[1] == "1 units of a size of their own stay in place"
    )
    all_alone = Pairs(np.arange(6.0), np.array([1.0, 3, 2, 5, 4, 4]), np.array([0, 1, 1, 2, 2, 2]))
    p, reason = unit_permutation_p(all_alone, 100, 0)
    assert math.isnan(p)
    assert "no two units have the same number of rows" in reason


def test_copies_of_rows_leave_the_interval_where_it_was() -> None:
    # The same gap beside three scores is one unit: rows written three times are no evidence.
    once = made(k=12, rows=1)
    thrice = Pairs(np.repeat(once.x, 3), np.repeat(once.y, 3), np.repeat(once.unit, 3))
    weights = resample(12, 500, 0)
    one, three = pearson_interval(once, weights), pearson_interval(thrice, weights)
    assert (three.value, three.low, three.high) == pytest.approx((one.value, one.low, one.high))


def test_the_detectable_correlation_is_cohens() -> None:
    # Cohen (1988), table 3.4.1, two-tailed, power .80: n = 85 for r = .30 and 28 for .50.
    assert detectable(85) == pytest.approx(0.30, abs=0.005)
    assert detectable(28) == pytest.approx(0.50, abs=0.02)
    assert math.isnan(detectable(3))


def test_coverage_is_told_for_the_next_smaller_study() -> None:
    assert coverage(7) == "not known below 8 units"
    assert coverage(20).endswith("studies of 16 units")


def test_a_line_has_no_width_and_few_units_have_no_interval() -> None:
    line = Pairs(np.arange(5.0), 2 * np.arange(5.0), np.arange(5))
    found = pearson_interval(line, resample(5, 100, 0))
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))
    few = Pairs(np.array([1.0, 2, 4]), np.array([2.0, 1, 3]), np.arange(3))
    assert math.isnan(pearson_interval(few, resample(3, 100, 0)).low)
