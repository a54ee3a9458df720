"""Slurm and a Ray of two nodes, started for the test: jobs, nodes and the sweep itself are killed,
and the tables are those of the serial engine.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.reliability.slurm import cluster
from tests.reliability.sweeps import (
    assert_kept,
    assert_same_tables,
    assert_whole,
    entries,
    finish,
    left,
    need,
    results_of,
    start,
    wait_for_work,
)

pytestmark = pytest.mark.engines
SLURM = ["engine=slurm", "seed=0,1", "hydra.launcher.mem_gb=1", "hydra.launcher.timeout_min=20"]
RAY = ["engine=ray", "seed=0,1"]


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of eight points: two seeds, so that there is work for two nodes."""
    folder = tmp_path_factory.mktemp("quiet")
    finish(start(folder, "seed=0,1", "hydra/launcher=basic"))
    return folder


def kill_and_resume(folder: Path, quiet: Path, *words: str) -> None:
    """The sweep killed alone leaves no process; the same command then goes on, and its tables are
    those of the serial engine.
    """
    process = start(folder, *words)
    wait_for_work(process, folder / "store", len(entries(folder / "store")))
    process.kill()
    process.communicate()
    assert not left(folder, within=60)
    before = entries(folder / "store")
    finish(start(folder, *words))
    assert_kept(before, folder / "store")
    assert_as_quiet(folder, quiet)


def assert_as_quiet(folder: Path, quiet: Path) -> None:
    assert_whole(folder / "store")
    assert_same_tables(results_of(folder), results_of(quiet))


def test_slurm(tmp_path: Path, quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("submitit")
    (tmp_path / "slurm").mkdir()
    with cluster(tmp_path / "slurm") as environment:
        monkeypatch.setenv("SLURM_CONF", environment["SLURM_CONF"])
        kill_and_resume(tmp_path / "killed", quiet, *SLURM)
        process = start(tmp_path / "job", *SLURM)
        wait_for_work(process, tmp_path / "job" / "store")
        queue = ["squeue", "--noheader", "--array", "--states=RUNNING", "--format=%i"]
        running = subprocess.run(queue, capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(["scancel", running[0]], check=True)
        out, err = process.communicate(timeout=500)
        # The point's process ends first, and its point fails, or with the job, which runs again
        assert out.count("\nfailed ") == process.returncode <= 1, out + err
        finish(start(tmp_path / "job", *SLURM))
        assert_as_quiet(tmp_path / "job", quiet)


@contextmanager
def two_nodes(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a Ray of two nodes with a CPU each, and the second node, which may be
    killed.
    """
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
    ray += ["--object-store-memory=80000000", "--disable-usage-stats"]
    short = tempfile.mkdtemp(prefix="ray")  # the path of a socket has 107 characters at most
    log = (folder / "ray.log").open("wb")
    nodes: list[subprocess.Popen[bytes]] = []

    def node(*words: str) -> None:
        nodes.append(
            subprocess.Popen([*ray, *words], stdout=log, stderr=log, start_new_session=True)
        )

    try:
        node("--head", "--port=0", f"--temp-dir={short}", "--include-dashboard=false")
        address = _said(folder / "ray.log", r"--address='([\d.:]+)'")
        node(f"--address={address}")
        _said(folder / "ray.log", r"(?s)Ray runtime started.*Ray runtime started")
        yield address, nodes[1]
    finally:
        for each in reversed(nodes):
            each.send_signal(signal.SIGTERM)
            each.wait(timeout=60)
        log.close()
        shutil.rmtree(short)


def _said(path: Path, pattern: str, within: float = 120) -> str:
    end = time.monotonic() + within
    while not (match := re.search(pattern, path.read_text(encoding="utf-8"))):
        assert time.monotonic() < end, path.read_text(encoding="utf-8")
        time.sleep(0.5)
    return match[1] if match.groups() else match[0]


def test_ray_of_two_nodes(tmp_path: Path, quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("ray")
    # Nodes and command show one another a token of this cluster alone
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)
    with two_nodes(tmp_path) as (address, second):
        words = [*RAY, f"hydra.launcher.ray.init.address={address}"]
        kill_and_resume(tmp_path / "killed", quiet, *words)
        process = start(tmp_path / "node", *words)
        wait_for_work(process, tmp_path / "node" / "store")
        os.killpg(second.pid, signal.SIGKILL)
        out, err = process.communicate(timeout=500)
        assert process.returncode == 0, out + err
        assert_as_quiet(tmp_path / "node", quiet)
