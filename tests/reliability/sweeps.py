"""A small sweep in processes of its own, what it leaves, and what it is compared with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from biasbridge.train.engine.store import check_entry

ROOT = Path(__file__).resolve().parent.parent.parent
CONF = Path(__file__).with_name("conf")
# Four points a seed, without torch, charts and report, each of which takes seconds
SWEEP = [
    *("--config-dir", str(CONF), "+experiment=hatespeech_en", "study=tables_only"),
    *("~study.confirmatory", "~study.smallest_change"),
    *("corpus.sentences=3000", "size.dim=16", "size.epochs=2", "embedding=word2vec"),
    *("debias=balance", "debias.dose=0.5,1", "source.posts=1200", "classifier=linear"),
]
# Two small language models that learn next to nothing, their scores and retrieval with them
MODELS = [
    *("+experiment=models_link", "corpus.sentences=4000", "corpus.stereotype=0,1"),
    *("model.steps=40", "model.until_learned=false", "model.dim=16", "model.heads=2"),
    "model.inner=32",
]
ENGINES = {
    "local": ["hydra.launcher.n_jobs=2"],
    "submitit_local": ["hydra/launcher=submitit_local"],
    "ray": ["engine=ray", "hydra.launcher.ray.init.address=null"],
}
TABLES = ("points", "intrinsic", "extrinsic")
MARK = "BIASBRIDGE_TEST"  # names the sweep in the environment of all its processes

Entries = dict[str, tuple[int, str]]


def start(folder: Path, *more: str, sweep: Sequence[str] = SWEEP) -> subprocess.Popen[str]:
    """The sweep in a process group of its own, as a terminal would start it."""
    folder.mkdir(exist_ok=True)
    # Tests in the background of a shell ignore interrupts, and so would what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    return subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *sweep, *more],
        cwd=folder,
        env=environment | {MARK: str(folder)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def need(engine: str) -> None:
    """Skip the test where the launcher is not installed."""
    if engine != "local":
        pytest.importorskip(f"hydra_plugins.hydra_{engine.partition('_')[0]}_launcher")


def finish(process: subprocess.Popen[str]) -> str:
    """What a sweep that must succeed printed on standard error."""
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, out + err
    return err


def results_of(folder: Path) -> Path:
    [results] = (folder / "results").iterdir()
    return results


def entries(store: Path) -> Entries:
    """Every finished result: which folder on the disk it is, and the bytes that say how it was
    made.
    """
    return {
        str(recipe.parent.relative_to(store)): (
            recipe.stat().st_ino,
            recipe.read_text(encoding="utf-8"),
        )
        for recipe in store.glob("*/*/recipe.json")
        if recipe.parent.parent.name != "work"
    }


def assert_kept(before: Entries, store: Path) -> None:
    now = entries(store)
    kept = {name: now.get(name) for name in before}
    assert kept == before, "a finished result was built again or lost"


def assert_same_tables(results: Path, quiet: Path) -> None:
    """The rows of this sweep's points are those of the undisturbed serial one, to the last
    digit.
    """
    points = set(pd.read_parquet(results / "points.parquet")["point"])
    for name in TABLES:
        expected = pd.read_parquet(quiet / f"{name}.parquet")
        expected = expected[expected["point"].isin(points)].reset_index(drop=True)
        found = pd.read_parquet(results / f"{name}.parquet")
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
        assert len(expected)


def assert_whole(store: Path) -> None:
    """No entry fails its checksums, and nothing half-built or half-removed is left."""
    for entry in entries(store):
        check_entry(store / entry)
    assert not list((store / "work").iterdir())


def processes(folder: Path) -> dict[int, str]:
    """The command lines of the processes that belong to the sweep in a folder, by number."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc to find the processes of a sweep")
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={folder}".encode() in (process / "environ").read_bytes().split(b"\0"):
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(process.name)] = line
        except OSError:
            continue
    return found


def left(folder: Path, within: float = 60) -> dict[int, str]:
    """The processes of a sweep that live on after so many seconds."""
    end = time.monotonic() + within
    while (found := processes(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def wait_for_work(process: subprocess.Popen[str], store: Path, entries_before: int = 0) -> None:
    """Return when the sweep has begun a result, finished one, or ended."""
    while process.poll() is None:
        if (store / "work").is_dir() and any((store / "work").glob("[!.]*")):
            return
        if len(list(store.glob("*/*/recipe.json"))) > entries_before:
            return
        time.sleep(0.01)
