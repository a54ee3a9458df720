"""The store: one build a key, nothing half-written, keys that follow from everything that decides a
result.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.analysis.result_folder import describe_mixture, describe_processor
from biasbridge.commands.store import main
from biasbridge.files import InputError
from biasbridge.train.engine.locks import locked
from biasbridge.train.engine.store import (
    _SCHEME,
    DamagedError,
    Step,
    Store,
    _safe_title,
    read_recipe,
)
from biasbridge.train.engine.store_tools import build_records


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    """A result that says what it was made from."""
    (out / "text").write_text(
        " ".join((folder / "text").read_text() for folder in inputs.values()) + "x"
    )


CORPUS = Step(name="corpus", made_by="Text", version=1, params={"a": 1}, build=write, seed=3)


def on(corpus: Step) -> Step:
    return replace(CORPUS, name="vectors", inputs={"corpus": corpus})


def test_makes_inputs_first_and_only_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    built: list[Path] = []

    def count(out: Path, inputs: Mapping[str, Path]) -> None:
        built.append(out)
        write(out, inputs)

    first = replace(CORPUS, build=count)
    second = replace(on(first), build=count)
    assert (store.make(second) / "text").read_text() == "xx"
    assert store.make(second) == store.make(second)
    assert len(built) == 2
    assert store.has(first)


def test_a_finished_result_needs_no_inputs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = CORPUS, on(CORPUS)
    store.make(second)
    (store.path(first) / "text").unlink()
    (store.path(first) / "recipe.json").unlink()
    store.path(first).rmdir()
    store.make(second)
    assert not store.has(first)


@pytest.mark.parametrize(
    "changed",
    [
        replace(CORPUS, made_by="Other"),
        replace(CORPUS, done_by="other"),
        replace(CORPUS, version=2),
        replace(CORPUS, params={"a": 2}),
        replace(CORPUS, seed=4),
        replace(CORPUS, files={"x": "00"}),
        replace(CORPUS, name="other"),
    ],
    ids=["made_by", "done_by", "version", "params", "seed", "files", "name"],
)
def test_key_follows_from_all_that_decides(changed: Step) -> None:
    assert changed.key != CORPUS.key
    assert on(changed).key != on(CORPUS).key


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def fail(out: Path, inputs: Mapping[str, Path]) -> None:
        write(out, inputs)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        store.make(replace(CORPUS, build=fail))
    assert not store.has(CORPUS)
    assert list((tmp_path / "work").iterdir()) == []
    assert (store.make(CORPUS) / "text").read_text() == "x"


def test_a_store_removed_under_a_build_is_built_anew(tmp_path: Path) -> None:
    removed: list[Path] = []

    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        if not removed:
            removed.append(tmp_path)
            shutil.rmtree(tmp_path)
            raise TypeError("what a library says of a file that is gone")
        write(out, inputs)

    made = Store(tmp_path).make(replace(on(CORPUS), build=build))
    assert (made / "text").read_text() == "xx"


def test_recipe_is_written_beside_the_result(tmp_path: Path) -> None:
    content = read_recipe(Store(tmp_path, made={"command": "python train.py"}).make(CORPUS))
    assert content["recipe"] == CORPUS.recipe()
    assert content["made"]["libraries"]["Python"] == platform.python_version()
    assert content["made"]["command"] == "python train.py"
    assert "instructions" not in content["made"]
    assert content["files"] == {"text": {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}}


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_the_instructions_of_torch_stand_in_the_recipe_and_not_in_the_key(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    records = []
    for instructions in ("AVX2", "AVX512"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda it=instructions: it)
        step = replace(CORPUS, made_of=("biasbridge.extrinsic.classifiers",))
        assert step.key == CORPUS.key
        store = Store(tmp_path / instructions, made={"device": device})
        made = read_recipe(store.make(step))["made"]
        assert made.get("instructions") == (instructions if device == "cpu" else None)
        records += build_records(store, [step.key])
    note = "CPU instructions: AVX2 and AVX512. On another processor digits of networks may differ"
    assert describe_processor(records) == (note if device == "cpu" else "")
    assert ("CPU instructions AVX2 and AVX512" in describe_mixture(records)) == (device == "cpu")


def slow_build(out: Path, inputs: Mapping[str, Path]) -> None:
    time.sleep(0.2)
    (out / "text").write_text(str(time.time_ns()))


def make_slowly(root: Path) -> str:
    return (Store(root).make(replace(CORPUS, build=slow_build)) / "text").read_text()


def test_processes_share_one_build(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert len(set(pool.map(make_slowly, [tmp_path] * 3))) == 1


def test_digest_follows_the_bytes(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "data"
    path.write_text("a")
    first = store.digest(path)
    # SHA-256 of "a", FIPS 180 test value
    assert first == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert store.digest(path) == first
    path.write_text("bb")
    assert store.digest(path) != first


def test_a_result_of_an_earlier_scheme_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("biasbridge.train.engine.store._SCHEME", _SCHEME - 1)
        entry = Store(tmp_path).make(replace(CORPUS))
    assert not Store(tmp_path).has(replace(CORPUS))
    with pytest.raises(DamagedError, match="stored by an earlier version"):
        read_recipe(entry)


def test_bad_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"store\.dir=.*choose another"):
        Store(tmp_path / "file" / "store").prove_writable()
    with pytest.raises(InputError, match="no such file"):
        Store(tmp_path / "store").digest(tmp_path / "absent")


# ``biasbridge store``: it prints what is there and removes what nobody needs.

DAY = 86400


def write_store_tools(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "text").write_text("x" * 1000)


CORPUS_STORE_TOOLS = Step(
    name="corpus",
    made_by="Text",
    version=1,
    params={"lines": 3},
    build=write_store_tools,
    files={"0 tweets.txt": "ab" * 32},
    seed=3,
)
VECTORS = Step(
    name="vectors",
    made_by="Word2Vec",
    version=2,
    params={"dim": 7},
    build=write_store_tools,
    inputs={"corpus": CORPUS_STORE_TOOLS},
    seed=5,
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store", made={"command": "python train.py seed=4", "device": "cpu"})
    store.make(VECTORS)
    return store


def run(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main([arguments[0], "--store", str(store.root), *arguments[1:]])
    return status, capsys.readouterr().out


def everything(store: Store) -> list[str]:
    return sorted(str(path.relative_to(store.root)) for path in store.root.rglob("*"))


def test_ls_counts_results_and_bytes(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    (store.root / "work" / ("0" * 32)).mkdir()
    _, out = run(store, capsys, "ls")
    row = next(line for line in out.splitlines() if "vectors" in line)
    bytes_there = sum(path.stat().st_size for path in store.path(VECTORS).iterdir())
    assert [cell.strip() for cell in row.strip("│").split("│")][1:3] == [
        "1",
        f"{bytes_there / 1000:.1f} kB",
    ]
    assert "0 being built, 1 orphaned" in out


def test_bad_input_names_the_remedy(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in (
        (("ls", "vector"), "no step 'vector'; it has corpus, vectors"),
        (("gc", "--older-than", "long"), "such as 30d"),
    ):
        with pytest.raises(InputError, match=message):
            run(store, capsys, *arguments)
    with pytest.raises(InputError, match="is not a store"):
        main(["ls", "--store", str(tmp_path / "absent")])


def test_the_key_alone_identifies_a_result(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    retitled = replace(VECTORS, title="another title")
    assert retitled.key == VECTORS.key
    assert store.path(retitled) == store.path(VECTORS)
    store.path(VECTORS).rename(store.root / "vectors" / VECTORS.key)  # as earlier versions had it
    assert store.intact(VECTORS)
    assert store.intact(retitled)
    assert run(store, capsys, "verify", "vectors")[0] == 0


@pytest.mark.parametrize(
    ("title", "folder"),
    [
        ("word2vec,dim=50,seed=0", "word2vec,dim=50,seed=0"),
        ("a/b: c*?\\..", "a_b__c___"),
        ("größe=é", "gr__e=_"),
        ("x" * 90, "x" * 80),
        ("word" + ",a=12345" * 12, "word" + ",a=12345" * 9),
        ("..", "_"),
        ("", "_"),
    ],
)
def test_titles_are_names_on_every_file_system(title: str, folder: str) -> None:
    assert _safe_title(title) == folder


def test_verify_finds_damage_and_changes_nothing(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(store, capsys, "verify")[0] == 0
    (store.path(CORPUS_STORE_TOOLS) / "text").write_text("x" * 999 + "y")
    before = everything(store)
    status, out = run(store, capsys, "verify")
    assert status == 1
    assert f"damaged: corpus {CORPUS_STORE_TOOLS.entry_name}: text was altered" in out
    assert "2 results" in out
    assert "1 damaged" in out
    assert everything(store) == before
    recipe = store.path(VECTORS) / "recipe.json"
    for content in ("{", "", "{}", "[]", "[" * 100_000, f"{'[' * 900}{']' * 900}"):
        recipe.write_text(content)
        assert ": recipe.json is not a recipe\n" in run(store, capsys, "verify", "vectors")[1]


def test_gc_removes_orphans_but_not_what_is_being_built(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    orphan, busy = store.root / "work" / ("0" * 32), store.root / "work" / ("1" * 32)
    orphan.mkdir()
    busy.mkdir()
    before = everything(store)
    with locked(store.root / "locks" / f"{busy.name}.lock"):
        run(store, capsys, "gc", "--dry-run")
        assert [path for path in everything(store) if not path.startswith("locks")] == [
            p for p in before if not p.startswith("locks")
        ]
        run(store, capsys, "gc")
        assert not orphan.exists()
        assert busy.exists()
        assert (store.root / "locks" / f"{busy.name}.lock").exists()
    assert store.intact(VECTORS)
    assert store.intact(CORPUS_STORE_TOOLS)


def test_gc_by_age_removes_what_was_not_used_for_so_long(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    old = time.time() - 31 * DAY
    os.utime(store.path(CORPUS_STORE_TOOLS) / "recipe.json", (old, old))
    trainings = [store.root / "unfinished" / (digit * 32) for digit in "01"]
    for training in trainings:
        training.mkdir(parents=True)
    os.utime(trainings[0], (old, old))
    run(store, capsys, "gc")
    assert all(training.exists() for training in trainings), "a sweep continues from them"
    run(store, capsys, "gc", "--older-than", "30d")
    assert [training.exists() for training in trainings] == [False, True]
    assert not store.has(CORPUS_STORE_TOOLS)
    assert store.has(VECTORS)
    store.make(CORPUS_STORE_TOOLS)


@pytest.mark.parametrize("name", ["work", "unfinished"])
def test_a_folder_of_the_user_is_not_made_a_store(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=rf"is not a store, and has a folder {name}; choose an"):
        Store(tmp_path).prove_writable()
    assert [path.name for path in tmp_path.iterdir()] == [name]
