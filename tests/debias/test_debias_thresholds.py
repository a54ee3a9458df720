"""Named numbers of the room, each on either side of what it decides. Numbers are written out here,
so that another value fails.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from biasbridge.debias.bam import nearest_map
from biasbridge.debias.double_hard import most_biased
from biasbridge.debias.examples import Examples, require_enough
from biasbridge.debias.inlp import Inlp
from biasbridge.debias.margins import ATTRACT, batch_gradient
from biasbridge.debias.oscar import rotate
from biasbridge.debias.until import dose_for_goal
from biasbridge.files import InputError


@pytest.mark.parametrize("number", [1, 2])
def test_an_eraser_needs_two_words_of_each(number: int) -> None:
    if number == 2:
        require_enough(number, "names", "the vectors")
    else:
        with pytest.raises(InputError, match="1 of names in the vectors; an eraser needs 2"):
            require_enough(number, "names", "the vectors")


@pytest.mark.parametrize(("size", "is_open"), [(0.9e-10, True), (1.1e-10, False)])
def test_a_direction_of_less_than_1e_10_of_the_largest_is_left_open(
    size: float, is_open: bool
) -> None:
    """Of the map diag(1, -s): the identity where the second is open, else its sign."""
    found = nearest_map(np.diag([1.0, -size]))
    assert found == pytest.approx(np.diag([1.0, 1.0 if is_open else -1.0]))


def test_the_most_biased_are_among_50000_words() -> None:
    axis = np.array([1.0, 0.0])
    matrix = np.tile(np.array([[0.0, 1.0]], dtype=np.float32), (50_002, 1))
    matrix[49_999] = [1, 0.1]  # the last that is looked at
    matrix[50_000:] = [1, 0]
    words, along = most_biased(matrix, axis, np.array([], dtype=np.intp), 1)
    assert words[along].tolist() == [49_999]


@pytest.mark.parametrize(("sine", "is_plane"), [(0.9e-6, False), (1.1e-6, True)])
def test_two_directions_are_apart_by_more_than_a_millionth(sine: float, is_plane: bool) -> None:
    first, second = np.array([1.0, 0.0]), np.array([np.sqrt(1 - sine**2), sine])
    if is_plane:
        assert rotate(np.eye(2), first, second).shape == (2, 2)
    else:
        with pytest.raises(InputError, match="the two directions are parallel"):
            rotate(np.eye(2), first, second)


@pytest.mark.parametrize(("apart", "rank"), [(0.9e-10, 0), (1.1e-10, 1)])
def test_a_classifier_by_less_than_1e_10_finds_nothing(apart: float, rank: int) -> None:
    """Of one row a group the weights of a support vector machine are their difference."""
    first, second = np.array([[apart, 0.0]]), np.zeros((1, 2))
    assert Inlp().fit(Examples(first, second, np.empty((0, 2, 2)), ""), seed=0).rank == rank


def found_dose(score: Callable[[float], float]) -> float:
    """The dose at which a score is 0, on the side of debiasing."""
    goal = SimpleNamespace(value=0.0, name="score")
    return dose_for_goal(score, goal, (1,))  # type: ignore[arg-type]


@pytest.mark.parametrize(("start", "dose"), [(0.0009, 0.0), (0.0011, 0.5)])
def test_a_score_within_a_thousandth_is_reached(start: float, dose: float) -> None:
    assert found_dose(lambda at: start if at < 0.5 else -1.0) == pytest.approx(dose, abs=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "is_seen"), [(0.04, 0.06, True), (0.051, 0.099, False), (0.09, 0.11, True)]
)
def test_a_score_is_looked_at_every_twentieth_of_a_dose(
    low: float, high: float, is_seen: bool
) -> None:
    """Below 0 between two doses alone."""

    def score(dose: float) -> float:
        return -1.0 if low < dose < high else 1.0

    if is_seen:
        assert found_dose(score) == pytest.approx(low, abs=1e-6)
    else:
        with pytest.raises(InputError, match="does not reach 0"):
            found_dose(score)


def test_a_jump_is_found_to_a_millionth_of_a_dose() -> None:
    """A twentieth halved until it is no more than 1e-6: 16 times."""
    dose = found_dose(lambda at: 1.0 if at < 0.31234 else -1.0)
    step = 0.05 / 2**16
    assert 0 <= dose - 0.31234 <= step <= 1e-6
    assert (dose - 0.3) / step == pytest.approx(round((dose - 0.3) / step), abs=1e-3)
    assert round((dose - 0.3) / step) % 2 == 1  # no halving less


@pytest.mark.parametrize("length", [1.0, 1 / 0.95, 1 / 1.05])
def test_an_occurrence_moves_a_word_by_at_most_2_per_coordinate(length: float) -> None:
    """Of four orthogonal words all hinges are open, and a word's partner pulls with 2 / |w|."""
    vectors = (length * np.eye(4)).astype(np.float32)
    gradient = batch_gradient(
        vectors,
        vectors,
        np.arange(4),
        ATTRACT,
        np.random.default_rng(0),
        margin=0.6,
        regularisation=0.0,
    )
    assert gradient[0, 1] == pytest.approx(-min(2 / length, 2), rel=1e-6)
