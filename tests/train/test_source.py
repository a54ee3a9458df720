"""The code that a result is said to be made by: of the project what imports lead to, of the user
every file that was loaded, in whatever way, as it was loaded.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import pytest

from biasbridge.files.paths import ROOMS
from biasbridge.train.engine.source import library_versions, source_of
from tests.fresh_code import forget_code
from tests.fresh_process import FreshProcess, fresh_process

ROOT = Path(__file__).resolve().parent.parent.parent
CHOICE = """
from pathlib import Path
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
HERE = Path(__file__).parent

@choice
class Mine(Fileless):
    name = "mine"
    version = 1

def write(choice, out, inputs, seed):
    (out / "text").write_text(str(value()))

"""
# What each way takes from the helper: a function, a class or a list
HELPER = """
def f():
    return 1

class C:
    def f(self):
        return 1

L = [1]
"""
CALL = "\ndef value():\n    return f()\n"
FIRST = "\ndef value():\n    return L[0]\n"
LOAD = """
import importlib.util

def load(path):
    spec = importlib.util.spec_from_file_location("any_name", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""
PICKLED = r'"\x80\x04\x95\n\0\0\0\0\0\0\0\x8c\x02h1\x8c\x01C\x93\x94."'
LAZY = """
def __getattr__(name):
    from importlib import import_module
    return getattr(import_module(".h1", __name__), name)
"""
# Each way to take something from a helper: the code, and the files of which one is the helper
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "import": ("import h1\ndef value():\n    return h1.f()", {}),
    "import as": ("import h1 as other\ndef value():\n    return other.f()", {}),
    "from": (f"from h1 import f{CALL}", {}),
    "from *": (f"from h1 import *{CALL}", {}),
    "a base class": ("from h1 import C\nclass D(C): pass\ndef value():\n    return D().f()", {}),
    "in a function": ("def value():\n    from h1 import f\n    return f()", {}),
    "in a class": ("class K:\n    from h1 import f\ndef value():\n    return K.f()", {}),
    "in try": (f"try:\n    from h1 import f\nexcept ImportError:\n    f = int{CALL}", {}),
    "by a helper": (f"from h2 import f{CALL}", {"h1.py": HELPER, "h2.py": "from h1 import f\n"}),
    "package": (f"from pack.h1 import f{CALL}", {"pack/__init__.py": "", "pack/h1.py": HELPER}),
    "package's name": (
        f"from pack import f{CALL}",
        {"pack/__init__.py": "from .h1 import f\n", "pack/h1.py": HELPER},
    ),
    "package's __getattr__": (
        "import pack\ndef value():\n    return pack.f()",
        {"pack/__init__.py": LAZY, "pack/h1.py": HELPER},
    ),
    "folder": (f"from folder.h1 import f{CALL}", {"folder/h1.py": HELPER}),
    "folder in a folder": (f"import a.b.h1\nf = a.b.h1.f{CALL}", {"a/b/h1.py": HELPER}),
    "folder in a function": (
        "def value():\n    from folder import h1\n    return h1.f()",
        {"folder/h1.py": HELPER},
    ),
    "getattr": (f"import a.h1\nf = getattr(getattr(a, 'h' + '1'), 'f'){CALL}", {"a/h1.py": HELPER}),
    "import_module": (f"import importlib\nf = importlib.import_module('h1').f{CALL}", {}),
    "import_module of a computed name": (
        "from importlib import import_module\ndef value():\n    return import_module(f'h{1}').f()",
        {},
    ),
    "__import__": (f"f = __import__('h1').f{CALL}", {}),
    "sys.modules": (
        f"import sys\nimport h2\nf = sys.modules['h' + '1'].f{CALL}",
        {"h1.py": HELPER, "h2.py": "import h1\n"},
    ),
    "spec: function": (f"{LOAD}f = load(HERE / 'h1.py').f{CALL}", {}),
    "spec: class": (f"{LOAD}f = load(HERE / 'h1.py').C().f{CALL}", {}),
    "spec: list": (f"{LOAD}L = load(HERE / 'h1.py').L{FIRST}", {}),
    "spec: computed name": (f"{LOAD}L = load(HERE / f'h{{1}}.py').L{FIRST}", {}),
    "spec: in a function": (f"{LOAD}def value():\n    return load(HERE / 'h1.py').f()", {}),
    "spec: each file": (f"{LOAD}L = [load(p) for p in HERE.glob('h?.py')][0].L{FIRST}", {}),
    "loader": (
        "from importlib.machinery import SourceFileLoader\n"
        f"f = SourceFileLoader('any_name', str(HERE / 'h1.py')).load_module().f{CALL}",
        {},
    ),
    "run_path": (f"import runpy\nL = runpy.run_path(HERE / 'h1.py')['L']{FIRST}", {}),
    "run_module": (f"import runpy\nL = runpy.run_module('h1')['L']{FIRST}", {}),
    "exec of a text": (f"exec((HERE / 'h1.py').read_text()){CALL}", {}),
    "exec of a file": (
        f"p = HERE / f'h{{1}}.py'\nexec(compile(p.read_text(), p, 'exec')){CALL}",
        {},
    ),
    "pickle": (f"import pickle\nf = pickle.loads({PICKLED}.encode('latin1'))().f{CALL}", {}),
    "a further path": (
        "import sys\ndef value():\n    sys.path.append(str(HERE / 'lib'))\n    from h1 import f\n"
        "    return f()",
        {"lib/h1.py": HELPER},
    ),
    "zip": (
        f"import sys\nsys.path.append(str(HERE / 'lib.zip'))\nfrom h1 import f{CALL}",
        {"lib.zip": ""},
    ),
}


@pytest.fixture(scope="module")
def fresh() -> Iterator[FreshProcess]:
    with fresh_process() as process:
        yield process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "user").mkdir()
    return tmp_path / "user"


def write(folder: Path, **modules: str) -> None:
    """Modules that define a choice."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(CHOICE + text)


def write_helper(folder: Path, files: Mapping[str, str], text: str = HELPER) -> None:
    for name, content in (files or {"h1.py": HELPER}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("h1.py", text)
        else:
            path.write_text(text if content is HELPER else content)
            os.utime(path, (len(text), len(text)))  # else Python may run its old .pyc


@pytest.mark.parametrize("way", WAYS)
def test_a_result_is_never_used_after_an_edit_of_a_helper(
    way: str, fresh: FreshProcess, folder: Path
) -> None:
    code, files = WAYS[way]
    write(folder, method=code)
    write_helper(folder, files)
    assert fresh("make", folder, "method") == {"method": "1"}
    assert fresh("judge", folder, "method") == {}
    write_helper(folder, files, HELPER.replace("1", "22"))
    [reasons] = fresh("judge", folder, "method").values()
    assert any("h1" in reason or "lib" in reason for reason in reasons)
    assert fresh("remake", folder, "method") == {"method": "22"}
    assert fresh("judge", folder, "method") == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1", "return 1  # one"),
        ("def f():\n", 'def f():\n    """Return one."""\n\n'),
        ("L = [1]", "L = [\n    1\n]"),
        ("L = [1]", "L = [1]\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING: import pandas"),
    ],
)
def test_what_changes_no_result_does_not_count(
    old: str, new: str, fresh: FreshProcess, folder: Path
) -> None:
    write(folder, method=WAYS["from"][0])
    write_helper(folder, {}, HELPER + "from typing import TYPE_CHECKING\n" * ("typing" in new))
    fresh("make", folder, "method")
    write_helper(folder, {}, HELPER.replace(old, new))
    assert fresh("judge", folder, "method") == {}


def test_methods_of_one_sweep_do_not_outdate_each_other(fresh: FreshProcess, folder: Path) -> None:
    """Though one process loads them; what both use outdates both."""
    write(
        folder,
        one="from h1 import f\nfrom h3 import g\ndef value():\n    return f()",
        two="from h2 import f\nfrom h3 import g\ndef value():\n    return f()",
        all=f"import importlib\nf = importlib.import_module('h' + '1').f{CALL}",
    )
    for name in ("h1", "h2", "h3"):
        (folder / f"{name}.py").write_text("def f(): return 1\ndef g(): return 1\n")
    names = ("one", "two", "all")
    fresh("make", folder, *names)

    def outdated_after(edited: str) -> set[str]:
        text = (folder / edited).read_text()
        (folder / edited).write_text(f"{text}\nx = 5\n")
        outdated = {*fresh("judge", folder, *names)}
        (folder / edited).write_text(text)
        return outdated

    assert outdated_after("h1.py") == {"one", "all"}
    assert outdated_after("h2.py") == {"two", "all"}  # which says not what it loads
    assert outdated_after("h3.py") == {"one", "two", "all"}
    assert outdated_after("two.py") == {"two", "all"}


def test_a_module_that_goes_or_comes_counts(fresh: FreshProcess, folder: Path) -> None:
    write(folder, method=WAYS["in try"][0])
    assert fresh("make", folder, "method") == {"method": "0"}
    write_helper(folder, {})
    assert fresh("judge", folder, "method") == {"method": ["h1"]}
    assert fresh("remake", folder, "method") == {"method": "1"}
    (folder / "h1.py").unlink()
    assert fresh("judge", folder, "method") == {"method": ["h1"]}
    (folder / "h1").mkdir()
    (folder / "h1" / "__init__.py").write_text(HELPER.replace("1", "3"))  # found by the same name
    assert fresh("judge", folder, "method") == {"method": ["h1"]}


@pytest.mark.parametrize("way", ["from", "spec: list", "a further path"])
def test_a_copy_of_a_project_has_its_own_helper(
    way: str, fresh: FreshProcess, folder: Path
) -> None:
    code, files = WAYS[way]
    write(folder, method=code)
    write_helper(folder, files)
    fresh("make", folder, "method")
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    assert fresh("judge", copy, "method") == {}
    write_helper(copy, files, HELPER.replace("1", "22"))
    assert fresh("judge", copy, "method").keys() == {"method"}
    assert fresh("judge", folder, "method") == {}


@pytest.mark.parametrize("way", ["from", "folder", "spec: list", "import_module"])
def test_a_helper_that_is_edited_between_plan_and_run_is_refused(
    way: str, fresh: FreshProcess, folder: Path
) -> None:
    code, files = WAYS[way]
    write(folder, method=code)
    write_helper(folder, files)
    fresh("save_plan", folder, "method")
    write_helper(folder, files, HELPER.replace("1", "22"))
    error = fresh("run_plan", folder)["error"]
    assert "h1" in error
    assert "changed after method (Mine) was planned; its results were not kept" in error


@pytest.mark.parametrize("way", ["in a function", "import_module of a computed name"])
def test_a_helper_that_only_the_run_loads_counts_as_it_was_loaded(
    way: str, fresh: FreshProcess, folder: Path
) -> None:
    write(folder, method=WAYS[way][0])
    write_helper(folder, {})
    fresh("save_plan", folder, "method")
    write_helper(folder, {}, f"{HELPER.replace('1', '22')}import yaml\n")
    assert fresh("run_plan", folder) == {"method": "22"}
    assert fresh("judge", folder, "method") == {}  # nor is the library another one
    write_helper(folder, {})
    assert fresh("judge", folder, "method") == {"method": ["h1"]}


def test_the_text_counts_that_ran_though_the_file_was_edited_since(
    fresh: FreshProcess, folder: Path
) -> None:
    edit = "from h1 import f\np = HERE / 'h1.py'\np.write_text(p.read_text().replace('1', '22'))\n"
    write(folder, method=edit + CALL)
    write_helper(folder, {})
    assert fresh("make", folder, "method") == {"method": "1"}
    (folder / "method.py").write_text(CHOICE + edit + CALL)
    assert fresh("judge", folder, "method") == {"method": ["h1"]}


SCRIPT = f"""{LOAD}
from pathlib import Path
L = load(Path(__file__).parent / "h1.py").L  # before the engine is loaded
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.train.engine.steps import StepBuilder
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store_tools import outdated
import h2

@choice
class Mine(Fileless):
    name = "mine"
    version = 1

def write(choice, out, inputs, seed):
    (out / "text").write_text(str(L[0] + h2.f()))

if __name__ == "__main__":
    store = Store("store")
    step = StepBuilder(0, store)("words", Mine(), write)
    print([Path(name).stem for one in outdated(store, [step]) for name in one.modules])
    print((store.make(step) / "text").read_text())
"""


def test_what_a_script_loads_counts(folder: Path) -> None:
    def run() -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "script.py"]
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=-1, text=True, check=True
        )
        return done.stdout

    (folder / "script.py").write_text(SCRIPT)
    for name in ("h1.py", "h2.py"):
        (folder / name).write_text(HELPER)
    assert run() == "[]\n2\n"
    for name in ("h1.py", "h2.py"):
        (folder / name).write_text(HELPER.replace("1", "22"))
    assert run() == "['h1', 'h2']\n2\n"


# The project's own code and libraries


def test_a_package_of_the_project_hands_names_on_and_does_nothing_else() -> None:
    """For this reason only the file counts that a name comes from, and not the whole package."""
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
            types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            fine = text or names or types
            assert fine, f"{path}:{node.lineno}"


def test_another_metric_a_page_and_the_store_are_no_part_of_a_score() -> None:
    weat = source_of(("biasbridge.intrinsic.metrics.weat", "biasbridge.train.engine.scores"))
    assert {
        "biasbridge.intrinsic.metrics.weat",
        "biasbridge.intrinsic.permutation",
        "biasbridge.files.vectors",
    } < {*weat.modules}
    none = (
        *("biasbridge.analysis", "biasbridge.train.engine.store", "biasbridge.train.cli"),
        *("biasbridge.commands", "biasbridge.intrinsic.metrics.direct"),
    )
    assert not [name for name in weat.files if name.startswith(none)]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The path of a module ``toy_choice``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_code()
    yield tmp_path / "toy_choice.py"
    forget_code()


def test_names_of_a_lazy_package_are_found_by_its_stub(toy: Path) -> None:
    toy.write_text(
        "from biasbridge.intrinsic import ripa\nfrom biasbridge.analysis import correlation\n"
    )
    assert {"biasbridge.intrinsic.metrics.direct", "biasbridge.analysis.correlation"} < source_of(
        ("toy_choice",)
    ).modules.keys()


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


def test_every_library_that_a_module_may_import_has_a_version(toy: Path) -> None:
    """A namespace has those of all who share it."""
    toy.write_text("import google.protobuf\nimport transformers\n")
    libraries = source_of(("toy_choice",)).libraries
    assert {"protobuf", "transformers"} < libraries.keys()
    assert libraries["transformers"] == metadata.version("transformers")


def test_a_choice_within_a_choice_is_part_of_what_made_a_result() -> None:
    from biasbridge.corpora.documents import DocumentFiles, JoinedDocuments
    from biasbridge.train.engine.steps import _classes

    one = DocumentFiles("a.conll", scheme="ontonotes", singletons="drop")
    assert _classes(JoinedDocuments(one, one)) == [JoinedDocuments, DocumentFiles, DocumentFiles]
