"""The same sweep gives the same tables whatever engine runs it, and a killed worker costs no other
point.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.reliability.sweeps import (
    ENGINES,
    assert_same_scores,
    finish,
    need,
    start,
    wait_for_work,
    workers,
)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_those_of_the_serial_engine(engine: str, quiet: Path, tmp_path: Path) -> None:
    need(engine)
    finish(start(tmp_path, *ENGINES[engine], "seed=0", "debias=balance"))
    assert_same_scores(tmp_path, quiet)


@pytest.mark.slow
def test_a_killed_worker_costs_no_point(quiet: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "hydra.launcher.n_jobs=2", "seed=0")
    wait_for_work(process, tmp_path / "store")
    os.kill(workers(tmp_path)[0], signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert "killed by SIGKILL" in err
    assert_same_scores(tmp_path, quiet)


@pytest.mark.slow
def test_slurm_that_is_not_there_is_said_once_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))
    process = start(tmp_path, "engine=slurm", "debias=balance", "debias.direction=debias,overbias")
    out, err = process.communicate()
    assert process.returncode == 2
    warning, error = (line for line in err.splitlines() if "Could not detect" in line)
    assert warning.startswith("the engine stopped, its unfinished points are handed over again: ")
    assert error.startswith("error: the engine took none of the ")
    assert "RuntimeError: Could not detect" in error
    assert "failed" not in out, "no list of points"
    assert not list((tmp_path / "results").rglob("points.parquet"))
