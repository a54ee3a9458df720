"""OSCaR: what must hold of the rotation, a loop over vectors, and what is refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbridge.debias.oscar import Oscar, rotate
from biasbridge.files import InputError
from biasbridge.intrinsic import find
from tests.debias.make_query import query_of
from tests.debias.planted import QUERY, planted_vectors, vectors_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.stats.arrays import Floats

ANGLES = st.floats(0.02, math.pi - 0.02)
SEEDS = st.integers(0, 1000)


def directions(angle: float, seed: int, dim: int = 6) -> tuple[Floats, Floats, Floats]:
    """Two unit vectors at an angle, and rows."""
    draw = np.random.default_rng(seed)
    first, across = np.linalg.qr(draw.standard_normal((dim, 2)))[0].T
    rows = draw.standard_normal((40, dim))
    return first, math.cos(angle) * first + math.sin(angle) * across, rows


def by_hand(row: Floats, first: Floats, second: Floats) -> Floats:
    """Dev et al. (2021): the four sectors between the two vectors and their opposites."""
    angle = math.acos(first @ second)
    across = second - (first @ second) * first
    across /= np.linalg.norm(across)
    x, y = row @ first, row @ across
    phi = math.acos(x / math.hypot(x, y))
    if y > 0:
        share = phi / angle if phi < angle else (math.pi - phi) / (math.pi - angle)
    elif phi >= math.pi - angle:
        share = (math.pi - phi) / angle
    else:
        share = phi / (math.pi - angle)
    turn = (math.pi / 2 - angle) * share
    new_x = math.cos(turn) * x - math.sin(turn) * y
    new_y = math.sin(turn) * x + math.cos(turn) * y
    return np.asarray(row - x * first - y * across + new_x * first + new_y * across)


@given(ANGLES, SEEDS)
def test_the_first_stays_and_the_second_becomes_orthogonal(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    kept, turned = rotate(np.stack([first, second]), first, second)
    np.testing.assert_allclose(kept, first, atol=1e-9)
    assert turned @ first == pytest.approx(0, abs=1e-9)
    after = rotate(rows, first, second)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(rows, axis=1))
    outside = np.linalg.svd(np.stack([first, second]))[2][2:]
    np.testing.assert_allclose(after @ outside.T, rows @ outside.T, atol=1e-9)


@given(ANGLES, SEEDS)
def test_against_a_loop_over_vectors(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    expected = [by_hand(row, first, second) for row in rows]
    np.testing.assert_allclose(rotate(rows, first, second), expected, atol=1e-9)


@given(ANGLES, SEEDS)
def test_signs_do_not_matter(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    after = rotate(rows, first, second)
    np.testing.assert_allclose(rotate(rows, first, -second), after, atol=1e-9)
    np.testing.assert_allclose(rotate(rows, -first, second), after, atol=1e-9)
    np.testing.assert_allclose(rotate(-rows, first, second), -after, atol=1e-9)


def test_orthogonal_concepts_are_left() -> None:
    first, second, rows = directions(math.pi / 2, 0)
    np.testing.assert_allclose(rotate(rows, first, second), rows, atol=1e-12)


def test_words() -> None:
    before = planted_vectors()
    x, y, a, b = (find(before, QUERY[role].words).raw.mean(axis=0) for role in "XYAB")
    first, second = (each / np.linalg.norm(each) for each in (x - y, a - b))
    expected = [by_hand(row, first, second) for row in before.vectors.astype(float)]
    after = Oscar().modify(before, QUERY, seed=0).vectors
    np.testing.assert_allclose(after, expected, atol=1e-5)


SAME = vectors_of(["m", "n", "f", "g"], np.array([[2.0, 0], [2, 0], [0, 0], [0, 0]]))


@pytest.mark.parametrize(
    ("vectors", "roles", "message"),
    [
        (
            planted_vectors(),
            "m0,m1 f0,f1 c0,c1 h0",
            r"1 of made\.B in the vectors; an eraser needs 2",
        ),
        (SAME, "m,n f,g m,n f,g", "the two directions are parallel"),
        (SAME, "m,n f,g m,n m,n", "the two groups have the same mean"),
    ],
)
def test_what_is_refused(vectors: KeyedVectors, roles: str, message: str) -> None:
    words = [each.replace(",", " ") for each in roles.split()]
    query = query_of(**dict(zip("XYAB", words, strict=True)))
    with pytest.raises(InputError, match=message):
        Oscar().modify(vectors, query, seed=0)
