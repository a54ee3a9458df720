"""GBDD: against a loop over all pairs, and doses."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from biasbridge.debias.examples import Examples
from biasbridge.debias.gbdd import Gbdd
from biasbridge.files import InputError


def test_against_a_loop_over_all_pairs() -> None:
    draw = np.random.default_rng(0)
    x, y, rows = (draw.standard_normal((size, 8)) for size in (5, 7, 20))
    differences = []
    for one in x:
        for other in y:
            difference = one / np.linalg.norm(one) - other / np.linalg.norm(other)
            differences.append(difference / np.linalg.norm(difference))
    axis = np.linalg.svd(np.array(differences))[2][0]
    expected = [row - (row @ axis) * axis for row in rows]
    eraser = Gbdd().fit(Examples(x, y, np.empty((0, 2, 8)), ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows), expected, atol=1e-12)


def test_a_word_of_both_groups() -> None:
    rows = np.array([[1.0, 0, 0], [0, 1, 0]])
    eraser = Gbdd().fit(Examples(rows, rows, np.empty((0, 2, 3)), ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows), [[0.5, 0.5, 0], [0.5, 0.5, 0]], atol=1e-12)


def test_groups_that_are_alike() -> None:
    rows = np.ones((3, 4))
    with pytest.raises(InputError, match="same vectors"):
        Gbdd().fit(Examples(rows, rows, np.empty((0, 2, 4)), ""), seed=0)


def test_the_differences_are_not_all_held_at_once() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 1000, 16))
    tracemalloc.start()
    Gbdd().fit(Examples(x, y, np.empty((0, 2, 16)), ""), seed=0)
    assert tracemalloc.get_traced_memory()[1] < 1000 * 1000 * 16 * 4  # bytes, half of all pairs
    tracemalloc.stop()
