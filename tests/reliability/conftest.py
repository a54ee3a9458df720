"""A sweep that nobody disturbs, to compare the others with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
SWEEP += ["classifier=linear", "debias.dose=1", "embedding=word2vec", "seed=0,1"]


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of eight points, run one after the other by the serial engine."""
    folder = tmp_path_factory.mktemp("quiet")
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    command = [sys.executable, str(ROOT / "train.py"), *SWEEP, "hydra/launcher=basic"]
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "results" / "hatespeech_en"
