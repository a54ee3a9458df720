"""Who shares a store: locks that a file system refuses or whose holder is stopped, leases that
``gc`` respects and that workers live by, and the guard that ends what a sweep left behind.
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
from biasbridge.train.cli.orphan_processes import guarded
from biasbridge.train.engine.locks import (
    LEASE,
    HeldError,
    StoreError,
    is_held,
    lease,
    leased_keys,
    locked,
)
from biasbridge.train.engine.point import results_folder
from biasbridge.train.engine.store import Store
from tests.reliability.sweeps import ROOT, processes
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


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
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
        monkeypatch.setenv(LEASE, sweep) if sweep else monkeypatch.delenv(LEASE, raising=False)

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


def test_gc_leaves_what_a_sweep_has_a_lease_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "store")
    for entry in (store.make(VECTORS), store.path(CORPUS)):
        os.utime(entry / "recipe.json", (0, 0))
    arguments = ["gc", "--store", str(store.root), "--older-than", "1d"]
    with lease(store.root, [VECTORS.key]) as hold:
        hold([CORPUS.key])
        assert leased_keys(store.root) == {VECTORS.key, CORPUS.key}
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
        "import os, sys; from pathlib import Path\n"
        "from biasbridge.train.engine.locks import lease\n"
        "with lease(Path(sys.argv[1]), ['ab']): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert len(list((tmp_path / "leases").iterdir())) == 1
    assert leased_keys(tmp_path) == set()
    assert not list((tmp_path / "leases").iterdir())


def test_a_worker_on_any_machine_ends_when_the_lease_does(tmp_path: Path) -> None:
    code = (
        "import time; from biasbridge.train.engine.locks import end_with_the_sweep\n"
        "end_with_the_sweep()\n"
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


SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
KILLED_IN_GUARD = """
import os; from biasbridge.train.cli.orphan_processes import guarded
with guarded("MARK"): os._exit(9)
"""


def test_the_guard_ends_who_has_the_mark_and_nobody_else(tmp_path: Path) -> None:
    processes(tmp_path)  # skips where there is no /proc
    marked = subprocess.Popen(SLEEP, env=os.environ | {"MARK": str(tmp_path)})
    other = subprocess.Popen(SLEEP, env=os.environ | {"MARK": f"{tmp_path}/other"})
    try:
        environment = os.environ | {"MARK": str(tmp_path)}
        command = [sys.executable, "-c", KILLED_IN_GUARD]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        assert marked.wait(timeout=60) == -signal.SIGKILL
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MARK", f"{tmp_path}/other")
            with guarded("MARK"):
                pass  # who ends as it should leaves its engine to end its workers
        assert other.poll() is None
    finally:
        marked.kill()
        other.kill()
        other.wait()


def test_a_sweep_that_fails_leaves_no_lease_in_the_environment(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lease(tmp_path, []):
        _ = 1 / 0
    assert "BIASBRIDGE_LEASE" not in os.environ


def test_a_lease_on_a_full_disk_ends_in_a_line(tmp_path: Path) -> None:
    """A sweep adds the keys of points that it plans anew, after others have failed."""
    with lease(tmp_path, []) as add:
        (path,) = (tmp_path / "leases").iterdir()
        path.unlink()
        path.symlink_to("/dev/full")
        with pytest.raises(StoreError, match=r"store\.dir=.*: the disk is full .*free some space"):
            add([CORPUS.key])
