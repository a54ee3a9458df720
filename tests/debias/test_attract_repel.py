"""Attract-repel as a choice: identity, doses, lengths, what is left alone, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from biasbridge.debias.attract_repel import AttractRepel, Norms, interpolate
from biasbridge.debias.constraints import mean_cosine, stereotype_pairs
from biasbridge.files import InputError
from tests.debias.make_query import make_query

if TYPE_CHECKING:
    from biasbridge.debias.base import Direction
    from biasbridge.stats.arrays import Floats

ROLES = [tuple(f"{role}{number}" for number in range(8)) for role in ("m", "f", "c", "h")]
EIGHTS = make_query("eights", *ROLES)
OTHERS = [f"other{number}" for number in range(40)]


@pytest.fixture
def vectors() -> KeyedVectors:
    """Vectors of very different lengths in which a word leans to the attributes of its own group,
    and 40 words of no pair.
    """
    rng = np.random.default_rng(0)
    dim = 24
    axis = rng.standard_normal(dim)
    words = [word for role in ROLES for word in role]
    lean = np.repeat([1, -1, 1, -1], 8)[:, None] * axis
    rows = np.concatenate(
        [rng.standard_normal((32, dim)) + 0.5 * lean + 0.3, rng.standard_normal((40, dim))]
    )
    made = KeyedVectors(dim)
    made.add_vectors(words + OTHERS, (rows * rng.uniform(0.1, 3, size=(72, 1))).astype(np.float32))
    made.expandos["count"] = np.arange(72, 0, -1)
    return made


def lean(vectors: KeyedVectors) -> float:
    """Mean pro- minus mean anti-stereotypical cosine."""
    pro, anti = stereotype_pairs(EIGHTS)
    return mean_cosine(vectors, pro) - mean_cosine(vectors, anti)


@pytest.mark.parametrize("norms", ["keep", "unit"])
@pytest.mark.parametrize(("direction", "sign"), [("debias", -1), ("overbias", 1)])
def test_the_lean_moves_with_the_dose(
    vectors: KeyedVectors, direction: Direction, sign: int, norms: Norms
) -> None:
    leans = [
        lean(AttractRepel(direction, dose, norms=norms).modify(vectors, EIGHTS, seed=0))
        for dose in (0, 0.2, 0.4, 0.6, 0.8, 1)
    ]
    assert leans[0] == lean(vectors)
    assert all(sign * (later - earlier) > 0.01 for earlier, later in pairwise(leans))
    assert sign * (leans[-1] - leans[0]) > 0.2


@pytest.mark.parametrize("norms", ["keep", "unit"])
def test_dose_0_is_the_identity(vectors: KeyedVectors, norms: Norms) -> None:
    same = AttractRepel("debias", 0, norms=norms).modify(vectors, EIGHTS, seed=0)
    assert same.vectors.tobytes() == vectors.vectors.tobytes()
    assert same.index_to_key == vectors.index_to_key
    assert same.key_to_index == vectors.key_to_index
    assert same.expandos["count"].tolist() == vectors.expandos["count"].tolist()


@pytest.mark.parametrize("dose", [0.3, 1])
def test_lengths_and_untouched_words_are_kept(vectors: KeyedVectors, dose: float) -> None:
    before = vectors.vectors.copy()
    moved = AttractRepel("debias", dose).modify(vectors, EIGHTS, seed=0)
    assert vectors.vectors.tobytes() == before.tobytes()
    assert moved.vectors[32:].tobytes() == before[32:].tobytes()
    assert (moved.vectors[:32] != before[:32]).any(axis=1).all()
    np.testing.assert_allclose(
        np.linalg.norm(moved.vectors, axis=1), np.linalg.norm(before, axis=1), rtol=1e-6
    )
    assert moved.vectors.dtype == np.float32


def test_unit_norms_are_the_references_output(vectors: KeyedVectors) -> None:
    vectors.vectors[-1] = 0
    unit = AttractRepel("debias", norms="unit").modify(vectors, EIGHTS, seed=0).vectors
    keep = AttractRepel("debias").modify(vectors, EIGHTS, seed=0).vectors
    np.testing.assert_allclose(
        unit[:-1], keep[:-1] / np.linalg.norm(keep[:-1], axis=1, keepdims=True), atol=1e-6
    )
    assert not unit[-1].any()


@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_a_vector_without_direction_is_refused(vectors: KeyedVectors, value: float) -> None:
    vectors.vectors[vectors.key_to_index["f3"]] = value
    with pytest.raises(InputError, match="the vector of 'f3' is zero or not finite"):
        AttractRepel("debias").modify(vectors, EIGHTS, seed=0)


rows = arrays.arrays(np.float64, (3, 4), elements=st.floats(-5, 5)).filter(
    lambda row: bool((np.linalg.norm(row, axis=1) > 1e-3).all())
)


def directions(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def angle(left: Floats, right: Floats) -> Floats:
    apart: Floats = np.linalg.norm(left - right, axis=1)
    together: Floats = np.linalg.norm(left + right, axis=1)
    return np.arctan2(apart, together) * 2


@given(rows, rows, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_the_angle_moved_grows_with_the_dose(
    before: Floats, after: Floats, doses: list[float]
) -> None:
    start, end = directions(before), directions(after)
    moved = [angle(start, interpolate(before, after, dose)) for dose in sorted(doses)]
    assert all((later >= earlier - 1e-6).all() for earlier, later in pairwise(moved))
    np.testing.assert_allclose(interpolate(before, after, 0), start, atol=1e-9)
    np.testing.assert_allclose(interpolate(before, after, 1), end, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(interpolate(before, after, doses[0]), axis=1), 1)


def test_an_opposite_word_stays_until_one_half_and_then_turns() -> None:
    start, end = np.array([[0.0, 2.0]]), np.array([[0.0, -1.0]])
    turned = [interpolate(start, end, dose)[0].tolist() for dose in (0, 0.3, 0.5, 0.7, 1)]
    assert turned == [[0, 1], [0, 1], [0, 1], [0, -1], [0, -1]]
