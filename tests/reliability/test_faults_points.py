"""What a point may do - raise, exit, be killed, diverge - and what the user sees: it fails alone,
with a reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

from biasbridge.analysis.frame import as_text
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.extrinsic.cnn import CNN
from biasbridge.train.engine.outcome import read_outcome, run_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.embed import Word2Vec
from tests.points import SUBJECT, TASK, plan
from tests.reliability.sweeps import SWEEP, results_of, start

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.debias.base import Method
    from biasbridge.train.tasks.hatespeech import HateSpeech
    from tests.conftest import Train

EXPECTED = {
    "raise": "ZeroDivisionError: an unlucky post",
    "exit": "SystemExit: a library gave up",
    "kill": ("the process of this point was killed by SIGKILL; out of memory is the usual reason"),
    "none": "",
}
FAULTY = [
    *(word for word in SWEEP if not word.startswith(("debias", "classifier"))),
    *("debias=none", "debias.direction=debias", "debias.dose=0", "seed=0"),
    *("classifier=misbehave", f"classifier.fault={','.join(EXPECTED)}"),
]


@pytest.mark.slow
def test_every_fault_costs_its_point_only(tmp_path: Path, train: Train) -> None:
    process = start(tmp_path, "hydra.launcher.n_jobs=2", sweep=FAULTY)
    out, err = process.communicate()
    assert process.returncode == 1, out + err
    points = pd.read_parquet(results_of(tmp_path) / "points.parquet")
    assert list(points["status"]) == ["failed"] * 3 + ["done"]
    errors = as_text(points, "error")
    for error, expected in zip(errors, EXPECTED.values(), strict=True):
        assert error.startswith(expected)
    noted = read_outcome(results_of(tmp_path), as_text(points, "point")[0])
    assert noted is not None
    assert noted.error == errors[0]
    assert "in predict" in noted.traceback
    last = [line for line in out.splitlines() if line.strip()][-3:]
    assert all(line.startswith("failed ") for line in last)

    status, out, _ = train(*FAULTY, "plan=true")
    [row] = [line for line in out.splitlines() if "extrinsic" in line]
    distinct, stored, missing = map(int, row.split("│")[3:6])
    assert (status, distinct, stored, missing) == (0, 4, 1, 3)
    status, _, _ = train(*FAULTY, "overwrite=only-cache", "seed=0,1")
    assert status == 1
    points = pd.read_parquet(results_of(tmp_path) / "points.parquet")
    assert sorted(points["status"]) == ["done", *["failed"] * 7]


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
