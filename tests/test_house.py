"""The rules of the house: which room may import which, and who may know Hydra, torch and gensim."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "files": set(),
    "intrinsic": {"files"},
    "corpora": {"files", "intrinsic"},
    "debias": {"files", "intrinsic"},
    "extrinsic": {"files", "intrinsic"},
    "analysis": {"files"},
    "train": {"files", "intrinsic", "corpora", "debias", "extrinsic", "analysis"},
    "biasbridge": {"files", "intrinsic", "corpora", "debias", "extrinsic", "analysis", "train"},
}
MODULES = [path for room in MAY_IMPORT for path in sorted((ROOT / room).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """The top-level names that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(str(node.module).split(".")[0])
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    ours = imported(path) & set(MAY_IMPORT)
    assert ours <= MAY_IMPORT[room] | {room}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_front_knows_hydra(path: Path) -> None:
    if path.parent != ROOT / "train" / "front":
        assert not imported(path) & {"hydra", "omegaconf"}


def test_analysis_needs_neither_torch_nor_gensim() -> None:
    code = (
        "import sys, pathlib, importlib\nfor p in sorted(pathlib.Path('analysis').glob('*.py')):"
        " importlib.import_module('analysis.' + p.stem)\nsys.exit(bool({'torch', 'gensim',"
        " 'datasets', 'hydra'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_no_module_opens_a_pickle() -> None:
    for path in MODULES:
        assert not imported(path) & {"pickle", "dill", "joblib", "cloudpickle"}, path
