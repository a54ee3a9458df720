"""Results of other code or other libraries: found from the recipes, named, and used by nobody who
did not ask for it.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from biasbridge.analysis.result_folder import describe_mixture
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.words import WordChoice, _write_words
from biasbridge.files import InputError
from biasbridge.intrinsic.words import _library, load_query
from biasbridge.train.engine import source
from biasbridge.train.engine.point import Outcome, run_point
from biasbridge.train.engine.source import _is_ours
from biasbridge.train.engine.steps import Inputs, StepBuilder
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.engine.store_tools import build_records, outdated, report_outdated
from biasbridge.train.subjects.static import write_corpus
from tests.fresh_code import forget_code
from tests.points import TASK, plan

if TYPE_CHECKING:
    from types import FrameType


ROOT = Path(__file__).resolve().parent.parent.parent
READ = "def read():\n    return 1\n"
TRAIN = "import numpy\n\n\ndef train():\n    return numpy.ones(1)\n"


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "text").write_text("x")


CORPUS = Step("corpus", "Text", 1, {}, write, made_of=("toy_corpus",))
VECTORS = Step(*("vectors", "Word2Vec", 1, {}, write, {"corpus": CORPUS}), made_of=("toy_vectors",))
SCORES = Step("scores", "Weat", 1, {}, write, {"vectors": VECTORS})


class Code:
    """Modules whose text a test changes, as if the process had begun anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "toy_corpus.py").write_text(READ)
        (folder / "toy_vectors.py").write_text(TRAIN)
        self.begin_anew()

    def replace(self, old: str, new: str) -> None:
        """In the file that has it."""
        for path in self.folder.glob("toy_*.py"):
            path.write_text(path.read_text().replace(old, new))

    def edit(self, old: str, new: str) -> None:
        self.replace(old, new)
        self.begin_anew()

    def begin_anew(self) -> None:
        forget_code()
        for step in (CORPUS, VECTORS, SCORES):
            vars(step).pop("source", None)


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


def differing(store: Store) -> list[tuple[str, bool, tuple[str, ...]]]:
    return [(each.step.name, each.code, each.modules) for each in outdated(store, [SCORES])]


def test_the_same_code_is_never_outdated(store: Store, code: Code) -> None:
    code.edit("return 1", "return 1  # one")
    assert differing(store) == []


def test_a_change_outdates_its_stage_and_all_that_rests_on_it(store: Store, code: Code) -> None:
    code.edit("return 1", "return 2")
    assert differing(store) == [
        ("scores", True, ()),
        ("vectors", True, ()),
        ("corpus", True, ("toy_corpus",)),
    ]


def test_a_change_further_on_leaves_what_comes_before(store: Store, code: Code) -> None:
    code.edit("ones", "zeros")
    assert [name for name, _, _ in differing(store)] == ["scores", "vectors"]
    store.discard(SCORES)
    assert [name for name, _, _ in differing(store)] == ["vectors"]
    store.discard(VECTORS)
    assert differing(store) == []


def test_a_result_outlives_neither_the_change_nor_the_loss_of_what_it_rests_on(
    store: Store, code: Code
) -> None:
    """Another sweep made the corpus again by the new code, or gc took it away."""
    code.edit("return 1", "return 2")
    store.discard(CORPUS)
    assert differing(store) == [("scores", True, ()), ("vectors", True, ())]
    store.make(CORPUS)
    assert differing(store) == [("scores", True, ()), ("vectors", True, ())]
    store.discard(VECTORS)
    store.discard(SCORES)
    store.make(SCORES)
    assert differing(store) == []


def run_vectors(folder: Path, build: Callable[[Path, Mapping[str, Path]], None]) -> Outcome:
    """A point whose vectors are trained by the toy, which ``build`` loads."""
    store = Store(folder / "store")
    planned = replace(plan(store.root), metrics=(replace(VECTORS, build=build),), subject={})
    for step in planned.steps.values():
        assert step.source  # as the process that plans reads it
    return run_point(planned, store, folder)


def test_code_that_is_edited_between_plan_and_end_stores_nothing(
    tmp_path: Path, code: Code
) -> None:
    def train(out: Path, inputs: Mapping[str, Path]) -> None:
        write(out, inputs)
        code.replace("ones", "zeros")
        importlib.import_module("toy_vectors")

    outcome = run_vectors(tmp_path, train)
    assert outcome.error == (
        "toy_vectors changed after vectors (Word2Vec) was planned; its results were not kept:"
        " run the same command again"
    )
    assert outcome.built == ("corpus",)
    assert not Store(tmp_path / "store").has(VECTORS)


def test_another_process_holds_a_stage_to_the_code_that_it_was_planned_with(
    tmp_path: Path, code: Code
) -> None:
    sent = pickle.dumps(VECTORS)
    code.edit("ones", "zeros")
    importlib.import_module("toy_vectors")
    store = Store(tmp_path / "store")
    with pytest.raises(InputError, match="toy_vectors changed after vectors"):
        store.make(pickle.loads(sent))  # noqa: S301
    assert not store.has(VECTORS)


def test_no_file_of_the_project_runs_in_a_build_that_its_recipe_does_not_name(
    tmp_path: Path,
) -> None:
    planned, ran = plan(tmp_path, task=TASK), set[str]()

    def note(frame: FrameType, event: str, argument: object) -> None:
        name = str(frame.f_globals.get("__name__"))
        importing = frame.f_code.co_name == "<module>" or not frame.f_code.co_flags & CO_OPTIMIZED
        if event == "call" and _is_ours(name) and not importing:
            ran.add(name)

    for step in planned.steps.values():
        inputs = {name: Store(tmp_path).make(each) for name, each in step.inputs.items()}
        ran.clear()
        (out := tmp_path / step.key).mkdir()
        gc.collect()  # a generator that an earlier test left behind runs once more as it goes
        sys.setprofile(note)
        try:
            step.build(out, inputs)
        finally:
            sys.setprofile(None)
        named = {name for name in ran if not name.startswith(source.PASSIVE)}
        assert named
        assert named <= step.source.modules.keys(), step.name


def test_other_code_is_refused_and_named_with_the_remedy(
    store: Store, code: Code, capsys: pytest.CaptureFixture[str]
) -> None:
    code.edit("return 1", "return 2")
    message = (
        r"stored results are of other code: 1 corpus \(Text\): toy_corpus,"
        r" 1 scores \(Weat\): depends on these, 1 vectors \(Word2Vec\): depends on these. --stale"
        r" rebuild rebuilds them and what depends on them. --stale use uses them unchanged"
    )
    found = outdated(store, [SCORES])
    with pytest.raises(InputError, match=message):
        report_outdated(found, "refuse", Console())
    report_outdated(found, "use", Console())
    assert "using results of other code: 1 corpus (Text): toy_corpus" in capsys.readouterr().out


def test_other_libraries_are_used_and_named(
    store: Store, code: Code, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = metadata.version("numpy")
    versions = {"biasbridge": "0.1.0"}
    monkeypatch.setattr(metadata, "version", lambda name: versions.get(name, "99.1"))
    code.begin_anew()
    found = outdated(store, [SCORES])
    assert [(each.step.name, each.code) for each in found] == [
        ("scores", False),
        ("vectors", False),
    ]
    report_outdated(found, "refuse", Console())
    out = capsys.readouterr().out
    assert "using results of other library versions: 1 vectors (Word2Vec): " in out
    assert f"numpy {before} (now 99.1)" in out


def test_mixed_versions_are_read_from_recipes(
    store: Store, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(VECTORS, params={"dim": 3})
    same = build_records(store, [SCORES.key])
    assert [(each.step, each.results) for each in same] == [
        ("corpus", 1),
        ("scores", 1),
        ("vectors", 1),
    ]
    assert describe_mixture(same) == ""
    versions = {"biasbridge": "0.1.0"}
    monkeypatch.setattr(metadata, "version", lambda name: versions.get(name, "99.1"))
    code.edit("ones", "zeros")
    store.make(other)
    monkeypatch.undo()
    found = build_records(store, [SCORES.key, other.key, "gone"])
    numpy = " and ".join(sorted(["99.1", metadata.version("numpy")]))
    assert describe_mixture(found) == f"vectors (Word2Vec) by 2 codes; numpy {numpy}"
    assert sum(each.results for each in found) == 4


EMBEDDING = """
from biasbridge.train.subjects.static import Word2Vec
from biasbridge.files import choice


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
    made = tmp_path / "results" / "point" / "provenance.csv"
    first = made.read_text()
    scores = (tmp_path / "results" / "point" / "intrinsic.parquet").read_bytes()
    source.write_text(EMBEDDING.replace("*= 1", "*= 9"))
    refused = run(tmp_path, status=2)
    assert "error: stored results are of other code: " in refused
    assert "2 vectors (Scaled): toy_scaled, 2 intrinsic (Weat): depends on these" in refused
    assert "Traceback" not in refused
    assert "using results of other code: 2 vectors (Scaled): toy_scaled" in run(
        tmp_path, "stale=use"
    )
    assert made.read_text() == first
    more = run(tmp_path, "--stale", "use", "seed=0,1,2")
    assert "results of different code versions: vectors (toy_scaled.Scaled) by 2 codes" in more
    plan = run(tmp_path, "--stale=rebuild", "plan=true")
    assert "rebuilding results of other code: 2 vectors (Scaled)" in plan
    rebuilt = run(tmp_path, "stale=rebuild")
    assert "mixed" not in rebuilt
    assert (tmp_path / "results" / "point" / "intrinsic.parquet").read_bytes() != scores
    assert "other code" not in run(tmp_path)
    both = run(tmp_path, "stale=rebuild", "overwrite=only-cache", status=2)
    assert "overwrite=only-cache builds none; choose one" in both


# A file that changes between plan and build: nothing made from it is kept under the old key.

MEANWHILE: dict[str, Callable[[], object]] = {"before": bool, "after": bool}


def carry_out(corpus: TextCorpus, out: Path, inputs: Inputs, seed: int) -> None:
    MEANWHILE["before"]()
    write_corpus(corpus, out, inputs, seed)
    MEANWHILE["after"]()


def step_of(path: Path, store: Store, after: Callable[[], object] = bool) -> Step:
    MEANWHILE.update(before=bool, after=after)
    choice = TextCorpus(str(path), tokeniser="whitespace", min_count=1)
    return StepBuilder(0, store)("corpus", choice, carry_out)


def rewrite(path: Path) -> None:
    """Other bytes of the same number, under the old time."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("two\n")
    os.utime(path, ns=times)


def put_another(path: Path) -> None:
    """Another file in its place."""
    other = path.with_suffix(".new")
    other.write_text("six\n")
    other.replace(path)


CHANGES = {"rewritten": rewrite, "replaced": put_another, "removed": Path.unlink}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_changed_file_is_noticed_and_named(
    change: Callable[[Path], object], when: str, tmp_path: Path
) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "text.txt"
    path.write_text("one\n")
    step = step_of(path, store, (lambda: change(path)) if when == "during" else bool)
    if when == "before":
        change(path)
    with pytest.raises(InputError, match=r"text\.txt"):
        store.make(step)
    assert not store.has(step)
    assert not list((store.root / "work").iterdir())
    path.write_text("two\n")
    again = step_of(path, store)
    assert again.key != step.key
    assert (store.make(again) / "corpus.txt").read_text() == "two\n"


def test_a_file_that_is_only_touched_before_it_is_read_is_the_same(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "text.txt"
    path.write_text("one\n")
    step = step_of(path, store)
    path.touch()
    assert (store.make(step) / "corpus.txt").read_text() == "one\n"


def rewritten_and_back(path: Path) -> Iterator[None]:
    rewrite(path)
    yield
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("one\n")
    os.utime(path, ns=times)


def moved_and_back(path: Path) -> Iterator[None]:
    aside = path.rename(path.with_suffix(".old"))
    path.write_text("two\n")
    yield
    aside.replace(path)


def folder_linked_and_back(path: Path) -> Iterator[None]:
    """The folder of ``text.txt`` is a link, which for a while leads to another folder."""
    link, first = path.parent, path.parent.readlink()
    other = link.with_suffix(".other")
    other.mkdir()
    (other / path.name).write_text("two\n")
    link.unlink()
    link.symlink_to(other)
    yield
    link.unlink()
    link.symlink_to(first)


BACK: dict[str, tuple[Callable[[Path], Iterator[None]], str]] = {
    "rewritten": (rewritten_and_back, ""),
    "moved": (moved_and_back, ""),
    "folder linked": (folder_linked_and_back, "folder"),
}


@pytest.mark.parametrize("what", BACK)
def test_another_file_that_was_read_in_the_place_of_the_same_one_is_noticed(
    what: str, tmp_path: Path
) -> None:
    change, link = BACK[what]
    store = Store(tmp_path / "store")
    (tmp_path / "real").mkdir()
    path = tmp_path / "real" / "text.txt"
    path.write_text("one\n")
    if link:
        (tmp_path / link).symlink_to(path.parent)
        path = tmp_path / link / "text.txt"
    read = []
    changing = change(path)

    def after() -> None:
        (work,) = (store.root / "work").glob("*/corpus.txt")
        read.append(work.read_text())
        list(changing)

    step = step_of(path, store, after)
    MEANWHILE["before"] = lambda: next(changing)
    with pytest.raises(InputError, match=r"text\.txt changed after corpus \(TextCorpus\) was"):
        store.make(step)
    assert read == ["two\n"]
    assert path.read_text() == "one\n"
    assert not store.has(step)
    assert step_of(path, store).key == step.key


def test_shipped_words_that_change_meanwhile_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    step = StepBuilder(0, store)("words", WordChoice("weat7"), _write_words)
    monkeypatch.setitem(_library().queries, "weat7", load_query("weat8"))
    with pytest.raises(InputError, match="the content of its words or files changed after words"):
        store.make(step)
    assert not store.has(step)
