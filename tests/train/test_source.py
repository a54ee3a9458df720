"""The code that a result is said to be made by: every file that its imports lead to, as it was
loaded, and no other.
"""

from __future__ import annotations

import ast
import importlib
import os
import py_compile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import pytest

from files.rooms import ROOMS
from tests.fresh_code import forget_code
from train.engine.provenance import source
from train.engine.provenance.libraries import library_versions
from train.engine.provenance.loaded import watch_loads
from train.engine.provenance.source import Source, loaded_source, source_of
from train.engine.provenance.syntax import parse

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
    watch_loads()
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


def test_what_is_loaded_counts_and_not_what_the_file_holds_before_or_after(package: Path) -> None:
    planned = read()
    original = (package / "whole.py").read_text()
    edit(package / "whole.py", "return 1", "return 2")
    importlib.import_module("toy_source.whole")
    (package / "whole.py").write_text(original)
    run = loaded_source(planned).modules
    assert {name for name in run if run[name] != planned.modules[name]} == {"toy_source.whole"}


def test_an_edit_after_the_load_does_not_count(package: Path) -> None:
    planned = read()
    importlib.import_module("toy_source.whole")
    edit(package / "whole.py", "return 1", "return 2")
    assert loaded_source(planned) == planned


def test_a_cached_file_of_the_same_time_and_size_is_not_run(package: Path) -> None:
    path = package / "whole.py"
    py_compile.compile(str(path))
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    edit(path, "return 1", "return 2")
    os.utime(path, ns=times)
    forget_code()
    assert importlib.import_module("toy_source.whole").all_of_it() == 2


def test_a_users_module_that_no_statement_names_is_added_once_it_is_loaded(package: Path) -> None:
    edit(package / "late.py", "return w", 'return __import__("toy_" + "dynamic").ONE + w')
    (package.parent / "toy_dynamic.py").write_text("ONE = 1\n")
    planned = read()
    assert "toy_dynamic" not in planned.modules
    importlib.import_module("toy_source.late").late()
    recorded = loaded_source(planned).modules
    assert "toy_dynamic" in recorded
    forget_code()
    assert source.current_source(read(), recorded).modules == recorded
    (package.parent / "toy_dynamic.py").write_text("ONE = 2\n")
    forget_code()
    assert source.current_source(read(), recorded).modules != recorded


def test_a_package_of_the_project_hands_names_on_and_does_nothing_else() -> None:
    """For this reason only the file counts that a name comes from, and not the whole package."""
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            checks = isinstance(node, ast.Expr) and ast.unparse(node).startswith("refuse_hidden(")
            watches = isinstance(node, ast.Expr) and ast.unparse(node) == "watch_loads()"
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
            types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            fine = checks or watches or text or names or types
            assert fine, f"{path}:{node.lineno}"


def modules_of(*roots: str) -> Mapping[str, str]:
    return source_of(roots).modules


def test_another_metric_a_page_and_the_store_are_no_part_of_a_score() -> None:
    weat = modules_of("intrinsic.metrics.weat", "train.engine.scores")
    assert {"intrinsic.metrics.weat", "intrinsic.permutation", "files.vectors.mapped"} < {*weat}
    none = ("analysis", "train.engine.store", "train.cli", "biasbridge", "intrinsic.metrics.direct")
    assert not [name for name in weat if name.startswith(none)]


def test_names_of_a_lazy_package_are_found_by_its_stub(package: Path) -> None:
    (package / "choice.py").write_text(
        "from intrinsic import ripa\nfrom analysis import correlation\n"
    )
    assert {"intrinsic.metrics.direct", "analysis.correlation"} < read().modules.keys()


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
    assert {"protobuf", "transformers", "tokenizers", "safetensors"} < libraries.keys()
    assert libraries["tokenizers"] == metadata.version("tokenizers")


def test_a_choice_within_a_choice_is_part_of_what_made_a_result() -> None:
    from corpora.documents import DocumentFiles, JoinedDocuments
    from train.engine.part import classes

    one = DocumentFiles("a.conll", scheme="ontonotes", singletons="drop")
    assert classes(JoinedDocuments(one, one)) == [JoinedDocuments, DocumentFiles, DocumentFiles]


@pytest.mark.parametrize("module", ["toy", "train.toy"])
def test_words_after_the_name_of_a_command_count(module: str) -> None:
    texts = ["biasbridge men", "biasbridge women", "python -m men", "python -m women", "men"]
    assert len({digest(module, text) for text in texts}) == len(texts)


def test_a_text_of_a_wheel_is_that_of_the_checkout_and_a_users_is_his_own() -> None:
    pair = ("python train.py seed=1", "biasbridge train seed=1")
    assert len({digest("train.toy", text) for text in pair}) == 1
    assert len({digest("toy", text) for text in pair}) == 2
    assert digest("toy", "biasbridge.rooms.files") != digest("toy", "files")


def digest(module: str, text: str) -> str:
    return parse(module, is_package=False, content=f"WORDS = {text!r}".encode()).digest
