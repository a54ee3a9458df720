"""Choices check their fields: what is allowed, what is refused, and in which words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol

import pytest
from annotated_types import Ge, Le

from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import (
    Count,
    Positive,
    Share,
    choice_classes,
    describe_type,
    find_choice,
    present_classes,
)
from biasbridge.files.paths import HOME


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
    with pytest.raises(InputError, match="not a Reader: it lacks version, name, files"):
        Model(reader=Nameless())  # type: ignore[arg-type]


# Classes found by their presence, without an import.

MODULE = """
raise SystemExit("a module is parsed, not run")

class Mine(Metric):
    about: ClassVar[MetricInfo] = MetricInfo(name="mine", title="Mine")

class Base(OnVectors):
    name: ClassVar[str]

class Shift(Base):
    name: ClassVar[str] = "shift"

class Words:
    acts_on: ClassVar[str] = "text"
    name = "words"

class Posts:
    name = "posts"
    chosen_as: ClassVar[tuple[str, ...]] = ("source/posts", "challenge/posts")

class Other:
    name: ClassVar[str] = "other"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = f"from debias.base import OnVectors\n{MODULE}"
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    (tmp_path / "broken.py").write_text("class MetricInfo(:\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("intrinsic", ["mine"]),
        ("debias", ["shift", "words"]),
        ("source", ["posts"]),
        ("challenge", ["posts"]),
        ("task", []),
    ],
)
def test_a_class_says_how_it_is_chosen(group: str, names: list[str], folder: Path) -> None:
    assert [choice_class.name for choice_class in choice_classes(folder, group)] == names
    for name in names:
        choice_class = find_choice([HOME, folder], group, name)
        assert choice_class
        assert choice_class.target == f"module.{name.capitalize()}"
    assert find_choice([folder], group, "min") is None


def test_a_file_is_read_anew_when_it_changes(folder: Path) -> None:
    assert find_choice([folder], "source", "posts")
    (folder / "module.py").write_text("", encoding="utf-8")
    assert find_choice([folder], "source", "posts") is None


def test_two_classes_of_one_name_are_refused(folder: Path) -> None:
    (folder / "again.py").write_text(MODULE, encoding="utf-8")
    message = "source=posts could be again.Posts and module.Posts; rename one"
    with pytest.raises(InputError, match=re.escape(message)):
        find_choice([folder], "source", "posts")


def test_a_module_that_cannot_be_imported_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    (folder / "lacking.py").write_text(
        'import nothing_of_this_name\nclass A:\n    chosen_as = ("task/lacking",)\n', "utf-8"
    )
    choice_class = find_choice([folder], "task", "lacking")
    assert choice_class
    with pytest.raises(InputError, match=r"lacking\.A cannot be imported \(ModuleNotFoundError"):
        choice_class.load()


def test_the_project_is_searched_in_all_rooms() -> None:
    choice_class = find_choice([HOME], "classifier", "cnn")
    assert choice_class
    assert choice_class.target == "biasbridge.extrinsic.classifiers.CNN"
    assert present_classes("debias", "biasbridge.debias.")["leace"].__name__ == "Leace"
    assert not present_classes("debias", "biasbridge.intrinsic.")
