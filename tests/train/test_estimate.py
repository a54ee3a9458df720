"""What a sweep will cost, by typical or measured times and cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from omegaconf import OmegaConf

from tests.points import SUBJECT, TASK, plan
from train.cli import local_engine as engine
from train.cli.local_engine import count_workers
from train.engine import estimate
from train.engine.estimate import describe_cost
from train.engine.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from train.engine.store import Step


def cost(folder: Path, *, cores: int = 1) -> str:
    """What four seeds of Word2Vec and of five short steps cost, which take 3 s and .1 s each."""
    plans = [plan(folder, seed=seed, subject=SUBJECT, task=TASK) for seed in range(4)]
    return describe_cost(plans, Store(folder), cores=cores)


def test_typical_times_are_shared_by_cores(tmp_path: Path) -> None:
    assert cost(tmp_path) == "4 points, 24 steps to run, about 14 s on 1 core"
    assert cost(tmp_path, cores=2).endswith("about 7 s on 2 cores")


def test_a_measured_time_counts_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(step: Step, _: object) -> float | None:
        return 10.0 if step.choice == "Word2Vec" else None

    monkeypatch.setattr(estimate, "expected_seconds", measured)
    assert cost(tmp_path).endswith("about 42 s on 1 core")  # 4 (10 + 5 x .1)


@pytest.mark.parametrize(
    ("n_jobs", "n_points", "workers"),
    [(-1, 9, 4), (-1, 3, 3), (2, 9, 2), (8, 9, 4), (None, 9, 4), (2, 1, 1)],
)
def test_workers_are_no_more_than_cores_jobs_and_points(
    n_jobs: int | None, n_points: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "count_cores", lambda: 4)
    launcher = {} if n_jobs is None else {"n_jobs": n_jobs}
    assert count_workers(OmegaConf.create({"launcher": launcher}), n_points) == workers
    serial = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}
    assert count_workers(OmegaConf.create({"launcher": serial}), n_points) == 1
