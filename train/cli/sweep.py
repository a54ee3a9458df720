"""Sweeps: plan every cell, run missing points on an engine, resubmit lost ones, join the tables.

A single point is a sweep of one cell, run in this process.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.analysis.study import ForecastsVerdicts
from biasbridge.files import InputError
from biasbridge.files.progress import progress_lines
from biasbridge.files.terminal import open_console
from biasbridge.train.cli.command import Command, list_cells
from biasbridge.train.cli.composer import Composer
from biasbridge.train.cli.configure import read_planner, read_study
from biasbridge.train.cli.hydra_engine import launch
from biasbridge.train.cli.jobs import Job, check_engine, distinct, distinct_plans, run_here
from biasbridge.train.cli.local_engine import count_workers, run_locally
from biasbridge.train.cli.orphan_processes import guarded
from biasbridge.train.cli.planning import check_input, compose_points, plan_jobs, plan_rebuilds
from biasbridge.train.cli.settings import read_settings
from biasbridge.train.engine.outcome import Outcome, read_outcome, results_folder, write_outcome
from biasbridge.train.engine.progress import SweepProgress
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store.locks import LEASE, lease

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.cli.settings import Overwrite

LOCAL = "local"  # launcher of this machine
ROUNDS = 3  # of a sweep whose results are removed while it runs

log = logging.getLogger(__name__)


def run(command: Command) -> int:
    """Run the sweep or the point of a command; return the exit status."""
    config, console = command.config, open_console()
    settings = read_settings(config)
    check_engine(config.hydra)
    store, cells = Store(settings.store), list_cells(command)
    jobs = plan_jobs(check_input(compose_points(command, cells), console), cells, store)
    plans = distinct_plans(jobs)
    n_workers = count_workers(config.hydra, len(plans))
    to_rebuild = plan_rebuilds(jobs, store, settings, console, n_workers=n_workers)
    study = read_study(config)
    if isinstance(study, ForecastsVerdicts):
        facts = [{**plan.point.facts(), **plan.options()} for plan in plans]
        for line in study.forecast(facts):
            console.print(line, soft_wrap=True)
    if settings.power:
        from biasbridge.train.engine.power import print_power

        print_power(read_planner(config), study, plans, store, Path(settings.results), console)
    if settings.plan:
        return 0
    folder = settings.results if command.is_sweep else f"{settings.results}/{plans[0].key}"
    from biasbridge.analysis.results import require_own

    require_own(Path(folder), study.writes)
    sweep = Sweep(command, cells, store, results_folder(folder), settings.overwrite, console)
    with lease(store.root, _keys(jobs)) as hold_lease:
        if to_rebuild:
            store.prove_writable()
        for step in to_rebuild.values():
            store.discard(step)
        jobs = sweep.run(jobs, hold_lease)
        from biasbridge.train.engine.finish import finish  # loads what studies need

        with progress_lines(lambda: "writing the tables and conclusions"):
            plans = distinct_plans(jobs)
            return finish(plans, sweep.outcomes, study, store, sweep.results, console)


@dataclass
class Sweep:
    """Sweep, or a single point, whose missing points are run; ``outcomes``: by point."""

    command: Command
    cells: Sequence[list[str]]
    store: Store
    results: Path
    overwrite: Overwrite
    console: Console
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def run(self, jobs: Sequence[Job], hold_lease: Callable[[Iterable[str]], None]) -> list[Job]:
        """Run the missing points; return the jobs as last planned.

        A round follows another if points are missing that did not fail: their results were removed,
        or an input file changed after planning, which makes them other points.
        """
        unfinished = distinct(jobs)
        if self.overwrite != "always":
            unfinished = [job for job in unfinished if not self._is_done(job)]
        if self.overwrite == "only-cache":
            return list(jobs)
        for _ in range(ROUNDS):
            if unfinished:
                self.outcomes |= self._run_round(unfinished)
            if all(map(self._is_done, jobs)):
                break
            jobs = plan_jobs(compose_points(self.command, self.cells), self.cells, self.store)
            hold_lease(_keys(jobs))
            if not (unfinished := self._list_undone(jobs)):
                break
        return list(jobs)

    def _run_round(self, jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Run the jobs on the engine and show the progress; return the outcomes by point."""
        self.store.prove_writable()
        self.store.orphans(remove=True)
        if not self.command.is_sweep:
            with progress_lines(lambda: "running the point"):
                return run_here(jobs[0], self.command.config, self.results)
        try:
            outcomes, last_error = self._run_on_engine(_in_turns(jobs))
        finally:
            self.store.orphans(remove=True)
        unfinished = [job.plan.key for job in jobs if job.plan.key not in outcomes]
        if unfinished and not outcomes:
            raise InputError(
                f"the engine ran none of the {len(jobs)} points: {last_error}; correct this or the"
                " options of the engine (hydra.launcher), or choose another one, such as"
                " engine=joblib"
            )
        failures = [Outcome(key, "failed", f"did not finish: {last_error}") for key in unfinished]
        written = [write_outcome(outcome, self.results) for outcome in failures]
        return outcomes | {outcome.point: outcome for outcome in written}

    def _run_on_engine(self, jobs: Sequence[Job]) -> tuple[dict[str, Outcome], str]:
        """Return the outcomes by point, and the last error of the engine."""
        hydra, plans = self.command.config.hydra, [job.plan for job in jobs]
        progress = SweepProgress(plans, self.store, self.results, self.console)
        with progress.shown():
            if hydra.runtime.choices["hydra/launcher"] == LOCAL:
                composer = Composer(self.command.hydra)
                return run_locally(jobs, composer, hydra.launcher.n_jobs), ""
            with guarded(LEASE):
                return launch(jobs, self.command, progress, self.results)

    def _list_undone(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that did not fail and are not done."""
        undone = [
            job
            for job in distinct(jobs)
            if not self._is_done(job) and not self._has_failed(job.plan.key)
        ]
        if undone:
            log.warning(
                "rebuilding %d points, such as %s: an input file changed during the sweep, or"
                " their results were removed",
                *(len(undone), undone[0].plan.key),
            )
        return undone

    def _has_failed(self, point: str) -> bool:
        outcome = self.outcomes.get(point) or read_outcome(self.results, point)
        return outcome is not None and outcome.status == "failed"

    def _is_done(self, job: Job) -> bool:
        return all(map(self.store.intact, job.plan.ends))


def _in_turns(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs with embeddings in turn, so that parallel workers train different ones."""
    turns: Counter[str] = Counter()

    def turn(job: Job) -> int:
        turns[job.plan.origin.key] += 1
        return turns[job.plan.origin.key]

    return sorted(jobs, key=turn)


def _keys(jobs: Sequence[Job]) -> set[str]:
    return {key for job in jobs for key in job.plan.steps()}
