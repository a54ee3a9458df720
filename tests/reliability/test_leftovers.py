"""Whatever is killed, no process lives on, under any engine; an interrupt ends in one line at any
moment.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.reliability.sweeps import (
    ENGINES,
    ROOT,
    left,
    need,
    processes,
    start,
    strangers,
    wait_for_work,
)
from train.front.guard import guarded


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_workers_end_with_their_parent(engine: str, tmp_path: Path) -> None:
    need(engine)
    process = start(tmp_path, *ENGINES[engine], "seed=0")
    wait_for_work(process, tmp_path / "store")
    assert len(processes(tmp_path)) > 1
    assert not strangers(process.pid, tmp_path)
    process.kill()
    process.communicate()
    assert not left(tmp_path)


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_lives_on_after_any_of_many_kills(engine: str, tmp_path: Path) -> None:
    need(engine)
    rng = random.Random(11)
    for round_ in range(12):
        process = start(tmp_path, *ENGINES[engine], f"seed={round_}")
        time.sleep(rng.uniform(1, 12))
        number = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
        victims = sorted(processes(tmp_path))
        if rng.random() < 0.5 and number == signal.SIGKILL and victims:
            os.kill(rng.choice(victims), number)  # a worker, a child, the guard, or the parent
            time.sleep(rng.uniform(0, 2))
        process.send_signal(number)
        process.communicate(timeout=60)
        assert not left(tmp_path), (round_, number)


def test_guard_ends_who_has_the_mark_and_nobody_else(tmp_path: Path) -> None:
    processes(tmp_path)  # skips where there is no /proc
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    marked = subprocess.Popen(sleep, env=os.environ | {"MARK": str(tmp_path)})
    other = subprocess.Popen(sleep, env=os.environ | {"MARK": f"{tmp_path}/other"})
    try:
        code = (
            "import os; from train.front.guard import guarded; mark = os.environ.pop('WITH')\n"
            "with guarded(mark): os._exit(9)"
        )
        environment = os.environ | {"WITH": f"MARK={tmp_path}"}
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False)
        assert marked.wait(timeout=60) == -signal.SIGKILL
        assert other.poll() is None
        with guarded(f"MARK={tmp_path}/other"):
            pass  # who ends as it should leaves its engine to end its workers
        time.sleep(0.5)
        assert other.poll() is None
    finally:
        marked.kill()
        other.kill()
        other.wait()


def test_guard_ends_what_the_marked_started_without_the_mark(tmp_path: Path) -> None:
    processes(tmp_path)
    sleep = f"{sys.executable!r}, '-c', 'import time; time.sleep(600)'"
    code = (
        "import subprocess, sys\n"
        f"print(subprocess.Popen([{sleep}], env={{}}).pid, flush=True); sys.stdin.read()"
    )
    marked = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"MARK": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert marked.stdout
    started = os.pidfd_open(int(marked.stdout.readline()))
    code = (
        "import os; from train.front.guard import guarded\n"
        f"with guarded('MARK={tmp_path}'): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    with marked:
        assert marked.wait(timeout=60) == -signal.SIGKILL
    assert select.select([started], [], [], 60)[0]  # readable once it has ended
    os.close(started)


@pytest.mark.slow
def test_interrupt_at_any_moment_ends_in_one_line(tmp_path: Path) -> None:
    for number, seconds in (
        (signal.SIGINT, 0.15),
        (signal.SIGTERM, 1.0),
        (signal.SIGINT, 1.5),
        (signal.SIGINT, 3.0),
    ):
        process = start(tmp_path, "hydra.launcher.n_jobs=2", "seed=0")
        time.sleep(seconds)
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 128 + number, (seconds, err)
        assert err.splitlines() == [
            "interrupted; what is finished stays in the store, and the same command goes on from"
            " there"
        ]
        assert not left(tmp_path)
