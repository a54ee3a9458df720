"""Engines: points that others wait for go first, so that no process waits for another's step."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra.core.plugins import Plugins
from hydra.core.utils import JobStatus
from omegaconf import OmegaConf

from biasbridge.analysis.tables import read_tables
from biasbridge.files import InputError
from biasbridge.train.cli import engines
from biasbridge.train.cli.engines import Job, launch, plan_rounds
from biasbridge.train.cli.start import run_experiment
from biasbridge.train.engine.point import Plan, run_point
from biasbridge.train.engine.store import Step, Store
from tests.reliability.sweeps import SWEEP

SECONDS = 0.15  # of every step


def build(out: Path, inputs: Mapping[str, Path]) -> None:
    time.sleep(SECONDS)
    (out / "text").write_text("x")


def step(name: str, of: str, **inputs: Step) -> Step:
    return Step(name=name, made_by="Fake", version=1, params={"of": of}, build=build, inputs=inputs)


def job(parent: str, dose: int, corpus: str = "") -> Job:
    """A point at a dose of the vectors of a parent, with posts that all doses share."""
    text = {"corpus": step("corpus", corpus)} if corpus else {}
    origin = step("vectors", parent, **text)
    vectors = step("vectors", f"{parent} {dose}", vectors=origin) if dose else origin
    end = step("extrinsic", "gaps", vectors=vectors, posts=step("posts", parent))
    plan: Any = SimpleNamespace(key=end.key, ends=[end], origin=origin, steps=end.ancestry())
    return Job(plan, [parent, str(dose)])


def names(rounds: Sequence[Sequence[Job]]) -> list[list[str]]:
    return [["".join(job.overrides) for job in jobs] for jobs in rounds]


def test_one_point_of_each_parent_goes_first(tmp_path: Path) -> None:
    jobs = [job(parent, dose) for parent in "ab" for dose in range(3)]
    rounds = plan_rounds(jobs, Store(tmp_path))
    assert names(rounds) == [["a0", "b0"], ["a1", "b1", "a2", "b2"]]


def test_parents_of_one_corpus_go_first_together(tmp_path: Path) -> None:
    jobs = [job(parent, dose, "shared") for parent in "ab" for dose in (1, 2)]
    assert names(plan_rounds(jobs, Store(tmp_path))) == [["a1", "b1"], ["a2", "b2"]]


def test_what_is_in_the_store_is_waited_for_by_nobody(tmp_path: Path) -> None:
    jobs = [job("a", dose) for dose in range(4)]
    store = Store(tmp_path)
    store.make(jobs[0].plan.ends[0])
    assert names(plan_rounds(jobs[1:], store)) == [["a1", "a2", "a3"]]


def test_few_rounds_however_long_the_chains(tmp_path: Path) -> None:
    chain = [step("vectors", "0")]
    jobs = []
    for depth in range(8):
        chain.append(step("vectors", str(depth + 1), vectors=chain[-1]))
        ends = [step("extrinsic", f"{depth} {n}", vectors=chain[-1]) for n in range(2)]
        for end in ends:
            plan: Any = SimpleNamespace(
                key=end.key, ends=[end], origin=chain[0], steps=end.ancestry()
            )
            jobs.append(Job(plan, [str(depth)]))
    rounds = plan_rounds(jobs, Store(tmp_path))
    assert len(rounds) == engines.MAX_ROUNDS + 1
    assert sorted(job.plan.key for jobs in rounds for job in jobs) == sorted(
        job.plan.key for job in jobs
    )


class Slots:
    """A launcher of processes on this machine, so many at once."""

    def __init__(self, jobs: Sequence[Job], number: int, store: Store, results: Path) -> None:
        self.plans: dict[tuple[str, ...], Plan] = {(*job.overrides,): job.plan for job in jobs}
        self.number, self.store, self.results = number, store, results

    def launch(self, overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[Any]:
        fork = multiprocessing.get_context("fork")
        running: list[Any] = []
        for lines in overrides:
            if len(running) == self.number:
                running.pop(0).join()
            arguments = self.plans[(*lines,)], self.store, self.results
            running.append(fork.Process(target=run_point, args=arguments))
            running[-1].start()
        for process in running:
            process.join()
        done = JobStatus.COMPLETED
        return [SimpleNamespace(status=done, return_value="done") for _ in overrides]


@pytest.mark.parametrize("in_rounds", [True, False])
def test_no_slot_waits_in_a_lock(
    in_rounds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight slots, two parents; all at once, the processes of six slots wait for the parents."""
    jobs = [job(parent, dose) for parent in "ab" for dose in range(5)]
    store, waits = Store(tmp_path / "store"), tmp_path / "waits"
    (tmp_path / "points").mkdir()
    sleep = time.sleep

    def wait(seconds: float) -> None:
        with open(waits, "a", encoding="ascii") as file:
            file.write("waited\n")
        sleep(seconds)

    slots = Slots(jobs, 8, store, tmp_path)
    plugins = SimpleNamespace(instantiate_launcher=lambda **_: slots)
    monkeypatch.setattr(Plugins, "instance", lambda: plugins)
    monkeypatch.setattr(engines, "HydraContext", lambda *_: None)
    hydra: Any = SimpleNamespace(instance=lambda: SimpleNamespace(config_loader=lambda: None))
    monkeypatch.setattr(engines, "GlobalHydra", hydra)
    clock = SimpleNamespace(sleep=wait, monotonic=time.monotonic)
    monkeypatch.setattr("biasbridge.train.engine.locks.time", clock)
    config = OmegaConf.create({"hydra": {"sweeper": {"max_batch_size": None}}})
    command: Any = SimpleNamespace(config=config)
    progress: Any = SimpleNamespace(new_outcomes=set)
    rounds = plan_rounds(jobs, store) if in_rounds else [jobs]
    outcomes, error = launch(rounds, command, progress, tmp_path)
    assert not error
    assert len(outcomes) == len(jobs)
    assert all(store.intact(end) for job in jobs for end in job.plan.ends)
    assert waits.exists() != in_rounds


def test_an_experiment_runs_silently_and_leaves_its_tables(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    sweep = [line for line in SWEEP if not line.startswith("debias")]
    finished = run_experiment([*sweep, "hydra.mode=RUN", "seed=3"])
    assert finished.status == 0
    points = read_tables(finished.folder).points
    assert points["seed"].tolist() == [3]
    assert points["status"].tolist() == ["done"]
    assert capfd.readouterr() == ("", "")
    assert os.environ.get("PYTHONPATH") == before.get("PYTHONPATH")
    with pytest.raises(InputError, match="unknown config key"):
        run_experiment(["corpus.sentence=2"])
    with pytest.raises(InputError, match="give KEY=VALUE"):
        run_experiment(["nonsense"])
