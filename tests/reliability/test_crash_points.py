"""A sweep is ended at file-system events - a file opened for writing, renamed, removed, flushed, a
folder made - and the same command goes on from there with nothing lost and nothing left behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.sweeps import ROOT

SCRIPT = Path(__file__).with_name("crash_points.py")
SMALL = ["name=sweep", "hydra.mode=MULTIRUN", "corpus.sentences=1000", "size.dim=8"]
SMALL += ["size.epochs=1", "size.min_count=1"]
# The tables of the first sweep lie in the second one's way
FIRST, SECOND = "seed=1", "seed=2,3"


def crash_at(folder: Path, first: int, step: int, *words: str) -> list[str]:
    """What is wrong after a crash at every ``step``-th event, line by line."""
    before = folder / "before"
    before.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    environment |= {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "train.py"), *SMALL, *words, FIRST]
    subprocess.run(command, cwd=before, env=environment, check=True, capture_output=True)
    command = [sys.executable, str(SCRIPT), str(folder), str(first), "0", str(step)]
    done = subprocess.run(
        [*command, *SMALL, *words, SECOND],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    events, *wrong, tried = done.stdout.splitlines()
    assert int(events.split()[0]) > 100
    assert int(tried.split()[0]) > 5
    return wrong


@pytest.mark.slow
def test_crash_at_some_file_system_events(tmp_path: Path) -> None:
    assert not crash_at(tmp_path / "some", 7, 37, "source=none")


@pytest.mark.slow
@pytest.mark.stress
def test_crash_at_every_file_system_event(tmp_path: Path) -> None:
    words = ["debias=balance", "debias.direction=debias", "debias.dose=1"]
    words += ["source.posts=1200", "classifier=linear"]
    assert not crash_at(tmp_path / "every", 1, 1, *words)
