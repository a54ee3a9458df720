"""Sums over pairs without a matrix of pairs are those of the literal loops."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import pairwise
from analysis.evidence import evidence
from analysis.pairwise import (
    concordance,
    distance_products,
    distances,
    greater_before,
    signs,
    ties,
)
from analysis.permutation import permutation_p
from analysis.units import Rows
from analysis.within import residuals

values = st.lists(st.integers(-3, 3) | st.floats(-5, 5), min_size=2, max_size=40)


@given(x=values, seed=st.integers(0, 99))
@settings(deadline=None)
def test_sums_are_those_of_the_loops(x: list[float], seed: int) -> None:
    rng, n = np.random.default_rng(seed), len(x)
    a, b = np.array(x, dtype=float), np.round(rng.normal(size=n), 1)
    weights = rng.normal(size=(n, 2))
    s, t = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    apart, other = np.abs(a[:, None] - a), np.abs(b[:, None] - b)
    with pytest.MonkeyPatch.context() as patch:
        for few in (0, 1000):
            patch.setattr(pairwise, "FEW", few)
            assert concordance(a, b).tolist() == (s * t).sum(axis=1).tolist()
    assert signs(a, b).tolist() == np.sign(a[:, None] - b).sum(axis=1).tolist()
    assert ties(a).tolist() == (s == 0).sum(axis=1).tolist()
    assert distances(a) == pytest.approx(apart.sum(axis=1), abs=1e-9)
    assert distance_products(a, b) == pytest.approx((apart * other).sum(), abs=1e-9)
    above = [sum((weights[i] for i in range(j) if a[i] > a[j]), np.zeros(2)) for j in range(n)]
    assert greater_before(a, weights) == pytest.approx(np.array(above), abs=1e-9)


def test_tau_of_many_rows_is_scipys() -> None:
    x, y = np.random.default_rng(1).integers(0, 50, (2, 3000)).astype(float)
    pairs = concordance(x, y).sum() / np.sqrt((3000 - ties(x)).sum() * (3000 - ties(y)).sum())
    assert pairs == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-12)


def test_many_rows_need_no_matrix_of_pairs() -> None:
    """20,000 rows took 9.9 GB and over a minute."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = 0.05 * x + rng.normal(size=20_000)
    rows = Rows.of(x, y, [str(i) for i in range(20_000)])
    tracemalloc.start()
    found = evidence(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    assert found.within == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-9)
    assert found.within_p == pytest.approx(scipy.stats.pearsonr(x, y).pvalue, rel=0.05)
    assert found.tau_low < scipy.stats.kendalltau(x, y).statistic < found.tau_high


def test_the_normal_limit_is_what_permutations_find(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_t(5, size=1500)
    y = 0.05 * x + (1 + np.abs(x)) * rng.normal(size=1500)
    stratum = np.zeros(1500, dtype=np.intp)
    of = residuals(x, y, stratum)
    drawn = permutation_p(of, stratum, 4999)
    monkeypatch.setattr("analysis.permutation.MOST_PERMUTED", 1000)
    assert permutation_p(of, stratum, 4999) == pytest.approx(drawn, abs=0.03)
