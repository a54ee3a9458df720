"""The code that a result is said to be made by: what it can reach, and nothing that it cannot."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from train.store.source import Name, _path_of, read_module, source_of

FILES = {
    "__init__.py": '"""A toy."""\n\nfrom toy_source.base import Base as Base\n',
    "choice.py": """
from typing import TYPE_CHECKING

import scipy

from toy_source import Base, lazy
from toy_source.helpers import helper

if TYPE_CHECKING:
    import pandas

LIMIT = 3
UNUSED = 4


class Choice(Base):
    def make(self) -> "pandas.DataFrame":
        from toy_source.late import late

        # what it does
        return helper(LIMIT) + late()


def beside() -> None:
    pass
""",
    "base.py": "class Base:\n    size = 1\n",
    "helpers.py": (
        '"""Helpers."""\n\nimport numpy as np\n\nFIRST, SECOND = 1, 2\n\n\ndef helper(value):\n'
        '    """What it returns."""\n    return inner(value)\n\n\ndef inner(value):\n'
        "    return np.abs(value) + SECOND\n\n\ndef other(value):\n    return value\n"
    ),
    "late.py": "import toy_source.whole as w\n\n\ndef late():\n    return w.all_of_it()\n",
    "whole.py": "def all_of_it():\n    return 1\n\n\ndef too():\n    return 2\n\n\nprint\n",
    "lazy.py": "def unused():\n    return 1\n",
}


def modules(
    folder: Path, monkeypatch: pytest.MonkeyPatch, edits: dict[str, tuple[str, str]]
) -> Mapping[str, str]:
    """What is told of ``Choice`` in the package with some texts replaced."""
    package = folder / "toy_source"
    package.mkdir(exist_ok=True)
    for name, text in FILES.items():
        old, new = edits.get(name, ("", ""))
        assert old in text
        (package / name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    for each in (source_of, read_module, _path_of):
        each.cache_clear()
    return source_of((Name("toy_source.choice", "Choice"),)).modules


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("choice.py", "LIMIT = 3", "LIMIT = 5"),
        ("choice.py", "helper(LIMIT) + late()", "helper(LIMIT) - late()"),
        ("base.py", "size = 1", "size = 2"),
        ("helpers.py", "abs", "exp"),
        ("helpers.py", "FIRST, SECOND = 1, 2", "FIRST, SECOND = 1, 3"),
        ("whole.py", "return 2", "return 3"),
        ("whole.py", "print", "repr"),
    ],
)
def test_what_it_can_reach_counts(
    name: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = modules(tmp_path, monkeypatch, {})
    after = modules(tmp_path, monkeypatch, {name: (old, new)})
    assert before.keys() == after.keys()
    differing = {each for each in before if before[each] != after[each]}
    assert differing == {f"toy_source.{name.removesuffix('.py')}"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("choice.py", "UNUSED = 4", "UNUSED = 5"),
        ("choice.py", "def beside() -> None:\n    pass", "def beside() -> int:\n    return 1"),
        ("choice.py", "# what it does", "# what it did"),
        ("choice.py", "import pandas\n", "import numpy\n"),
        ("helpers.py", '"""Helpers."""', '"""Other words."""'),
        ("helpers.py", '"""What it returns."""', '"""Other words."""'),
        ("helpers.py", "return inner(value)", "return inner(\n        value\n    )"),
        ("helpers.py", "return value\n", "return -value\n"),
        ("lazy.py", "return 1", "return 2"),
        ("__init__.py", '"""A toy."""', '"""Other words."""'),
    ],
)
def test_what_it_cannot_reach_does_not(
    name: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = modules(tmp_path, monkeypatch, {})
    assert modules(tmp_path, monkeypatch, {name: (old, new)}) == before


def test_a_name_that_is_a_module_stands_for_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = {"choice.py": ("helper(LIMIT)", "lazy.unused()")}
    assert "toy_source.lazy" in modules(tmp_path, monkeypatch, used)


def test_libraries_are_those_that_the_code_imports() -> None:
    training = (Name("train.embed", "Word2Vec"), Name("train.parts.static", "train"))
    found = source_of(training)
    assert found.libraries == {
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in ("gensim", "numpy")},
    }
    assert {"train.embed", "files.vectors.mapped"} < found.modules.keys()
    assert not any(
        name.startswith(("debias", "intrinsic", "train.store")) for name in found.modules
    )


def test_names_of_a_lazy_package_are_found_by_its_stub() -> None:
    assert "intrinsic.metrics.direct" in source_of((Name("intrinsic", "ripa"),)).modules


def test_a_choice_within_a_choice_is_part_of_what_made_a_result() -> None:
    from corpora.documents import DocumentFiles, JoinedDocuments
    from train.parts.part import classes

    one = DocumentFiles("a.conll", scheme="ontonotes", singletons="drop")
    assert classes(JoinedDocuments(one, one)) == [JoinedDocuments, DocumentFiles, DocumentFiles]
