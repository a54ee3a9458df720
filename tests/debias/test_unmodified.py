"""No method, and what methods may leave out: a dose and a direction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from debias.attract_repel import AttractRepel
from debias.balance import Balance
from debias.kinds import (
    Direction,
    Method,
    Place,
    TextMethod,
    VectorsMethod,
    direction_of,
    dose_of,
)
from debias.unmodified import Unmodified
from files import InputError, choice

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query


@choice
class Undosed:
    """A method without a dose and without a direction."""

    version: ClassVar[int] = 1
    name: ClassVar[str] = "whole"
    acts_on: ClassVar[Place] = "vectors"
    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    def files(self) -> list[Path]:
        return []

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        return vectors


@pytest.mark.parametrize("direction", ["debias", "overbias"])
def test_no_method_takes_a_direction_and_goes_nowhere(direction: Direction) -> None:
    none = Unmodified(direction, 0)
    assert (none.name, none.acts_on, none.roles) == ("none", "none", ())
    assert (direction_of(none), dose_of(none)) == ("", 0)


@pytest.mark.parametrize("dose", [0.5, 1, -1])
def test_a_dose_without_a_method_is_refused(dose: float) -> None:
    with pytest.raises(InputError, match=rf"dose={dose:g} without a method.*debias=balance"):
        Unmodified(dose=dose)


@pytest.mark.parametrize(
    ("method", "direction", "dose"),
    [
        (AttractRepel("overbias", 0.25), "overbias", 0.25),
        (Balance("debias"), "debias", 1),
        (Balance("debias", 0), "", 0),
        (Undosed(), "", 1),
    ],
)
def test_direction_and_dose_of_a_method(method: Method, direction: str, dose: float) -> None:
    assert isinstance(method, Method)
    assert (direction_of(method), dose_of(method)) == (direction, dose)
    assert isinstance(method, TextMethod) == (method.acts_on == "text")
    assert isinstance(method, VectorsMethod) == (method.acts_on == "vectors")
