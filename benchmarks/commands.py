"""Whole commands: why finished points are not run again."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.row import Row, Work
from biasbridge.files.paths import IMPORTED_FROM

MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from biasbridge.__main__ import run; run()"
SWEEP = [
    *("+experiment=hatespeech_en", "corpus.sentences=1000", "size.dim=8", "size.epochs=1"),
    *("size.bucket=500", "source=none", "embedding=word2vec", "debias=attract_repel"),
    *("debias.direction=debias,overbias", "seed=range(3)"),
    "debias.dose=" + ",".join(f"{0.1 * dose:.1f}" for dose in range(1, 11)),
]


def run(folder: Path, *command: str) -> None:
    """Run a command of ``biasbridge``."""
    arguments = [sys.executable, "-c", MAIN, str(IMPORTED_FROM), *command]
    process = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr


def cached_sweep(folder: Path) -> Work:
    """Time a sweep of 60 finished points."""
    run(folder, "train", *SWEEP)
    return partial(run, folder, "train", *SWEEP)


def study(folder: Path) -> Work:
    """Time a study of metrics on synthetic data at its default size."""
    return partial(run, folder, "train", "+experiment=silhouettes")


def usage(folder: Path) -> Work:
    """Time the usage message."""
    return partial(run, folder, "--help")


ROWS = [
    Row("a sweep of 60 points run again", cached_sweep, 12),
    Row("the silhouettes, default size", study, 120),
    Row("biasbridge --help", usage, 1, repeat=3),
]
