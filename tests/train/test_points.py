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

import numpy as np
import pandas as pd
import pytest
import torch
from omegaconf import OmegaConf
from rich.console import Console

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.power import Pilot, Planner, PowerDesign
from biasbridge.analysis.study import Correlation
from biasbridge.analysis.tables import Tables, write_tables
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.intrinsic.metrics.set_distances import RelativeNormDistance
from biasbridge.intrinsic.metrics.utility import Analogies
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.studies.survey import Survey
from biasbridge.train.cli import engines as engine
from biasbridge.train.cli.composing import Settings, read_planner
from biasbridge.train.cli.engines import count_workers
from biasbridge.train.engine import device
from biasbridge.train.engine.cost import describe_cost
from biasbridge.train.engine.device import pick_device, step_device
from biasbridge.train.engine.point import read_outcome, run_point
from biasbridge.train.engine.power import (
    _confirmatory_slices,
    _planned_design,
    _read_pilot,
    print_power,
)
from biasbridge.train.engine.store import Step, Store, _seal_entry
from biasbridge.train.engine.tables import join_tables
from biasbridge.train.subjects.static import FastText, Word2Vec
from tests.points import SUBJECT, TASK, WEAT, plan

if TYPE_CHECKING:
    from biasbridge.train.engine.point import Plan
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


# The planner beside a plan: where its numbers come from, and what is refused.

STATED = Planner(reliability_x=0.9, reliability_y=0.6, studies=40)


@pytest.fixture
def plans(tmp_path: Path) -> list[Plan]:
    """Two seeds, each with an unmodified embedding and two doses."""
    doses = [AttractRepel(direction="debias", dose=dose) for dose in (0.5, 1.0)]
    return [
        plan(tmp_path / "store", seed=seed, subject=replace(SUBJECT, debias=debias), task=TASK)
        for seed in (0, 1)
        for debias in (SUBJECT.debias, *doses)
    ]


def pilot_tables(models: int = 9, noise: float = 0.5) -> Tables:
    """Two parents of embeddings whose gaps are measured with noise of half the true variance."""
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(2 * models)]
    points = pd.DataFrame(
        {
            "point": names,
            "embedding": "word2vec",
            "method": "balance",
            "status": "done",
            "generated": False,
            "unit_key": names,
            "parent_key": np.repeat(["a", "b"], models),
        }
    )
    true = rng.normal(size=len(names))
    x, y = (
        true + 0.1 * rng.normal(size=len(names)),
        true + np.sqrt(noise) * rng.normal(size=len(names)),
    )
    tables = []
    for value, spread, names_of in (
        (x, 0.01, {"metric": "weat", "query": "weat7", "unbiased": 0.0}),
        (y, noise, {"task": "t", "kind": "gap", "measure": "recall", "support": 120, "group": ""}),
    ):
        drawn = value[:, None] + np.sqrt(spread) * rng.normal(size=(len(names), 200))
        row = {"point": names, "value": value, "resampled": list(drawn)}
        tables.append(pd.DataFrame(row | names_of))
    return Tables(points, *tables)


def test_a_pilot_is_read_from_the_results_folder(tmp_path: Path) -> None:
    assert _read_pilot(tmp_path, Correlation()) == pytest.approx(Pilot(), nan_ok=True)
    write_tables(tmp_path, pilot_tables())
    pilot = _read_pilot(tmp_path, Correlation())
    assert (pilot.models, pilot.items, pilot.tests) == (18, 120, 1)
    assert pilot.reliability_x > 0.97
    assert pilot.reliability_y == pytest.approx(0.66, abs=0.2)


def test_the_design_is_that_of_the_plan(plans: list[Plan]) -> None:
    design = _planned_design(replace(STATED, sesoi=0.2), Correlation(), plans, Pilot())
    assert (design.parents, design.conditions) == (2, 3), "the control and two doses"
    assert (design.reliability_x, design.reliability_y, design.sesoi) == (0.9, 0.6, 0.2)
    assert design.tests == 3 * 2, "queries and confirmatory measures"
    assert (design.words_error, design.items_error) == (0, 0)
    at_hand = Pilot(0.7, 0.5, 0.1, 0.2, items=100, models=40, tests=4)
    seen = _planned_design(Planner(sesoi=0.4), Correlation(), plans, at_hand)
    assert seen == PowerDesign(2, 3, 4, 0.4, 0.7, 0.5, 0.1, 0.2)
    assert _planned_design(Planner(tests=9), Correlation(), plans, at_hand).tests == 9
    for reliability, taken in ((0.0, 0.01), (0.011, 0.011)):
        of_noise = at_hand._replace(reliability_y=reliability)
        assert _planned_design(Planner(), Correlation(), plans, of_noise).reliability_y == taken


def test_parents_of_a_synthetic_world_are_averaged(tmp_path: Path) -> None:
    """As in the analysis: two seeds of two algorithms are two worlds."""
    fasttext = FastText(dim=8, epochs=1, min_count=1, bucket=100)
    subjects = [
        replace(SUBJECT, embedding=embedding, debias=debias)
        for embedding in (SUBJECT.embedding, fasttext)
        for debias in (SUBJECT.debias, AttractRepel(direction="debias", dose=0.5))
    ]
    both = [plan(tmp_path / "store", seed=seed, subject=of) for seed in (0, 1) for of in subjects]
    design = _planned_design(STATED, Correlation(), both, Pilot())
    assert (design.parents, design.conditions) == (2, 2)


def test_the_confirmatory_slices_are_those_that_the_verdict_counts() -> None:
    """A query of two metrics is two slices; one whose words are drawn in a run is one too."""
    weat = Weat(queries=("weat7", "weat8", "from_task"))
    metrics = [weat, RelativeNormDistance(queries=("weat7",))]
    assert _confirmatory_slices(Correlation(), metrics) == 4 * 2
    assert _confirmatory_slices(Correlation(), [*metrics, Analogies()]) == 4 * 2
    named = Correlation(queries=("weat7", "all"), confirmatory=("recall",))
    assert _confirmatory_slices(named, metrics) == 4
    assert _confirmatory_slices(Correlation(methods=("balance", "all")), [WEAT]) == 3 * 2 * 2
    tables = pilot_tables()
    both = [tables.intrinsic, tables.intrinsic.assign(metric="rnd")]
    joined = join_points(tables._replace(intrinsic=pd.concat(both, ignore_index=True)))
    found = correlate_slices(joined, Correlation(confirmatory=("recall",)))
    counted = {each.tests for each in found if each.confirmatory}
    asked = [kind(queries=("weat7",)) for kind in (Weat, RelativeNormDistance)]
    assert counted == {_confirmatory_slices(Correlation(confirmatory=("recall",)), asked)}


def test_what_is_refused(plans: list[Plan], tmp_path: Path) -> None:
    store, console = Store(tmp_path / "store"), Console(quiet=True)
    with pytest.raises(InputError, match=r"give planner\.reliability_x=0\.8"):
        print_power(Planner(), Correlation(), plans, store, tmp_path, console)
    with pytest.raises(InputError, match="study=survey computes none"):
        print_power(STATED, Survey(), plans, store, tmp_path, console)


def test_power_is_part_of_a_plan() -> None:
    with pytest.raises(InputError, match="give plan=true with it"):
        Settings("store", "results", "only-missing", "refuse", plan=False, power=True)


def test_the_node_planner_is_read() -> None:
    node = {"_target_": "biasbridge.analysis.power.Planner", "sesoi": 0.2, "reliability_y": 0.5}
    config = OmegaConf.create({"planner": node})
    assert read_planner(config) == Planner(sesoi=0.2, reliability_y=0.5)
    config.planner.sesi = 0.2
    with pytest.raises(InputError, match=r"planner\.sesi.*did you mean 'sesoi'"):
        read_planner(config)


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
