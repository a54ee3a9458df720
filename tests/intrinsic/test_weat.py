"""The equations of WEAT against a literal loop, and what must hold on any vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge import intrinsic
from biasbridge.files import InputError
from biasbridge.intrinsic import associations, effect_size, statistic
from tests.intrinsic.metric_world import Vector, cos

Arrays = tuple[Vector, ...]


def association(w: Vector, a: Vector, b: Vector) -> float:
    to_a, to_b = ([cos(w, each) for each in [*rows]] for rows in (a, b))
    return sum(to_a) / len(to_a) - sum(to_b) / len(to_b)


def normal(seed: int, words: int, dim: int) -> Arrays:
    """Random X, Y, A, B."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=(words, dim)) for _ in range(4))


@st.composite
def queries(draw: st.DrawFn, *, equal: bool = False) -> Arrays:
    """Random X, Y, A, B of 1 to 6 words (X and Y at least 2), 2 to 5 dimensions, rows of very
    different lengths.
    """
    nx, ny = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    na, nb = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dim = draw(st.integers(2, 5))
    sizes = (nx, nx if equal else ny, na, nb)
    return tuple(rng.normal(size=(n, dim)) * 10 ** rng.uniform(-3, 3, size=(n, 1)) for n in sizes)


checked = settings(max_examples=60, deadline=None)


@given(queries(), st.sampled_from([0, 1]))
@checked
def test_equals_the_literal_equations(query: Arrays, ddof: int) -> None:
    x, y, a, b = query
    of_x, of_y = [association(w, a, b) for w in x], [association(w, a, b) for w in y]
    pooled = of_x + of_y
    mean = sum(pooled) / len(pooled)
    deviation = math.sqrt(sum((s - mean) ** 2 for s in pooled) / (len(pooled) - ddof))
    np.testing.assert_allclose(associations(x, a, b), of_x, atol=1e-12)
    assert statistic(x, y, a, b) == pytest.approx(sum(of_x) - sum(of_y), abs=1e-11)
    expected = (sum(of_x) / len(of_x) - sum(of_y) / len(of_y)) / deviation
    assert effect_size(x, y, a, b, ddof=ddof) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n", [1, 3])
def test_the_bounds_are_reached_where_each_target_set_is_uniform(n: int) -> None:
    a, b = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])
    assert effect_size(np.tile(a, (n, 1)), np.tile(b, (n, 1)), a, b) == pytest.approx(2)
    assert effect_size(np.tile(b, (n, 1)), np.tile(a, (n, 1)), a, b) == pytest.approx(-2)
    np.testing.assert_allclose(associations(a, a, b), [2])


def test_single_precision_input_is_computed_in_double() -> None:
    single = [rows.astype(np.float32) for rows in normal(0, 8, 300)]
    assert effect_size(*single) == effect_size(*(rows.astype(np.float64) for rows in single))


GOOD = np.random.default_rng(1).normal(size=(4, 3, 4))


@pytest.mark.parametrize("seed", range(5))
def test_no_spread_is_not_a_number_to_report(seed: int) -> None:
    """Equal attribute sets in another order leave only rounding in the associations: that must not
    become an effect.
    """
    x, y, a, _ = normal(seed, 6, 50)
    with pytest.raises(InputError, match="0 / 0"):
        effect_size(x, y, a, a[::-1])
    with pytest.raises(InputError, match="0 / 0"):
        effect_size(x[:1], x[:1], a, y)


def test_ddof_is_0_or_1() -> None:
    with pytest.raises(InputError, match="ddof is 2; choose 0"):
        effect_size(*GOOD, ddof=2)


def test_every_public_name_is_there() -> None:
    assert all(hasattr(intrinsic, name) for name in dir(intrinsic))
    with pytest.raises(AttributeError, match=r"No biasbridge\.intrinsic attribute waet"):
        getattr(intrinsic, "waet")  # noqa: B009
