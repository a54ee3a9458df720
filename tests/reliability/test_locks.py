"""Who shares a store: locks that a file system refuses or whose holder is stopped, and the lock of
a running sweep, which ``gc`` respects and by which its workers live.
"""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from biasbridge.commands.store import main
from biasbridge.files import InputError
from biasbridge.train.engine.locks import SWEEP, HeldError, StoreError, is_held, locked
from biasbridge.train.engine.point import results_folder
from biasbridge.train.engine.store import Store
from tests.reliability.sweeps import ROOT
from tests.reliability.test_faults import CORPUS, VECTORS


def test_a_file_system_without_locks_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    said = rf"its file system does not support locks \({os.strerror(errno.ENOLCK)}\)"
    with pytest.raises(InputError, match=rf"store\.dir=.*{said}; choose another"):
        Store(tmp_path / "store").prove_writable()
    with pytest.raises(StoreError, match=rf"store\.dir=.*{said}\. Finished results stay"):
        Store(tmp_path / "store").make(CORPUS)
    with pytest.raises(InputError, match=rf"{said}; choose another folder with results\.dir=PATH"):
        results_folder(str(tmp_path / "results"))


def test_a_lockis_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    with locked(path):
        assert is_held(path)
        assert path.read_text().startswith(f"{os.getpid()} ")
        with pytest.raises(HeldError), locked(path, wait=False):
            pytest.fail("two hold one lock")
    assert not is_held(path)


class Clock:
    """Time that passes only while somebody waits, and what happens at some of its moments."""

    def __init__(self, moments: Mapping[float, Callable[[], object]]) -> None:
        self.now, self.pauses = 0.0, list[float]()
        self.moments = dict(moments)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        for moment in [moment for moment in self.moments if moment <= self.now]:
            self.moments.pop(moment)()


def test_a_lock_whose_holder_cannot_be_noted_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def wait_for_oneself() -> None:
        pytest.fail("the process waits for a lock that it holds itself")

    monkeypatch.setattr("biasbridge.train.engine.locks.time", Clock({0: wait_for_oneself}))
    store, descriptors = Store(tmp_path / "store"), len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        with pytest.raises(OSError, match="No space left"), locked(tmp_path / "lock"):
            pytest.fail("a lock was taken, and nobody can see by whom")
        with pytest.raises(StoreError, match="the disk is full"):
            store.make(CORPUS)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    with locked(tmp_path / "lock"):
        assert is_held(tmp_path / "lock")
    assert store.make(CORPUS).is_dir()


def wait(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    until: float,
    holder: str | None = None,
    waiter: str | None = None,
) -> Clock:
    """Wait for a lock until it is let go, holder and waiter working for these sweeps."""

    def work_for(sweep: str | None) -> None:
        monkeypatch.setenv(SWEEP, sweep) if sweep else monkeypatch.delenv(SWEEP, raising=False)

    work_for(holder)
    with ExitStack() as stack:
        stack.enter_context(locked(path))
        clock = Clock({until: stack.close})
        monkeypatch.setattr("biasbridge.train.engine.locks.time", clock)
        work_for(waiter)
        with locked(path, "corpus"):
            assert clock.now >= until
    return clock


@pytest.mark.parametrize(
    ("holder", "waiter", "said"),
    [("a", "a", False), ("a", "b", True), ("a", None, True), (None, "a", True), (None, None, True)],
)
def test_who_waits_for_a_worker_of_the_same_command_is_silent(
    holder: str | None,
    waiter: str | None,
    said: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wait(tmp_path / "lock", monkeypatch, until=60, holder=holder, waiter=waiter)
    expected = f"waiting for corpus, locked by process {os.getpid()} on {platform.node()}"
    assert caplog.messages == ([expected] if said else [])


def hold_and_stop(path: Path) -> None:
    with locked(path):
        os.kill(os.getpid(), signal.SIGSTOP)


def test_who_waits_for_a_stopped_process_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("biasbridge.train.engine.locks._SECONDS_BEFORE_MESSAGE", 0.5)
    store = Store(tmp_path / "store")
    store.prove_writable()
    lock = store.root / "locks" / f"{CORPUS.key}.lock"
    holder = multiprocessing.get_context("spawn").Process(target=hold_and_stop, args=(lock,))
    holder.start()
    assert holder.pid is not None
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
    waker = subprocess.Popen(
        [sys.executable, "-c", f"import os, time; time.sleep(2); os.kill({holder.pid}, 18)"]
    )
    store.make(CORPUS)
    waker.wait()
    holder.join()
    (said,) = caplog.messages
    assert said.startswith(f"waiting for corpus {CORPUS.key}, locked by process {holder.pid} on ")


def test_gc_removes_nothing_while_a_sweep_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "store")
    os.utime(store.make(VECTORS) / "recipe.json", (0, 0))
    arguments = ["gc", "--store", str(store.root), "--older-than", "1d"]
    with store.in_use():
        with pytest.raises(InputError, match=rf"a sweep is running \(process {os.getpid()} on "):
            main(arguments)
        assert main([*arguments, "--dry-run"]) == 0
        assert store.has(VECTORS)
    assert SWEEP not in os.environ
    code = (
        "import os, sys; from biasbridge.train.engine.store import Store\n"
        "with Store(sys.argv[1]).in_use(): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(store.root)], cwd=ROOT, check=False)
    assert len(list((store.root / "locks").glob("sweep-*.lock"))) == 1, "one was killed"
    assert main(arguments) == 0
    assert not store.has(VECTORS)
    assert not list((store.root / "locks").iterdir())


def test_a_worker_on_any_machine_ends_when_the_sweep_does(tmp_path: Path) -> None:
    code = (
        "import time; from biasbridge.train.engine.locks import end_with_the_sweep\n"
        "end_with_the_sweep()\n"
        "print('at work', flush=True); time.sleep(600)"
    )
    with Store(tmp_path).in_use():
        worker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert worker.stdout
        assert worker.stdout.readline() == b"at work\n"
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(timeout=2)
    with worker:
        assert worker.wait(timeout=60) == 1
