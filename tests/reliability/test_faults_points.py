"""What a point may do - raise, exit, be killed, crash the interpreter, diverge - and what the user
sees: it fails alone, with a reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

from analysis.frame import texts
from debias.attract_repel import AttractRepel
from extrinsic.cnn import CNN
from tests.points import SUBJECT, TASK, plan
from train.embed import Word2Vec
from train.outcome import read_outcome, run_point
from train.store import Store

if TYPE_CHECKING:
    from debias.base import Method
    from train.parts.hatespeech import HateSpeech

ROOT = Path(__file__).resolve().parent.parent.parent
MISBEHAVE = """
import os
import signal
import sys
from pathlib import Path
from typing import ClassVar

from files import choice


@choice
class Misbehave:
    fault: str = "none"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "misbehave"

    def files(self) -> list[Path]:
        return []

    def predict(self, posts, vectors, *, seed):
        if self.fault == "raise":
            raise ZeroDivisionError("an unlucky post")
        if self.fault == "exit":
            sys.exit("a library gave up")
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "abort":
            os.abort()
        table = posts[["id", "split", "group", "label"]]
        return table.assign(score=1.0, prediction=1)
"""
FAULTS = ["raise", "exit", "kill", "abort", "none"]
SWEEP = [
    "+experiment=hatespeech_en",
    "corpus.sentences=3000",
    "size.dim=16",
    "size.epochs=2",
    "source.posts=1200",
    "embedding=word2vec",
]
SWEEP += [
    "debias=none",
    "debias.direction=debias",
    "debias.dose=0",
    "classifier=misbehave",
    f"classifier.fault={','.join(FAULTS)}",
]


def sweep(folder: Path, *more: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    conf = folder / "conf" / "classifier"
    conf.mkdir(parents=True, exist_ok=True)
    (folder / "misbehave.py").write_text(MISBEHAVE, encoding="utf-8")
    (conf / "misbehave.yaml").write_text(
        "_target_: misbehave.Misbehave\nfault: none\n", encoding="utf-8"
    )
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"} | {
        "PYTHONPATH": str(folder)
    }
    command = [
        sys.executable,
        str(ROOT / "train.py"),
        "--config-dir",
        str(folder / "conf"),
        *SWEEP,
        f"seed={seed}",
        *more,
    ]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def points(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "results" / "hatespeech_en" / "points.parquet")


EXPECTED = {
    "raise": "ZeroDivisionError: an unlucky post",
    "exit": "SystemExit: a library gave up",
    "kill": (
        "the process of this point was killed by SIGKILL; the system kills so when memory runs out"
    ),
    "abort": "the process of this point was killed by SIGABRT",
    "none": "",
}


@pytest.mark.slow
def test_every_fault_costs_its_point_only(tmp_path: Path) -> None:
    run = sweep(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    table = points(tmp_path)
    assert list(table["status"]) == ["failed"] * 4 + ["done"]
    errors = texts(table, "error")
    for error, fault in zip(errors, FAULTS, strict=True):
        assert error.startswith(EXPECTED[fault])
    noted = read_outcome(tmp_path / "results" / "hatespeech_en", texts(table, "point")[0])
    assert noted is not None
    assert noted.error == errors[0]
    assert "in predict" in noted.traceback
    last = [line for line in run.stdout.splitlines() if line.strip()][-4:]
    assert all(line.startswith("failed ") for line in last)

    again = sweep(tmp_path)
    assert again.returncode == 1
    assert "[4/4]" in again.stdout, "failed points are tried again, and only those"
    left = sweep(tmp_path, "overwrite=never")
    assert left.returncode == 1
    assert "/4]" not in left.stdout
    pd.testing.assert_frame_equal(points(tmp_path), table)
    cached = sweep(tmp_path, "overwrite=only-cache", seed="0,1")
    assert cached.returncode == 1
    assert "1 of 10 points done" in cached.stdout


def outcome_of(
    folder: Path, *, debias: Method = SUBJECT.debias, task: HateSpeech | None = None
) -> str:
    """The error of a point with this method and task."""
    planned = plan(folder / "store", subject=replace(SUBJECT, debias=debias), task=task)
    outcome = run_point(planned, Store(folder / "store"), folder)
    assert outcome.status == "failed"
    return outcome.error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divergence_is_a_failure_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overflow = AttractRepel(direction="debias", learning_rate=1e38)
    assert "give a smaller learning_rate" in outcome_of(tmp_path / "one", debias=overflow)
    train = Word2Vec.train

    def train_hugely(self: Word2Vec, corpus: Path, *, seed: int) -> KeyedVectors:
        vectors = train(self, corpus, seed=seed)
        vectors.vectors[:] = 3e38
        return vectors

    monkeypatch.setattr(Word2Vec, "train", train_hugely)
    task = replace(TASK, classifier=CNN(windows=(2,), maps=2, epochs=2, folds=2))
    message = "the loss is not finite in epoch 1; lower learning_rate"
    assert message in outcome_of(tmp_path / "two", task=task)

    def train_badly(self: Word2Vec, corpus: Path, *, seed: int) -> KeyedVectors:
        vectors = KeyedVectors(2)
        vectors.add_vectors(["he", "she"], np.array([[0.0, np.nan], [1.0, 1.0]]))
        return vectors

    monkeypatch.setattr(Word2Vec, "train", train_badly)
    message = "the training diverged: 1 of 2 vectors are not finite; lower embedding.learning_rate"
    assert message in outcome_of(tmp_path / "three")
