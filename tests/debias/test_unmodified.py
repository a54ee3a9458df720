"""No method, and what methods may leave out: a dose and a direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.balance import Balance
from biasbridge.debias.base import Method, OnVectors, method_label
from biasbridge.debias.labels import Relabel
from biasbridge.debias.unmodified import Unmodified
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query


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
