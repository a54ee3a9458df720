"""BAM: the orthogonal map that SciPy finds, and doses."""

from __future__ import annotations

import numpy as np
from scipy.linalg import orthogonal_procrustes

from biasbridge.debias.bam import Bam
from biasbridge.debias.examples import Examples


def test_the_average_with_the_image_under_the_orthogonal_map() -> None:
    draw = np.random.default_rng(0)
    pairs, rows = draw.standard_normal((12, 2, 6)), draw.standard_normal((20, 6))
    units = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    turn, _ = orthogonal_procrustes(units[:, 0], units[:, 1])
    none = np.empty((0, 6))
    eraser = Bam().fit(Examples(none, none, pairs, ""), seed=0)
    after = eraser.apply(rows)
    np.testing.assert_allclose(after, (rows + rows @ turn) / 2, atol=1e-12)
    found = 2 * eraser.apply(np.eye(6)) - np.eye(6)
    np.testing.assert_allclose(found @ found.T, np.eye(6), atol=1e-12)
    assert eraser.norm <= 1 + 1e-12


def test_a_mirror_brings_the_two_of_a_pair_together() -> None:
    """Pairs that differ in the sign of one dimension alone lose it."""
    draw = np.random.default_rng(0)
    one = draw.standard_normal((10, 4))
    pairs = np.stack([one, one * [-1, 1, 1, 1]], axis=1)
    none = np.empty((0, 4))
    after = Bam().fit(Examples(none, none, pairs, ""), seed=0).apply(one)
    np.testing.assert_allclose(after, one * [0, 1, 1, 1], atol=1e-12)


def test_what_few_pairs_leave_open_is_settled() -> None:
    """Neither the order of pairs nor rounding decides; what no pair concerns stays."""
    draw = np.random.default_rng(0)
    pairs, none = draw.standard_normal((3, 2, 8)), np.empty((0, 8))
    pairs[..., 6:] = 0
    first, second, third = (
        Bam().fit(Examples(none, none, each, ""), seed=0).apply(np.eye(8))
        for each in (pairs, pairs[::-1], pairs + 1e-12 * draw.standard_normal(pairs.shape))
    )
    np.testing.assert_allclose(first, second, atol=1e-9)
    np.testing.assert_allclose(first, third, atol=1e-6)
    np.testing.assert_allclose(first[6:], np.eye(8)[6:], atol=1e-9)
