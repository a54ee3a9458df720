"""Clustered correlations against literal loops over what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from analysis.clusters import Pairs, leave_one_out, moments, rho_and_tau, weighted_moments


def made(k: int = 7, rows: int = 3, seed: int = 0, rho: float = 0.5) -> Pairs:
    """k units of ``rows`` rows each; y is the same within a unit."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=k)
    x = (rho * y)[:, None] + rng.normal(size=(k, rows))
    return Pairs(x.ravel(), np.repeat(y, rows), np.repeat(np.arange(k), rows))


def without(pairs: Pairs, unit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return pairs.x[pairs.unit != unit], pairs.y[pairs.unit != unit]


def test_weighted_moments_are_the_rows_copied_out() -> None:
    pairs = made()
    counts = np.random.default_rng(1).integers(0, 3, size=(10, pairs.units)).astype(float)
    found = weighted_moments(counts, moments(pairs)).r
    for weights, r in zip(counts.astype(int), found, strict=True):
        rows = np.repeat(np.arange(len(pairs.x)), weights[pairs.unit])
        assert r == pytest.approx(np.corrcoef(pairs.x[rows], pairs.y[rows])[0, 1], abs=1e-10)


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
