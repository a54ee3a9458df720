"""A user's module that changes the project when it is imported: what it makes has the key of a
normal result, and is used by nobody who does not ask for it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from files import InputError
from files.rooms import is_ours
from intrinsic.metrics import weat
from intrinsic.metrics.weat import Weat
from tests.fresh_code import forget_code
from tests.points import plan
from train.engine.provenance.patches import patches_of
from train.engine.provenance.syntax import read_module
from train.engine.store import Step, Store
from train.engine.store.entry import read_recipe
from train.engine.store.stale import outdated

ROOT = Path(__file__).resolve().parent.parent.parent
LATER = "toy_changes"
CHANGE = """
from dataclasses import replace
from functools import wraps

from intrinsic.metrics.weat import Weat

measure = Weat.measure


@wraps(measure)
def more(self, words, seed):
    measured = measure(self, words, seed)
    return replace(measured, value=measured.value + 100)


Weat.measure = more
"""
INNOCENT = (
    "from train.subjects.embed import Word2Vec\n\n\nclass Mine(Word2Vec):\n    dim: int = 5\n"
)
PATCHED = f"patched intrinsic.metrics.weat.Weat.measure by {LATER}"


def by_import(path: Path) -> None:
    importlib.import_module(path.stem)


def by_location(path: Path) -> None:
    spec = importlib.util.spec_from_file_location("any_name", path)
    assert spec
    assert spec.loader
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def by_path(path: Path) -> None:
    runpy.run_path(str(path))


MEANS = (by_import, by_location, by_path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a user's modules lie; what they change is as it was after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(Weat, "measure", Weat.measure)
    (tmp_path / f"{LATER}.py").write_text(CHANGE)
    yield tmp_path
    forget_code()


def make_score(folder: Path) -> tuple[Store, Step, float]:
    """The store with a score, its step, and its value."""
    store = Store(folder / "store")
    [step] = plan(store.root).metrics
    return store, step, pd.read_parquet(store.make(step) / "scores.parquet")["value"].iloc[0]


def differing(folder: Path) -> list[tuple[str, bool, tuple[str, ...]]]:
    """What a sweep of a new process would say of the scores in the store."""
    store = Store(folder / "store")
    found = outdated(store, plan(store.root).metrics)
    return [(each.step.name, each.code, each.modules) for each in found]


@pytest.mark.parametrize("load", MEANS)
def test_a_score_of_a_changed_project_is_refused_by_a_normal_one(
    load: Callable[[Path], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Weat, "measure", Weat.measure)
        load(folder / f"{LATER}.py")
        store, step, value = make_score(folder)
        assert value > 90
        assert differing(folder) == [], "whoever changed it may go on"
    forget_code()
    name = LATER if load is by_import else str(folder / f"{LATER}.py")
    patched = PATCHED.replace(LATER, name)
    assert differing(folder) == [("intrinsic", True, (patched,))]
    assert plan(store.root).metrics[0].key == step.key


@pytest.mark.parametrize("load", MEANS)
def test_a_normal_score_is_refused_by_a_changed_project(
    load: Callable[[Path], None], folder: Path
) -> None:
    _, _, value = make_score(folder)
    assert abs(value) < 2
    load(folder / f"{LATER}.py")
    assert [(name, code) for name, code, _ in differing(folder)] == [("intrinsic", True)]


def test_a_step_is_not_made_by_a_project_that_changed_after_its_plan(folder: Path) -> None:
    store = Store(folder / "store")
    [step] = plan(store.root).metrics
    assert step.source
    by_import(folder / f"{LATER}.py")
    with pytest.raises(InputError, match=f"{PATCHED} changed after intrinsic"):
        store.make(step)
    assert not store.has(step)


def test_every_recipe_names_what_the_user_has_loaded_by_whatever_means(folder: Path) -> None:
    names = ("toy_import", "toy_location", "toy_path")
    for name, load in zip(names, MEANS, strict=True):
        (folder / f"{name}.py").write_text(f"NAME = {name!r}\n")
        load(folder / f"{name}.py")
    store, step, _ = make_score(folder)
    for ancestor in step.ancestry().values():
        made = read_recipe(store.path(ancestor))["made"]
        assert made["loaded"].keys() >= {
            "toy_import",
            *(str(folder / f"{name}.py") for name in names[1:]),
        }
        assert not [name for name in made["loaded"] if is_ours(name)]
        assert not made["loaded"].keys() & made["modules"].keys()


def test_a_module_that_changes_nothing_outdates_nothing(folder: Path) -> None:
    (folder / "toy_innocent.py").write_text(INNOCENT)
    by_import(folder / "toy_innocent.py")
    make_score(folder)
    assert differing(folder) == []
    (folder / "toy_innocent.py").write_text(INNOCENT.replace("5", "6"))
    forget_code()
    assert differing(folder) == []
    by_import(folder / "toy_innocent.py")
    assert differing(folder) == []


class Other:
    """Stands in the place of one of the project's things."""

    def __call__(self) -> None:
        """Do nothing."""


def other(*arguments: Any) -> None:
    """Stand in the place of one of the project's functions."""


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (Weat, "measure", other),
        (Weat, "measure", functools.wraps(Weat.measure)(other)),
        (Weat, "measure", functools.partialmethod(other)),
        (Weat, "measure", staticmethod(other)),
        (Weat, "measure", property(other)),
        (Weat, "measure", functools.cache(other)),
        (Weat, "measure", Other()),
        (Weat, "new_name", other),
        (Weat, "version", 7),
        (Weat, "ddof", 1),
        (weat, "Weat", Other),
        (weat, "len", other),
    ],
)
def test_whatever_is_put_in_the_place_of_the_projects_own_is_seen(
    owner: Any, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    literals = read_module(weat.__name__).literals
    assert patches_of(weat.__name__, literals) == {}
    monkeypatch.setattr(owner, name, value, raising=False)
    full = f"Weat.{name}" if owner is Weat else name
    assert full in patches_of(weat.__name__, literals)


def test_other_code_in_the_same_function_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Weat.measure, "__code__", other.__code__)
    assert "Weat.measure" in patches_of(weat.__name__, {})


def test_an_untouched_project_has_no_changes() -> None:
    """In a process of its own, for tests touch it."""
    code = """
import importlib, pathlib, sys
import train.engine.store
from train.engine.provenance.patches import patches_of
from files.rooms import ROOMS
from train.engine.provenance.source import PASSIVE
from train.engine.provenance.syntax import read_module
seen = 0
for path in (path for room in ROOMS for path in pathlib.Path(room).rglob("*.py")):
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    importlib.import_module(name)
    patches = patches_of(name, read_module(name).literals)
    assert not patches, (name, patches)
    seen += len(read_module(name).literals)
assert seen > 500
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
