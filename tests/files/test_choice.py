"""Choices check their fields: what is allowed, what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol

import pytest
from annotated_types import Ge, Le

from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Count, Positive, Share, describe_type


class Reader(Choice, Protocol):
    def read(self) -> str: ...


class Whole:
    version: ClassVar[int] = 1
    name = "whole"

    def files(self) -> list[Path]:
        return []

    def read(self) -> str:
        return ""


class Nameless:
    def read(self) -> str:
        return ""


@choice
class Model:
    dim: Count = 3
    dose: Share = 1.0
    side: Literal["left", "right"] = "left"
    shift: Annotated[float, Ge(-1), Le(1)] = 0
    widths: tuple[Count, ...] = (3, 4)
    limit: int | None = None
    reader: Reader | None = None

    def __post_init__(self) -> None:
        if self.dim == 13:
            raise InputError("thirteen")


@choice
class Larger(Model):
    rate: Positive = 2


def test_lists_become_tuples_and_whole_numbers_floats() -> None:
    model = Larger(widths=[1, 2], dose=0, reader=Whole())  # type: ignore[arg-type]
    assert model.widths == (1, 2)
    assert repr(model.dose) == "0.0"
    assert repr(model.rate) == "2.0"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("dim", 0, "dim=0: give a whole number of at least 1"),
        ("dim", "3", "dim='3': give a whole number of at least 1"),
        ("dim", True, "dim=True: give a whole number of at least 1"),
        ("dose", 1.5, "dose=1.5: give a number from 0 to 1"),
        ("dose", float("nan"), "dose=nan: give a number from 0 to 1"),
        ("shift", -2, "shift=-2: give a number from -1 to 1"),
        ("side", "lefd", "side='lefd': give one of left, right; did you mean 'left'?"),
        ("widths", [0], "widths=(0,): give a list, each item a whole number of at least 1"),
        (
            "widths",
            3,
            "widths=3: give a list, each item a whole number of at least 1; of one item: [3]",
        ),
        ("limit", 1.5, "limit=1.5: give a whole number or null"),
        ("rate", 0, "rate=0: give a number above 0"),
        ("dim", 13, "thirteen"),
    ],
)
def test_what_a_type_does_not_allow_is_refused_in_one_line(
    field: str, value: object, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        Larger(**{field: value})  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_what_a_kind_of_choice_needs_is_named_where_it_lacks() -> None:
    assert describe_type(Reader) == "Reader"
    with pytest.raises(InputError, match="no Reader, for it has no version, name, files"):
        Model(reader=Nameless())  # type: ignore[arg-type]
