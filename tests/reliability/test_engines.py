"""The same sweep gives the same tables whatever engine runs it, and a killed worker costs no other
point.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SWEEP = [
    "+experiment=hatespeech_en",
    "corpus.sentences=3000",
    "size.dim=16",
    "size.epochs=2",
    "size.bucket=1000",
    "source.posts=1200",
]
SWEEP += ["classifier=linear", "debias.dose=1", "embedding=word2vec", "seed=0"]
ENGINES = {
    "local": ["hydra.launcher.n_jobs=3"],
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "submitit_local": ["hydra/launcher=submitit_local"],
    "ray": ["engine=ray", "hydra.launcher.ray.init.address=null"],
}


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    command = [sys.executable, str(ROOT / "train.py"), *SWEEP, *more]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def assert_same_scores(folder: Path, quiet: Path) -> None:
    """The rows of this sweep's points are those of the undisturbed serial one, to the last
    digit.
    """
    results = folder / "results" / "hatespeech_en"
    points = set(pd.read_parquet(results / "points.parquet")["point"])
    for name in ("points", "intrinsic", "extrinsic"):
        expected = pd.read_parquet(quiet / f"{name}.parquet")
        expected = expected[expected["point"].isin(points)].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            pd.read_parquet(results / f"{name}.parquet"), expected, check_exact=True
        )
        assert len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_those_of_the_serial_engine(engine: str, quiet: Path, tmp_path: Path) -> None:
    if engine != "local":
        pytest.importorskip(f"hydra_plugins.hydra_{engine.partition('_')[0]}_launcher")
    process = start(tmp_path, *ENGINES[engine], "debias=balance")
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert_same_scores(tmp_path, quiet)


@pytest.mark.slow
def test_killed_worker_of_joblib_costs_no_point(quiet: Path, tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    process = start(tmp_path, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    work = tmp_path / "store" / "work"
    while process.poll() is None and not (
        work.is_dir() and any(not path.name.startswith(".") for path in work.iterdir())
    ):
        time.sleep(0.02)
    workers = [
        pid
        for pid in children(process.pid)
        if "loky" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    ]
    # The one at work, not joblib's resource tracker
    workers = [pid for pid in workers if children(pid)]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert "handed over again" in err
    assert_same_scores(tmp_path, quiet)


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():
        pytest.skip("needs /proc to find an engine's workers")
    return [
        int(child)
        for task in tasks.iterdir()
        for child in (task / "children").read_text(encoding="utf-8").split()
    ]


@pytest.mark.slow
def test_killed_child_of_the_local_engine_costs_its_point_only(tmp_path: Path) -> None:
    process = start(tmp_path, "hydra.launcher.n_jobs=2", "debias=balance")
    work = tmp_path / "store" / "work"
    while process.poll() is None and not (work.is_dir() and any(work.glob("[!.]*"))):
        time.sleep(0.02)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 1, out + err
    points = pd.read_parquet(tmp_path / "results" / "hatespeech_en" / "points.parquet")
    failed = points[points["status"] == "failed"]
    assert len(failed) == 1
    assert failed["error"].iloc[0].startswith("the process of this point was killed by SIGKILL")


@pytest.mark.slow
def test_slurm_that_is_not_there_is_said_once_per_point(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    process = start(tmp_path, "engine=slurm", "debias=balance", "debias.direction=debias")
    out, _ = process.communicate()
    assert process.returncode == 1
    assert out.count("did not run: RuntimeError: Could not detect") == 1
