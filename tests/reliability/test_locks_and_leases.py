"""Who shares a store: locks that a file system refuses or whose holder is stopped, ``gc`` beside a
sweep, results removed and inputs changed under one.
"""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from biasbridge.cli.store import main
from files import InputError
from tests.reliability.sweeps import (
    ROOT,
    SWEEP,
    assert_same_tables,
    assert_whole,
    entries,
    finish,
    start,
)
from tests.reliability.test_faults_disk import CORPUS, VECTORS
from train.outcome import sharing
from train.store import Store, StoreError
from train.store.lease import lease, leased
from train.store.lock import HeldError, held, locked

REFUSALS = [errno.ENOLCK, errno.EIO, errno.EOPNOTSUPP, errno.ENOSYS]


@pytest.mark.parametrize("number", REFUSALS, ids=errno.errorcode.get)
def test_a_file_system_without_locks_is_said_before_anything_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, kind: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    said = rf"its file system gives no lock \({os.strerror(number)}\)"
    with pytest.raises(InputError, match=rf"store\.dir=.*{said}; choose another"):
        Store(tmp_path / "store").prove_writable()
    with pytest.raises(StoreError, match=rf"store\.dir=.*{said}\. What is finished stays"):
        Store(tmp_path / "store").make(CORPUS)
    with pytest.raises(InputError, match=rf"results\.dir=.*{said}"), sharing(tmp_path / "results"):
        pytest.fail("the results folder was taken for one that can be shared")


def test_a_lock_is_held_by_one_or_shared_by_many(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not held(path)
    with locked(path):
        assert held(path)
        assert path.read_text().startswith(f"{os.getpid()} ")
        with pytest.raises(HeldError), locked(path, wait=False):
            pytest.fail("two hold one lock")
    assert not held(path)
    with locked(path, shared=True), locked(path, shared=True):
        assert not held(path)  # by one alone
        with pytest.raises(HeldError), locked(path, wait=False):
            pytest.fail("one holds alone what another shares")


def hold_and_stop(path: Path) -> None:
    with locked(path):
        os.kill(os.getpid(), signal.SIGSTOP)


def test_who_waits_for_a_stopped_process_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("train.store.lock.SILENT", 0.5)
    store = Store(tmp_path / "store")
    store.prove_writable()
    lock = store.root / "locks" / f"{CORPUS.key}.lock"
    holder = multiprocessing.get_context("spawn").Process(target=hold_and_stop, args=(lock,))
    holder.start()
    assert holder.pid is not None
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
    waker = subprocess.Popen(
        [sys.executable, "-c", f"import os, time; time.sleep(3); os.kill({holder.pid}, 18)"]
    )
    store.make(CORPUS)
    waker.wait()
    holder.join()
    (said,) = caplog.messages
    assert said.startswith(f"waiting for corpus {CORPUS.key}, which process {holder.pid} on ")


def test_gc_leaves_what_a_sweep_has_a_lease_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "store")
    for entry in (store.make(VECTORS), store.path(CORPUS)):
        os.utime(entry / "recipe.json", (0, 0))
    arguments = ["gc", "--store", str(store.root), "--older-than", "1d"]
    with lease(store.root, [VECTORS.key]) as hold:
        hold([CORPUS.key])
        assert leased(store.root) == {VECTORS.key, CORPUS.key}
        main(arguments)
        assert store.has(VECTORS)
        assert store.has(CORPUS)
        assert "2 results are in use by running sweeps" in capsys.readouterr().out
    assert not list((store.root / "leases").iterdir())
    main(arguments)
    assert not store.has(VECTORS)
    assert not store.has(CORPUS)


def test_the_lease_of_a_killed_sweep_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from train.store.lease import lease\n"
        "with lease(Path(sys.argv[1]), ['ab']): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert len(list((tmp_path / "leases").iterdir())) == 1
    assert leased(tmp_path) == set()
    assert not list((tmp_path / "leases").iterdir())


def test_a_worker_on_any_machine_ends_when_the_lease_does(tmp_path: Path) -> None:
    code = (
        "import time; from train.store.lease import end_with_the_sweep; end_with_the_sweep()\n"
        "print('at work', flush=True); time.sleep(600)"
    )
    with lease(tmp_path, []):
        worker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert worker.stdout
        assert worker.stdout.readline() == b"at work\n"
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(timeout=2)
    with worker:
        assert worker.wait(timeout=60) == 1
    assert "BIASBRIDGE_LEASE" not in os.environ


def wait_until_running(process: subprocess.Popen[str], store: Path) -> None:
    """Until a result was made and another is being built."""
    while process.poll() is None and not (
        entries(store) and any((store / "work").glob("[!.]*")) and any((store / "leases").iterdir())
    ):
        time.sleep(0.01)
    assert process.poll() is None


@pytest.mark.slow
def test_gc_beside_a_sweep_costs_no_point(tmp_path: Path, quiet: Path) -> None:
    for seed in ("0", "0,1"):
        process = start(tmp_path, f"seed={seed}", "hydra/launcher=basic")
        if seed == "0":
            finish(process)
    wait_until_running(process, tmp_path / "store")
    before = entries(tmp_path / "store")
    gc = [sys.executable, "-m", "train.store", "gc", "--older-than", "0m"]
    done = subprocess.run(
        gc,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "results are in use by running sweeps" in done.stdout
    now = entries(tmp_path / "store")
    assert {name: now.get(name) for name in before} == before
    finish(process)
    assert_whole(tmp_path / "store")
    assert_same_tables(tmp_path / "results" / "hatespeech_en", quiet)


@pytest.mark.slow
def test_results_removed_under_a_sweep_are_named_and_made_again(
    tmp_path: Path, quiet: Path
) -> None:
    finish(start(tmp_path, "seed=0"))
    process = start(tmp_path, "seed=0,1", "hydra/launcher=basic")
    time.sleep(0.1)
    wait_until_running(process, tmp_path / "store")
    for stage in ("intrinsic", "extrinsic"):
        shutil.rmtree(tmp_path / "store" / stage)
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert "are built again: a file that they rest on changed" in err
    assert_whole(tmp_path / "store")
    assert_same_tables(tmp_path / "results" / "hatespeech_en", quiet)


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["local", pytest.param("basic", marks=pytest.mark.stress)])
def test_an_input_changed_under_a_sweep_is_named_and_used(launcher: str, tmp_path: Path) -> None:
    posts, results = tmp_path / "posts.csv", tmp_path / "results" / "hatespeech_en"
    rows = [f"{i},he is the best man of number {i},{i % 2}" for i in range(400)]
    rows += [f"{i},she is the best woman of number {i},{i % 2}" for i in range(400, 800)]
    posts.write_text("\n".join(["id,text,label", *rows]) + "\n", encoding="utf-8")
    small = [word for word in SWEEP if not word.startswith("source.")]
    words = [*small, "source=csv", f"source.path={posts}", "seed=0"]
    process = start(tmp_path, f"hydra/launcher={launcher}", sweep=words)
    wait_until_running(process, tmp_path / "store")
    posts.write_text("\n".join(["id,text,label", *rows[:-20]]) + "\n", encoding="utf-8")
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert "are built again: a file that they rest on changed" in err
    shutil.copytree(results, tmp_path / "kept")
    finish(start(tmp_path, "overwrite=only-cache", sweep=words))
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "kept" / "extrinsic.parquet"),
        pd.read_parquet(results / "extrinsic.parquet"),
    )
