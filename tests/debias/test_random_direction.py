"""A random direction: drawn by the seed, and of no effect on average."""

from __future__ import annotations

import numpy as np
import pytest

from biasbridge.debias.random_direction import RandomDirection
from biasbridge.intrinsic import effect_size
from tests.debias.planted import QUERY, planted_vectors, vectors_of


def test_the_seed_decides_the_direction() -> None:
    before, method = planted_vectors(), RandomDirection()
    one, again, other = (method.modify(before, QUERY, seed=seed).vectors for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    taken = [np.linalg.svd(before.vectors - each)[1] for each in (one, other)]
    assert all(sizes[0] > 1 > 1e-4 > sizes[1] for sizes in taken), "of one dimension each"
    assert not np.allclose(one, other, atol=1e-3)


def test_dose_0_changes_no_bit() -> None:
    before = planted_vectors()
    after = RandomDirection(dose=0).modify(before, QUERY, seed=0)
    assert after.vectors.tobytes() == before.vectors.tobytes()


def test_weat_of_random_vectors_hardly_moves() -> None:
    """A dimension of 200 holds 1/200 of what WEAT sees: the mean of 50 changes is within its error
    of none, and none is large.
    """
    changes = []
    for seed in range(50):
        rows = np.random.default_rng(seed).standard_normal((32, 200))
        before = vectors_of([f"w{number}" for number in range(32)], rows)
        after = RandomDirection().modify(before, QUERY, seed=1000 + seed)
        changes.append(
            effect_size(*np.split(after.vectors, 4)) - effect_size(*np.split(before.vectors, 4))
        )
    error = np.std(changes) / np.sqrt(len(changes))
    assert np.mean(changes) == pytest.approx(0, abs=4 * error)
    assert np.abs(changes).max() < 0.3
