"""What a point may do - raise, exit, be killed, diverge - and what the user sees: it fails alone,
with a reason.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.commands.store import main
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.extrinsic.classifiers import CNN
from biasbridge.files import InputError
from biasbridge.files.columns import as_text
from biasbridge.train.engine.cost import _expected_costs
from biasbridge.train.engine.locks import StoreError
from biasbridge.train.engine.point import (
    Outcome,
    read_outcome,
    read_stamp,
    run_point,
    write_outcome,
)
from biasbridge.train.engine.store import (
    DamagedError,
    Step,
    Store,
    _seal_entry,
    check_entry,
    read_recipe,
)
from biasbridge.train.subjects.static import Word2Vec
from tests.points import SUBJECT, TASK, plan
from tests.reliability.sweeps import SWEEP, results_of, start

if TYPE_CHECKING:
    from biasbridge.debias.base import Method
    from biasbridge.train.tasks.hatespeech import HateSpeech
    from tests.conftest import Train


EXPECTED = {
    "raise": "ZeroDivisionError: an unlucky post",
    "exit": "SystemExit: a library gave up",
    "kill": ("the process of this point was killed by SIGKILL; out of memory is the usual reason"),
    "none": "",
}
FAULTY = [
    *(word for word in SWEEP if not word.startswith(("debias", "classifier"))),
    *("debias=none", "debias.direction=debias", "debias.dose=0", "seed=0"),
    *("classifier=misbehave", f"classifier.fault={','.join(EXPECTED)}"),
]


@pytest.mark.slow
def test_every_fault_costs_its_point_only(tmp_path: Path, train: Train) -> None:
    process = start(tmp_path, "hydra.launcher.n_jobs=2", sweep=FAULTY)
    out, err = process.communicate()
    assert process.returncode == 1, out + err
    points = pd.read_parquet(results_of(tmp_path) / "points.parquet")
    assert list(points["status"]) == ["failed"] * 3 + ["done"]
    errors = as_text(points, "error")
    for error, expected in zip(errors, EXPECTED.values(), strict=True):
        assert error.startswith(expected)
    noted = read_outcome(results_of(tmp_path), as_text(points, "point")[0])
    assert noted is not None
    assert noted.error == errors[0]
    assert "in predict" in noted.traceback
    last = [line for line in out.splitlines() if line.strip()][-3:]
    assert all(line.startswith("failed ") for line in last)

    status, out, _ = train(*FAULTY, "plan=true")
    [row] = [line for line in out.splitlines() if line.startswith("│ extrinsic")]
    distinct, stored, missing = map(int, row.split("│")[3:6])
    assert (status, distinct, stored, missing) == (0, 4, 1, 3)
    status, _, _ = train(*FAULTY, "overwrite=only-cache", "seed=0,1")
    assert status == 1
    points = pd.read_parquet(results_of(tmp_path) / "points.parquet")
    assert sorted(points["status"]) == ["done", *["failed"] * 7]


def outcome_of(
    folder: Path, *, debias: Method = SUBJECT.debias, task: HateSpeech | None = None
) -> str:
    """The error of a point with this method and task."""
    planned = plan(folder / "store", subject=replace(SUBJECT, debias=debias), task=task)
    outcome = run_point(planned, Store(folder / "store"), folder)
    assert outcome.status == "failed"
    return outcome.error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divergence_is_a_failure_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overflow = AttractRepel(direction="debias", learning_rate=1e38)
    assert "give a smaller learning_rate" in outcome_of(tmp_path / "one", debias=overflow)
    train = Word2Vec.train

    def train_hugely(self: Word2Vec, corpus: Path, *, seed: int) -> KeyedVectors:
        vectors = train(self, corpus, seed=seed)
        vectors.vectors[:] = 3e38
        return vectors

    monkeypatch.setattr(Word2Vec, "train", train_hugely)
    task = replace(TASK, classifier=CNN(windows=(2,), maps=2, epochs=2, folds=2))
    message = "the loss is not finite in epoch 1; lower learning_rate"
    assert message in outcome_of(tmp_path / "two", task=task)

    def train_badly(self: Word2Vec, corpus: Path, *, seed: int) -> KeyedVectors:
        vectors = KeyedVectors(2)
        vectors.add_vectors(["he", "she"], np.array([[0.0, np.nan], [1.0, 1.0]]))
        return vectors

    monkeypatch.setattr(Word2Vec, "train", train_badly)
    message = "the training diverged: 1 of 2 vectors are not finite; lower embedding.learning_rate"
    assert message in outcome_of(tmp_path / "three")


# What a disk may do to a store, and what the user sees: nothing half-written or altered is used,
# what is finished stays.


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "vectors").mkdir()
    np.save(out / "vectors" / "vectors.npy", np.arange(100.0))
    (out / "text").write_text("some text\n" * 20)


CORPUS = Step(name="corpus", made_by="Text", version=1, params={"0": {}}, build=write, seed=3)
VECTORS = replace(CORPUS, name="vectors", made_by="Word2Vec", inputs={"corpus": CORPUS})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    Store.checked.clear()  # as in a new process
    yield Store(tmp_path / "store")
    Store.checked.clear()


def flip(path: Path, place: int = 40) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def another_key(entry: Path) -> None:
    content = read_recipe(entry)
    _seal_entry(entry, {**content["recipe"], "seed": 4}, content["made"])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped byte": (
        lambda entry: flip(entry / "vectors" / "vectors.npy", 200),
        "vectors/vectors.npy was altered",
    ),
    "truncated file": (
        lambda entry: os.truncate(entry / "text", 100),
        "text has 100 bytes and was stored with 200",
    ),
    "deleted file": (lambda entry: (entry / "text").unlink(), "text is missing"),
    "added file": (lambda entry: (entry / "more").touch(), "more was added"),
    "flipped byte in the recipe": (lambda entry: flip(entry / "recipe.json"), "recipe.json"),
    "deleted recipe": (lambda entry: (entry / "recipe.json").unlink(), "recipe.json is missing"),
    "another result's folder": (another_key, "recipe.json belongs to another key"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_reported_and_built_again(
    what: str, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    damage, reason = DAMAGE[what]
    entry = store.make(CORPUS)
    Store.checked.clear()
    damage(entry)
    with caplog.at_level(logging.WARNING):
        assert not store.intact(CORPUS)
    assert f"rebuilding a damaged result: corpus {CORPUS.key}: " in caplog.text
    assert reason in caplog.text
    assert not entry.exists()
    assert check_entry(store.make(CORPUS))
    assert store.built == ["corpus", "corpus"]


def test_damaged_input_of_a_new_result_is_built_again(store: Store) -> None:
    flip(store.make(CORPUS) / "text")
    Store.checked.clear()
    store.make(VECTORS)
    assert store.built == ["corpus", "corpus", "vectors"]


@given(place=st.integers(0, 10**6), bit=st.integers(0, 7), which=st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_any_flipped_bit_is_noticed(
    place: int, bit: int, which: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    entry = Store(tmp_path_factory.getbasetemp() / "flipped").make(CORPUS)
    path = [entry / "recipe.json", entry / "text", entry / "vectors" / "vectors.npy"][which]
    whole = path.read_bytes()
    content = bytearray(whole)
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(content)
    try:
        with pytest.raises(DamagedError):
            check_entry(entry)
    finally:
        path.write_bytes(whole)


def entries_are_whole(store: Store) -> bool:
    return all(check_entry(recipe.parent) for recipe in store.root.glob("[cv]*/*/recipe.json"))


def test_error_at_every_single_write_leaves_the_store_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[tuple[object, str], Callable[..., object]] = {
        (os, "replace"): os.replace,
        (os, "mkdir"): os.mkdir,
        (Path, "write_text"): Path.write_text,
        (np, "save"): np.save,
    }
    seen = fail_at = 0

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*args: object, **named: object) -> object:
            nonlocal seen
            seen += 1
            if seen == fail_at:
                place = os.fspath(tmp_path / "store" / str(fail_at))
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)
            return call(*args, **named)

        return wrapper

    messages = []
    for fail_at in itertools.count(1):
        store = Store(tmp_path / "store" / str(fail_at))
        seen = 0
        with monkeypatch.context() as patch:
            for (owner, name), call in calls.items():
                patch.setattr(owner, name, counted(call))
            try:
                store.make(VECTORS)
            except (StoreError, InputError) as problem:
                messages.append(str(problem))
            reached = seen >= fail_at
        assert entries_are_whole(store)
        assert check_entry(store.make(VECTORS))
        if not reached:
            break
    assert len(messages) > 10
    assert all(
        "store.dir=" in text and "run the same command to continue" in text for text in messages
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a file system of its own can be mounted by root only")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def write_much(out: Path, inputs: Mapping[str, Path]) -> None:
    np.save(out / "vectors.npy", np.zeros(100_000))


MUCH = replace(VECTORS, params={"0": {"dim": 1}}, build=write_much)


def test_full_disk_is_said_and_a_larger_one_goes_on(small_disk: Path) -> None:
    store = Store(small_disk / "store")
    with pytest.raises(StoreError, match=r"store\.dir=.*: the disk is full .*free some space"):
        store.make(MUCH)
    assert store.has(CORPUS)
    assert entries_are_whole(store)
    assert not list((store.root / "work").iterdir())
    remount(small_disk, "size=3m")
    assert check_entry(store.make(MUCH))


def test_read_only_store_serves_what_it_has(small_disk: Path) -> None:
    store = Store(small_disk / "store")
    store.make(CORPUS)
    Store.checked.clear()
    remount(small_disk, "ro")
    assert store.intact(CORPUS)
    assert store.make(CORPUS) == store.path(CORPUS)
    with pytest.raises(StoreError, match=r"it cannot be written \(Read-only file system\)"):
        store.make(VECTORS)
    with store.in_use(), pytest.raises(InputError, match=r"store\.dir=.*choose another"):
        store.prove_writable()


def test_outcome_is_new_even_if_its_time_is_older(tmp_path: Path) -> None:
    write_outcome(Outcome("a"), tmp_path)
    before = read_stamp(tmp_path, "a")
    write_outcome(Outcome("a", "failed"), tmp_path)
    os.utime(tmp_path / "points" / "a.json", (0, 0))
    assert read_stamp(tmp_path, "a") != before


@pytest.fixture
def strewn(store: Store) -> Store:
    """A store with what desktops and users leave in folders."""
    entry = store.make(VECTORS)
    for folder in (store.root, entry.parent, entry, *map(store.root.joinpath, ("work", "locks"))):
        (folder / ".DS_Store").write_text("a desktop was here")
    for folder in (store.root, entry.parent, store.root / "digests"):
        folder.mkdir(exist_ok=True)
        (folder / "dangling").symlink_to("nowhere")
        (folder / "notes.txt").write_text("mine")
    (entry.parent / "notes").mkdir()
    Store.checked.clear()
    return store


def test_stray_files_are_nobodys_results(strewn: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("ls", "ls vectors", "verify", "gc"):
        assert main([*command.split(), "--store", str(strewn.root)]) == 0
    out = capsys.readouterr().out
    assert "notes" not in out
    assert "dangling" not in out
    assert strewn.intact(VECTORS)
    assert None not in _expected_costs([CORPUS, VECTORS], strewn).values()
    assert strewn.make(replace(VECTORS, seed=9)).is_dir()
    assert strewn.built == ["corpus", "vectors", "vectors"]


def test_what_a_kill_left_is_cleared_by_the_next_sweep(store: Store) -> None:
    store.make(CORPUS)
    work = store.root / "work"
    (work / f".removed-{CORPUS.key}").mkdir()
    (work / f".removed-{CORPUS.key}" / "text").write_text("half gone")
    (work / f".probe-{CORPUS.key}").touch()
    (work / "mine.txt").touch()
    assert len(store.orphans(remove=True)) == 2
    assert [path.name for path in work.iterdir()] == ["mine.txt"], "not named by a key"
