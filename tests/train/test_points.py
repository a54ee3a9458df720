"""What a point leaves: an error is noted and not raised; the tables come from the store and grow
only when asked to.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import torch
from omegaconf import OmegaConf

from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.train.cli import engines as engine
from biasbridge.train.cli.engines import count_workers
from biasbridge.train.engine import device
from biasbridge.train.engine.cost import describe_cost
from biasbridge.train.engine.device import pick_device, step_device
from biasbridge.train.engine.point import read_outcome, run_point
from biasbridge.train.engine.store import Step, Store, _seal_entry
from biasbridge.train.engine.tables import join_tables
from biasbridge.train.subjects.static import Word2Vec
from tests.points import SUBJECT, TASK, plan

if TYPE_CHECKING:
    from biasbridge.train.engine.store import Request


def test_error_is_noted_with_its_traceback(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    bad = plan(store.root, subject=replace(SUBJECT, embedding=Word2Vec(min_count=10**6)))
    outcome = run_point(bad, store, tmp_path)
    assert outcome.status == "failed"
    assert outcome.refused
    assert "lower embedding.min_count" in outcome.error
    assert "Traceback" in outcome.traceback
    assert read_outcome(tmp_path, bad.key) == outcome
    points, intrinsic, extrinsic, *_ = join_tables([bad], store, tmp_path)
    assert points.loc[0, "error"] == outcome.error
    assert len(intrinsic) == len(extrinsic) == 0


def test_scores_and_record_of_a_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    good = plan(store.root)
    run_point(good, store, tmp_path)
    points, intrinsic, *_ = join_tables([good], store, tmp_path)
    noted = read_outcome(tmp_path, good.key)
    assert noted is not None
    assert noted.built == ("corpus", "vectors", "intrinsic")
    written = points[["status", "task", "method", "generated"]].to_numpy().tolist()
    assert written == [["done", "none", "none", True]]
    assert intrinsic["query"].tolist() == ["weat6b", "weat7", "weat8"]


def test_options_tell_what_decides_a_point_but_its_seed(tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"

    def options(seed: int = 0, epochs: int = 5, last: str = "poetry") -> list[dict[str, object]]:
        query = f"{{X: [man], Y: [woman], A: [science], B: [{last}]}}"
        words.write_text(f"language: en\nqueries: {{mine: {query}}}\n", encoding="utf-8")
        subject = replace(
            SUBJECT,
            debias=AttractRepel("debias", epochs=epochs),
            words=WordChoice("mine", file=str(words)),
        )
        written = plan(tmp_path / "store", subject=subject, task=TASK, seed=seed).options()
        return [json.loads(written[f"{name}_options"]) for name in ("parent", "method", "task")]

    base, method, task = options()
    assert (base["vectors.dim"], method["modified.epochs"], task["posts.posts"]) == (8, 5, 400)
    assert options(seed=1) == [base, method, task]
    assert options(epochs=2) == [base, method | {"modified.epochs": 2}, task]
    other = options(last="arts")[1]
    changed = {name for name in method if other[name] != method[name]}
    assert changed == {"words.files", "words.words"}


# What a sweep will cost, by the times of stored results and cores.


def test_a_cost_is_the_mean_time_of_stored_results_of_the_class(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def cost(seeds: range, cores: int = 1) -> str:
        plans = [plan(tmp_path, seed=seed, task=TASK) for seed in seeds]
        return describe_cost(plans, store, cores=cores)

    assert cost(range(4)) == "4 points, 24 steps to run, of unknown length"
    for seed, seconds in ((7, 10.0), (8, 30.0)):
        step = plan(tmp_path, seed=seed).unit
        entry = store.path(step)
        entry.mkdir(parents=True)
        # Fields of earlier versions: recipes that have them are read
        made: Any = {"seconds": seconds, "work": 7.0, "imports": 2.0}
        _seal_entry(entry, step.recipe(), made)
    unknown = "not counting 20 steps of unknown length"
    assert cost(range(4)) == f"4 points, 24 steps to run, about 80 s on 1 core, {unknown}"
    assert f"about 40 s on 2 cores, {unknown}" in cost(range(4), cores=2)


@pytest.mark.parametrize(
    ("n_jobs", "n_points", "workers"),
    [(-1, 9, 4), (-1, 3, 3), (2, 9, 2), (8, 9, 4), (None, 9, 4), (2, 1, 1)],
)
def test_workers_are_no_more_than_cores_jobs_and_points(
    n_jobs: int | None, n_points: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_count_cores", lambda: 4)
    launcher = {} if n_jobs is None else {"n_jobs": n_jobs}
    assert count_workers(OmegaConf.create({"launcher": launcher}), n_points) == workers
    serial = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}
    assert count_workers(OmegaConf.create({"launcher": serial}), n_points) == 1


# The device of a job: GPUs in turn, or the one that is named.


def test_jobs_take_the_visible_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_has_gpu_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [pick_device("auto", number) for number in range(4)] == [
        "cuda:0",
        "cuda:1",
        "cuda:0",
        "cuda:1",
    ]
    assert [pick_device(name, 1) for name in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda", "cuda:1"]
    with pytest.raises(InputError, match="2 GPUs are visible"):
        pick_device("cuda:2", 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert pick_device("auto", 3) == "cpu"
    for bad in ("cuda", "gpu", "mps", ""):
        with pytest.raises(InputError, match="device="):
            pick_device(bad, 0)


def test_language_models_of_a_step_are_on_the_device_of_the_job(tmp_path: Path) -> None:
    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        (out / "device").write_text(step_device(), encoding="utf-8")

    devices = []
    for number, request in enumerate(({"device": "cuda:1"}, {})):
        step = Step("probe", "tests.Probe", number, {}, build)
        folder = Store(tmp_path, cast("Request", request)).make(step)
        devices.append((folder / "device").read_text(encoding="utf-8"))
    assert devices == ["cuda:1", "cpu"]
    assert step_device() == "cpu"


# The pool of processes of this machine.

SWEEP = """
import os
from joblib.externals.loky.backend import resource_tracker
from biasbridge.train.cli.engines import _blocked_signals
with _blocked_signals():
    resource_tracker.register("/loky-1-never-made", "semlock")
os._exit(130)
"""


def test_a_semaphore_left_behind_prints_nothing_after_the_last_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWEEP], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")
