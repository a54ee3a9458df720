"""Doses of every method with a dose from -1 to 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from biasbridge.debias.attract_repel import ATTRACT, AttractRepel, _batch_gradient
from biasbridge.debias.base import Method, OnVectors, Unmodified, method_label
from biasbridge.debias.erasers import (
    Bam,
    Examples,
    Gbdd,
    Inlp,
    Leace,
    MeanDifference,
    SentDebias,
    _nearest_map,
    require_enough,
)
from biasbridge.debias.hard import DoubleHard, Hard, Oscar, _most_biased, _rotate
from biasbridge.debias.labels import Relabel
from biasbridge.debias.methods import METHODS, MODEL_KINDS, VECTOR_KINDS, make_method
from biasbridge.debias.text import Balance
from biasbridge.debias.until import dose_for_goal
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, find_choice
from biasbridge.files.paths import HOME
from biasbridge.intrinsic import find, statistic
from biasbridge.train.cli.class_configs import class_configuration
from tests.debias.planted import QUERY, planted_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.words import Query


# Double-hard: where the component that is removed is of words that lean to neither side
AXIS_METHODS = (
    *(Bam, Gbdd, Hard, Inlp, Leace, MeanDifference, Oscar, SentDebias),
    partial(DoubleHard, candidates=1),
)


@pytest.mark.parametrize("method", AXIS_METHODS)
def test_doses(method: Callable[..., Any]) -> None:
    """Dose 0 changes no bit, 1/2 is half way, and WEAT's statistic falls from dose -1 to 1."""
    before = planted_vectors()
    by_dose = {
        dose: method(dose=dose).modify(before, QUERY, seed=0) for dose in (-1, -0.5, 0, 0.5, 1)
    }
    assert by_dose[0].vectors.tobytes() == before.vectors.tobytes()
    assert by_dose[0].vectors is not before.vectors
    half = (before.vectors + by_dose[1].vectors) / 2
    np.testing.assert_allclose(by_dose[0.5].vectors, half, atol=1e-6)
    mirrored = 2 * before.vectors - by_dose[1].vectors
    np.testing.assert_allclose(by_dose[-1].vectors, mirrored, atol=1e-6)
    scores = [lean_of(vectors) for vectors in by_dose.values()]
    assert all(later < earlier for earlier, later in pairwise(scores))
    assert abs(scores[-1]) < 0.5 * scores[2] < scores[2] < scores[0]


def lean_of(vectors: KeyedVectors) -> float:
    """WEAT's statistic of the planted words."""
    x, y, a, b = (find(vectors, QUERY[role].words).raw for role in "XYAB")
    return statistic(x, y, a, b)


# Every debiasing method by name.

EVERY = {name: (changes, cls) for changes, each in METHODS.items() for name, cls in each.items()}


@pytest.mark.parametrize("name", EVERY)
def test_a_name_is_that_of_the_class_and_of_its_configuration(name: str) -> None:
    changes, cls = EVERY[name]
    output = make_method(name, [changes])
    assert (output.name, output.acts_on, type(output)) == (name, changes, cls)
    result = find_choice([HOME], "debias", name)
    assert result
    assert class_configuration(result)["_target_"] == f"{cls.__module__}.{cls.__name__}"


def test_every_kind_has_its_methods() -> None:
    assert {kind: len(methods) for kind, methods in METHODS.items()} == {
        "vectors": 4,
        "states": 7,
        "model": 1,
        "text": 2,
    }


@pytest.mark.parametrize(
    ("name", "acts_on", "fields", "message"),
    [
        ("leac", VECTOR_KINDS, {}, "unknown method 'leac'; did you mean 'leace'"),
        ("balance", VECTOR_KINDS, {}, "balance acts on text; methods on word vectors: attract_"),
        ("steering", VECTOR_KINDS, {}, "acts on a causal language model; methods on word vectors:"),
        ("attract_repel", MODEL_KINDS, {}, "word vectors; methods on a language model: bam"),
        ("inlp", VECTOR_KINDS, {"round": 4}, "inlp has no round; did you mean 'rounds'"),
        ("inlp", VECTOR_KINDS, {"rounds": 0}, "rounds=0: give a whole number of at least 1"),
        ("leace", VECTOR_KINDS, {"dose": 1.5}, "dose=1.5: give a number from -1 to 1"),
        (
            "leace",
            VECTOR_KINDS,
            {"direction": "overbias"},
            "no direction; a negative dose overbias",
        ),
        ("attract_repel", VECTOR_KINDS, {"dose": -0.5}, "dose=-0.5: give a number from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    name: str, acts_on: tuple[str, ...], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make_method(name, acts_on, **fields)


# No method, and what methods may leave out: a dose and a direction.


@choice
class Undosed(OnVectors, Fileless):
    """A method without a dose and without a direction."""

    version: ClassVar[int] = 1
    name: ClassVar[str] = "whole"
    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        return vectors


@pytest.mark.parametrize("dose", [0.5, 1, -1])
def test_a_dose_without_a_method_is_refused(dose: float) -> None:
    with pytest.raises(InputError, match=rf"dose={dose:g} without a method.*debias=balance"):
        Unmodified(dose=dose)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (AttractRepel("overbias", 0.25), ("attract_repel", "overbias", 0.25)),
        (Balance("debias"), ("balance", "debias", 1)),
        (Balance("debias", 0), ("none", "", 0)),
        (Relabel("overbias", 0.5), ("relabel", "overbias", 0.5)),
        (Unmodified("overbias"), ("none", "", 0)),
        (Undosed(), ("whole", "", 1)),
    ],
)
def test_how_tables_name_a_method(method: Method, expected: tuple[str, str, float]) -> None:
    assert isinstance(method, Method)
    assert method_label(method) == expected


# Named numbers of the room, each on either side of what it decides. Numbers are written out here,
# so that another value fails.


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
    result = _nearest_map(np.diag([1.0, -size]))
    assert result == pytest.approx(np.diag([1.0, 1.0 if is_open else -1.0]))


def test_the_most_biased_are_among_50000_words() -> None:
    axis = np.array([1.0, 0.0])
    matrix = np.tile(np.array([[0.0, 1.0]], dtype=np.float32), (50_002, 1))
    matrix[49_999] = [1, 0.1]  # the last that is looked at
    matrix[50_000:] = [1, 0]
    words, along = _most_biased(matrix, axis, np.array([], dtype=np.intp), 1)
    assert words[along].tolist() == [49_999]


@pytest.mark.parametrize(("sine", "is_plane"), [(0.9e-6, False), (1.1e-6, True)])
def test_two_directions_are_apart_by_more_than_a_millionth(sine: float, is_plane: bool) -> None:
    first, second = np.array([1.0, 0.0]), np.array([np.sqrt(1 - sine**2), sine])
    if is_plane:
        assert _rotate(np.eye(2), first, second).shape == (2, 2)
    else:
        with pytest.raises(InputError, match="the two directions are parallel"):
            _rotate(np.eye(2), first, second)


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
    gradient = _batch_gradient(
        vectors,
        vectors,
        np.arange(4),
        ATTRACT,
        np.random.default_rng(0),
        margin=0.6,
        regularisation=0.0,
    )
    assert gradient[0, 1] == pytest.approx(-min(2 / length, 2), rel=1e-6)
