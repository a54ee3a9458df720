"""Whatever is killed, no process lives on, under any engine; an interrupt ends in one line at any
moment.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.reliability.sweeps import (
    ENGINES,
    left,
    need,
    processes,
    start,
    strangers,
    wait_for_work,
)


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
            os.kill(rng.choice(victims), number)  # a worker, a child, or the parent
            time.sleep(rng.uniform(0, 2))
        process.send_signal(number)
        process.communicate(timeout=60)
        assert not left(tmp_path), (round_, number)


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
