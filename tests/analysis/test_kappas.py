"""Kappas against peer libraries, weightings against items that are repeated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from biasbridge.analysis.agreement import cohen_kappa, fleiss_kappa


@pytest.mark.parametrize("seed", range(20))
def test_peers_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, raters = int(rng.integers(5, 60)), int(rng.integers(2, 7))
    lean = rng.dirichlet(np.ones(3), size=size)
    ratings = np.array([[rng.choice(3, p=p) for _ in range(raters)] for p in lean])
    assert fleiss_kappa(ratings)[0] == pytest.approx(
        peer_fleiss(aggregate_raters(ratings)[0]), abs=1e-12
    )
    assert cohen_kappa(ratings[:, 0], ratings[:, 1])[0] == pytest.approx(
        cohen_kappa_score(ratings[:, 0], ratings[:, 1]), abs=1e-12
    )


def test_a_weight_is_a_number_of_times() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(3, size=(30, 4))
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=5)
    for times, cohen, fleiss in zip(
        weights,
        cohen_kappa(ratings[:, 0], ratings[:, 1], weights),
        fleiss_kappa(ratings, weights),
        strict=True,
    ):
        repeated = np.repeat(ratings, times, axis=0)
        assert cohen == pytest.approx(cohen_kappa_score(repeated[:, 0], repeated[:, 1]))
        assert fleiss == pytest.approx(peer_fleiss(aggregate_raters(repeated)[0]))


def test_raters_who_know_one_category_have_no_kappa() -> None:
    ones = np.ones(6, dtype=int)
    assert np.isnan(cohen_kappa(ones, ones)).all()
    assert np.isnan(fleiss_kappa(np.ones((6, 3), dtype=int))).all()
    assert cohen_kappa(ones, np.arange(6) % 2)[0] == 0
