"""Classes found by their presence, without an import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasbridge.files import InputError
from biasbridge.files.choice_classes import PROJECT, choice_classes, find_choice, present_classes

if TYPE_CHECKING:
    from pathlib import Path

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
    assert [found.name for found in choice_classes(folder, group)] == names
    for name in names:
        found = find_choice([PROJECT, folder], group, name)
        assert found
        assert found.target == f"module.{name.capitalize()}"
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
    found = find_choice([folder], "task", "lacking")
    assert found
    with pytest.raises(InputError, match=r"lacking\.A cannot be imported \(ModuleNotFoundError"):
        found.load()


def test_the_project_is_searched_in_all_rooms() -> None:
    found = find_choice([PROJECT], "classifier", "cnn")
    assert found
    assert found.target == "biasbridge.extrinsic.cnn.CNN"
    assert present_classes("debias", "biasbridge.debias.")["leace"].__name__ == "Leace"
    assert not present_classes("debias", "biasbridge.intrinsic.")
