"""The code that a result is said to be made by: every file that its imports lead to, as it was
loaded, and no other.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import pytest

from biasbridge.files.paths import ROOMS
from biasbridge.train.engine.source import (
    Source,
    changed_modules,
    current_source,
    library_versions,
    loaded_source,
    source_of,
    user_hashes,
)
from tests.fresh_code import forget_code

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = {
    "__init__.py": '"""A toy."""\n\nfrom toy_source.base import Base as Base\n',
    "choice.py": """
from functools import singledispatch
from typing import TYPE_CHECKING

import scipy
import toy_helper

from toy_source import Base, lazy
from toy_source.helpers import *

if TYPE_CHECKING:
    import pandas
    from toy_source import unrelated

LIMIT = 3


class Choice(Base):
    def make(self) -> "pandas.DataFrame":
        from .late import late

        # what it does
        return along(helper(LIMIT)) + late()


@singledispatch
def along(value):
    return value


@along.register
def _(value: int):
    return value + 1
""",
    "base.py": "class Base:\n    size = 1\n",
    "helpers.py": (
        '"""Helpers."""\n\nimport numpy as np\n\n\ndef helper(value):\n'
        '    """What it returns."""\n    return np.abs(value)\n'
    ),
    "late.py": "from . import whole as w\n\n\ndef late():\n    return w.all_of_it()\n",
    "whole.py": "def all_of_it():\n    return 1\n",
    "lazy.py": "def unused():\n    return 1\n",
    "unrelated.py": "def unused():\n    return 1\n",
    "../toy_helper.py": "FACTOR = 1\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The toy's folder."""
    folder = tmp_path / "toy_source"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_code()
    yield folder
    forget_code()


def read() -> Source:
    return source_of(("toy_source.choice",))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_every_file_that_imports_lead_to_counts_and_every_library(package: Path) -> None:
    found = read()
    names = ("", ".base", ".choice", ".helpers", ".late", ".lazy", ".whole")
    assert found.modules.keys() == {"toy_helper", *(f"toy_source{name}" for name in names)}
    assert found.libraries.keys() == {"Python", "numpy", "scipy"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("choice.py", "LIMIT = 3", "LIMIT = 5"),
        ("choice.py", "value + 1", "value + 2"),  # registered, and named by nothing
        ("base.py", "size = 1", "size = 2"),
        ("helpers.py", "abs", "exp"),
        ("whole.py", "return 1", "return 2"),
        ("lazy.py", "return 1", "return 2"),
        ("../toy_helper.py", "1", "2"),
    ],
)
def test_a_change_counts_in_its_file(name: str, old: str, new: str, package: Path) -> None:
    before = read().modules
    edit(package / name, old, new)
    forget_code()
    after = read().modules
    changed = {each for each in before if before[each] != after[each]}
    assert changed in ({f"toy_source.{Path(name).stem}"}, {Path(name).stem})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("choice.py", "# what it does", "# what it did"),
        ("choice.py", "import pandas\n", "import numpy\n"),
        ("helpers.py", '"""Helpers."""', '"""Other words."""'),
        ("helpers.py", "np.abs(value)", "np.abs(\n        value\n    )"),
        ("unrelated.py", "return 1", "return 2"),
    ],
)
def test_what_changes_no_result_does_not_count(
    name: str, old: str, new: str, package: Path
) -> None:
    before = read()
    edit(package / name, old, new)
    forget_code()
    assert read() == before


def test_an_edit_between_plan_and_load_is_seen(package: Path) -> None:
    planned = read()
    edit(package / "whole.py", "return 1", "return 2")
    assert changed_modules(planned, loaded_source(planned)) == ["toy_source.whole"]
    importlib.import_module("toy_source.whole")
    assert changed_modules(planned, loaded_source(planned)) == ["toy_source.whole"]


def test_an_edit_of_a_module_that_was_seen_loaded_does_not_count(package: Path) -> None:
    planned = read()
    importlib.import_module("toy_source.whole")
    assert loaded_source(planned) == planned
    edit(package / "whole.py", "return 1", "return 2")
    assert loaded_source(planned) == planned


HELPER = """
import importlib.util
import sys

spec = importlib.util.spec_from_file_location("toy_any_name", PATH)
helper = importlib.util.module_from_spec(spec)
"""


@pytest.mark.parametrize("registers", [False, True])
def test_a_helper_that_no_statement_names_is_added_once_it_is_loaded(
    registers: bool, package: Path
) -> None:
    helper = package.parent / "toy_located.py"
    helper.write_text("import numpy\n\nONE = 1\n")
    text = HELPER.replace("PATH", repr(str(helper)))
    text += "sys.modules[spec.name] = helper\n" * registers + "spec.loader.exec_module(helper)\n"
    (package / "late.py").write_text(f"{text}\n\ndef late():\n    return helper.ONE\n")
    planned = read()
    importlib.import_module("toy_source.late")
    recorded = loaded_source(planned).modules
    assert recorded.keys() - planned.modules.keys() == {str(helper)}
    assert ("toy_any_name" in user_hashes()) == registers
    forget_code()
    assert current_source(read(), recorded).modules == recorded
    helper.write_text("ONE = 2\n")
    forget_code()
    assert current_source(read(), recorded).modules != recorded


def test_a_package_of_the_project_hands_names_on_and_does_nothing_else() -> None:
    """For this reason only the file counts that a name comes from, and not the whole package."""
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
            types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            fine = text or names or types
            assert fine, f"{path}:{node.lineno}"


def modules_of(*roots: str) -> Mapping[str, str]:
    return source_of(roots).modules


def test_another_metric_a_page_and_the_store_are_no_part_of_a_score() -> None:
    weat = modules_of("biasbridge.intrinsic.metrics.weat", "biasbridge.train.engine.scores")
    assert {
        "biasbridge.intrinsic.metrics.weat",
        "biasbridge.intrinsic.permutation",
        "biasbridge.files.vectors",
    } < {*weat}
    none = (
        *("biasbridge.analysis", "biasbridge.train.engine.store", "biasbridge.train.cli"),
        *("biasbridge.commands", "biasbridge.intrinsic.metrics.direct"),
    )
    assert not [name for name in weat if name.startswith(none)]


def test_names_of_a_lazy_package_are_found_by_its_stub(package: Path) -> None:
    (package / "choice.py").write_text(
        "from biasbridge.intrinsic import ripa\nfrom biasbridge.analysis import correlation\n"
    )
    assert {
        "biasbridge.intrinsic.metrics.direct",
        "biasbridge.analysis.correlation",
    } < read().modules.keys()


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        *(("PIL", "pillow"), ("dateutil", "python-dateutil"), ("hydra", "hydra-core")),
        *(("sklearn", "scikit-learn"), ("yaml", "PyYAML"), ("numpy", "numpy")),
    ],
)
def test_a_library_has_the_version_of_the_distribution_that_it_comes_from(
    module: str, distribution: str
) -> None:
    assert library_versions(module) == {distribution: metadata.version(distribution)}


def test_what_is_no_library_has_no_version() -> None:
    assert library_versions("toy_source") == {}


def test_every_library_that_a_module_may_import_has_a_version(package: Path) -> None:
    """A namespace has those of all who share it."""
    (package / "choice.py").write_text("import google.protobuf\nimport transformers\n")
    libraries = read().libraries
    assert {"protobuf", "transformers"} < libraries.keys()
    assert libraries["transformers"] == metadata.version("transformers")


def test_a_choice_within_a_choice_is_part_of_what_made_a_result() -> None:
    from biasbridge.corpora.documents import DocumentFiles, JoinedDocuments
    from biasbridge.train.engine.steps import _classes

    one = DocumentFiles("a.conll", scheme="ontonotes", singletons="drop")
    assert _classes(JoinedDocuments(one, one)) == [JoinedDocuments, DocumentFiles, DocumentFiles]
