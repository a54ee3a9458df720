"""Results of other code or other libraries: found from the recipes, named, and used by nobody who
did not ask for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from rich.console import Console

from analysis.made import mixed
from files import InputError
from tests.points import plan
from train.outcome import run_point
from train.store import Stage, Store
from train.store.entry import read_recipe
from train.store.explain import explain
from train.store.made import makers
from train.store.source import Name, _path_of, read_module, source_of
from train.store.stale import outdated, say

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = "import numpy\n\n\ndef read():\n    return 1\n\n\ndef train():\n    return numpy.ones(1)\n"


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "text").write_text("x")


CORPUS = Stage("corpus", "Text", 1, {}, write, made_of=(Name("toy_stale", "read"),))
VECTORS = Stage(
    *("vectors", "Word2Vec", 1, {}, write, {"corpus": CORPUS}),
    made_of=(Name("toy_stale", "train"),),
)
SCORES = Stage("scores", "Weat", 1, {}, write, {"vectors": VECTORS})


class Code:
    """A module whose text a test changes, as if the process had begun anew."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "toy_stale.py"
        self.edit("", "")

    def edit(self, old: str, new: str) -> None:
        text = self.path.read_text() if self.path.exists() else CODE
        self.path.write_text(text.replace(old, new) if old else text)
        self.begin_anew()

    def begin_anew(self) -> None:
        for each in (source_of, read_module, _path_of):
            each.cache_clear()


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Code]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield (code := Code(tmp_path))
    code.begin_anew()


@pytest.fixture
def store(tmp_path: Path, code: Code) -> Store:
    store = Store(tmp_path / "store")
    store.make(SCORES)
    return store


def told(store: Store) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(each.stage.name, each.code, each.modules) for each in outdated(store, [SCORES])]


def test_same_code_is_never_told(store: Store, code: Code) -> None:
    code.edit("return 1", "return 1  # one")
    assert told(store) == []


def test_a_change_is_told_of_its_stage_and_of_all_that_rests_on_it(
    store: Store, code: Code
) -> None:
    code.edit("return 1", "return 2")
    assert told(store) == [
        ("scores", True, ()),
        ("vectors", True, ()),
        ("corpus", True, ("toy_stale",)),
    ]


def test_a_change_further_on_leaves_what_comes_before(store: Store, code: Code) -> None:
    code.edit("ones", "zeros")
    assert [name for name, _, _ in told(store)] == ["scores", "vectors"]
    store.discard(SCORES)
    assert [name for name, _, _ in told(store)] == ["vectors"]
    store.discard(VECTORS)
    assert told(store) == []


def test_a_result_outlives_neither_the_change_nor_the_loss_of_what_it_rests_on(
    store: Store, code: Code
) -> None:
    """Another sweep made the corpus again by the new code, or gc took it away."""
    code.edit("return 1", "return 2")
    store.discard(CORPUS)
    assert told(store) == [("scores", True, ()), ("vectors", True, ())]
    store.make(CORPUS)
    assert told(store) == [("scores", True, ()), ("vectors", True, ())]
    store.discard(VECTORS)
    store.discard(SCORES)
    store.make(SCORES)
    assert told(store) == []


def test_what_is_made_from_other_code_says_so(store: Store, code: Code) -> None:
    code.edit("return 1", "return 2")
    store.discard(SCORES)
    store.make(SCORES)
    assert ("scores", True, ()) in told(store)


def test_code_that_is_edited_while_a_point_runs_is_not_said_to_have_made_it(
    tmp_path: Path, code: Code
) -> None:
    def edit(out: Path, inputs: Mapping[str, Path]) -> None:
        write(out, inputs)
        code.path.write_text(code.path.read_text().replace("ones", "zeros"))

    corpus = replace(CORPUS, build=edit)
    vectors = replace(VECTORS, inputs={"corpus": corpus})
    store = Store(tmp_path / "store")
    laid = replace(plan(store.root), metrics=(vectors,), subject={})
    assert run_point(laid, store, tmp_path).built == ("corpus", "vectors")
    assert outdated(store, [vectors]) == []
    code.begin_anew()
    assert [each.modules for each in outdated(store, [vectors])] == [("toy_stale",)]


def test_other_code_is_refused_and_named_with_the_remedy(
    store: Store, code: Code, capsys: pytest.CaptureFixture[str]
) -> None:
    code.edit("return 1", "return 2")
    message = (
        r"other code made results that this sweep would use: 1 corpus \(Text\): toy_stale, 1 scores"
        r" \(Weat\): rests on such, 1 vectors \(Word2Vec\): rests on such; stale=rebuild makes them"
        r" and what rests on them again, stale=use takes them as they are"
    )
    found = outdated(store, [SCORES])
    with pytest.raises(InputError, match=message):
        say(found, "refuse", Console())
    say(found, "use", Console())
    assert "used: made by other code: 1 corpus (Text): toy_stale" in capsys.readouterr().out


def test_other_libraries_are_used_and_named(
    store: Store, code: Code, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = metadata.version("numpy")
    monkeypatch.setattr("train.store.source.metadata.version", lambda name: "99.1")
    code.begin_anew()
    found = outdated(store, [SCORES])
    assert [(each.stage.name, each.code) for each in found] == [
        ("scores", False),
        ("vectors", False),
    ]
    say(found, "refuse", Console())
    out = capsys.readouterr().out
    assert "used: made by other versions of libraries: 1 vectors (Word2Vec): " in out
    assert f"numpy {before} (now 99.1)" in out


def test_recipes_tell_modules_libraries_version_and_commit(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    made = read_recipe(store.path(VECTORS))["made"]
    assert made["modules"].keys() == {"toy_stale"}
    assert made["libraries"]["numpy"] == metadata.version("numpy")
    explain(store, VECTORS.key, Console(width=200), as_json=False)
    told = capsys.readouterr().out
    assert f"toy_stale {made['modules']['toy_stale'][:8]}" in told
    assert f"numpy {metadata.version('numpy')}" in told
    if (ROOT / ".git").exists():
        head = ["git", "rev-parse", "HEAD"]
        commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert made["commit"].removesuffix("-dirty") == commit.strip()


def test_mixed_versions_are_told_from_recipes(
    store: Store, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(VECTORS, params={"dim": 3})
    same = makers(store, [SCORES.key])
    assert [(each.stage, each.results) for each in same] == [
        ("corpus", 1),
        ("scores", 1),
        ("vectors", 1),
    ]
    assert mixed(same) == ""
    monkeypatch.setattr("train.store.source.metadata.version", lambda name: "99.1")
    code.edit("ones", "zeros")
    store.make(other)
    monkeypatch.undo()
    found = makers(store, [SCORES.key, other.key, "gone"])
    numpy = " and ".join(sorted(["99.1", metadata.version("numpy")]))
    assert mixed(found) == f"vectors (Word2Vec) by 2 codes; numpy {numpy}"
    assert sum(each.results for each in found) == 4


EMBEDDING = """
from train.embed import Word2Vec
from files import choice


@choice
class Scaled(Word2Vec):
    name = "scaled"

    def train(self, corpus, *, seed):
        vectors = super().train(corpus, seed=seed)
        vectors.vectors[:, 0] *= 1
        return vectors
"""
SWEEP = [
    *("corpus.sentences=1000", "size.dim=8", "size.epochs=1", "source=none", "seed=0,1"),
    *("embedding._target_=toy_scaled.Scaled", "hydra/launcher=basic", "hydra.mode=MULTIRUN"),
]


def run(folder: Path, *more: str, status: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    command = [sys.executable, str(ROOT / "train.py"), *SWEEP, *more]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_sweep_after_a_change_of_code_without_a_new_version(tmp_path: Path) -> None:
    source = tmp_path / "toy_scaled.py"
    source.write_text(EMBEDDING)
    run(tmp_path)
    made = tmp_path / "results" / "point" / "made.csv"
    first = made.read_text()
    scores = (tmp_path / "results" / "point" / "intrinsic.parquet").read_bytes()
    source.write_text(EMBEDDING.replace("*= 1", "*= 9"))
    refused = run(tmp_path, status=2)
    assert "error: other code made results that this sweep would use: " in refused
    assert "2 vectors (Scaled): toy_scaled, 2 intrinsic (Weat): rests on such" in refused
    assert "Traceback" not in refused
    assert "used: made by other code: 2 vectors (Scaled): toy_scaled" in run(tmp_path, "stale=use")
    assert made.read_text() == first
    more = run(tmp_path, "stale=use", "seed=0,1,2")
    assert "made by mixed versions: vectors (Scaled) by 2 codes" in more
    plan = run(tmp_path, "stale=rebuild", "plan=true")
    assert "made again: made by other code: 2 vectors (Scaled)" in plan
    rebuilt = run(tmp_path, "stale=rebuild")
    assert "mixed" not in rebuilt
    assert (tmp_path / "results" / "point" / "intrinsic.parquet").read_bytes() != scores
    assert "other code" not in run(tmp_path)
    both = run(tmp_path, "stale=rebuild", "overwrite=only-cache", status=2)
    assert "overwrite=only-cache makes none; choose one" in both
