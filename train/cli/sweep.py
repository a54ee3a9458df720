"""Sweeps: plan every cell, run missing points on an engine, resubmit lost ones, join the tables.

A single point is a sweep of one cell, run in this process.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.errors import HydraException

from files import InputError
from files.progress import progress_lines
from files.terminal import open_console
from files.verbosity import is_quiet, is_verbose
from train.cli.compose import (
    Composer,
    check_keys,
    list_cells,
    read_planner,
    read_point,
    read_settings,
    read_study,
)
from train.cli.error_messages import one_line
from train.cli.launchers import (
    LOCAL,
    TRIES,
    Job,
    check_engine,
    count_workers,
    launch,
    run_here,
    run_locally,
)
from train.cli.orphan_processes import guarded
from train.engine.estimate import describe_cost, measure_slowness, print_plan
from train.engine.outcome import (
    Outcome,
    read_outcome,
    results_folder,
    shared_results,
    write_outcome,
)
from train.engine.part import ChecksInput
from train.engine.point import Plan, Point, plan_point
from train.engine.progress import SweepProgress
from train.engine.store import Step, Store
from train.engine.store.lease import lease
from train.engine.store.lock import LEASE
from train.engine.store.stale import Outdated, outdated, report_outdated

if TYPE_CHECKING:
    from rich.console import Console

    from train.cli.compose import Command, Overwrite, Settings

log = logging.getLogger(__name__)


def run(command: Command) -> int:
    """Run the sweep or the point of a command; return the exit status."""
    config, console = command.config, open_console()
    settings = read_settings(config)
    check_engine(config.hydra)
    store, cells = Store(settings.store), list_cells(command)
    jobs = _plan(check_input(_compose(command, cells), console), cells, store)
    plans = [job.plan for job in _distinct(jobs)]
    cell_plans, n_workers = [job.plan for job in jobs], count_workers(config.hydra, len(plans))
    to_rebuild = _plan_rebuilds(plans, cell_plans, store, settings, console, n_workers=n_workers)
    study = read_study(config)
    if settings.power:
        from train.engine.power import print_power

        print_power(read_planner(config), study, plans, store, Path(settings.results), console)
    if settings.plan:
        return 0
    folder = settings.results if command.is_sweep else f"{settings.results}/{plans[0].key}"
    results = results_folder(folder)
    outcomes: dict[str, Outcome] = {}
    with lease(store.root, _steps(jobs)) as hold_lease, shared_results(results):
        if to_rebuild:
            store.prove_writable()
        for step in to_rebuild.values():
            store.discard(step)
        unfinished = _list_missing(_distinct(jobs), store, results, settings.overwrite)
        for _ in range(TRIES):
            if unfinished:
                outcomes |= _run(unfinished, store, results, command, console)
            if settings.overwrite == "only-cache" or all(_is_done(job, store) for job in jobs):
                break
            jobs = _plan(_compose(command, cells), cells, store)
            hold_lease(_steps(jobs))
            if not (unfinished := _list_undone(jobs, store, results, outcomes)):
                break
        from train.engine.finish import finish  # loads what studies need

        plans, extend = [job.plan for job in _distinct(jobs)], settings.extend and command.is_sweep
        with progress_lines(lambda: "writing the tables and conclusions"):
            return finish(plans, outcomes, study, store, results, console, extend=extend)


def _compose(command: Command, cells: Sequence[Sequence[str]]) -> Iterator[Point]:
    """Yield the point of each cell, composed on demand. Raises ``InputError``."""
    if not command.is_sweep:
        check_keys(command.config, command.config.hydra)
        yield read_point(command.config)
        return
    compose = Composer(command.hydra, primary=command.primary)
    for cell in cells:
        try:
            point = read_point(compose(cell))
        except (HydraException, InputError) as error:
            if len(cells) == 1:
                raise
            overrides = " ".join(cell)
            raise InputError(f"{one_line(error)} (in the cell {overrides})") from error
        yield point


def check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """Return the points after checking every distinct task and subject once.

    Points are checked as they come, so that errors are found before all cells are composed. Prints
    warnings. Raises ``InputError``.
    """
    checked_points: list[Point] = []
    checked: set[str] = set()
    for point in points:
        queries = point.queries
        query_names = sorted({f"{query.name} {query.language}" for query in queries})
        for part in (point.task, point.subject):
            identity = repr((getattr(part, "checked", part), query_names))
            if isinstance(part, ChecksInput) and identity not in checked:
                part.check(queries)
                checked.add(identity)
        checked_points.append(point)
    for mix in dict.fromkeys(filter(None, (point.synthetic_mix for point in checked_points))):
        console.print(f"warning: results mix synthetic and real data: {mix}", soft_wrap=True)
    for mismatch in dict.fromkeys(filter(None, (point.group_mismatch for point in checked_points))):
        remedy = "Give words about these groups, such as intrinsic.weat.words=FILE"
        console.print(f"warning: {mismatch} {remedy}", soft_wrap=True)
    return checked_points


def _plan(points: Iterable[Point], cells: Iterable[list[str]], store: Store) -> list[Job]:
    """Return one job per cell, so that invalid input ends the sweep before anything runs."""
    return [Job(plan_point(point, store), cell) for point, cell in zip(points, cells, strict=True)]


def _plan_rebuilds(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    settings: Settings,
    console: Console,
    *,
    n_workers: int,
) -> dict[str, Step]:
    """Print cost or plan, and outdated results; return the stored steps to rebuild, by key.

    Raises ``InputError`` if results of other code are refused.
    """
    to_rebuild = {key: step for plan in plans for key, step in plan.steps().items()}
    results: list[Outdated] = []
    if settings.overwrite != "always":
        results = outdated(store, [step for plan in plans for step in plan.ends])
        outdated_steps = {result.step.key: result.step for result in results}
        to_rebuild = outdated_steps if settings.stale == "rebuild" else {}
    if settings.plan or is_verbose():
        print_plan(plans, cells, store, console, anew=to_rebuild)
    elif not is_quiet() and (
        line := describe_cost(
            plans, store, anew=to_rebuild, cores=n_workers, slowness=measure_slowness()
        )
    ):
        console.print(line)
    report_outdated(results, settings.stale, console)
    return to_rebuild


def _run(
    jobs: Sequence[Job], store: Store, results: Path, command: Command, console: Console
) -> dict[str, Outcome]:
    """Run the jobs on the engine and show the progress; return the outcomes by point."""
    store.prove_writable()
    store.orphans(remove=True)
    if not command.is_sweep:
        with progress_lines(lambda: "running the point"):
            return run_here(jobs[0], command.config, results)
    hydra, last_error = command.config.hydra, ""
    progress = SweepProgress([job.plan for job in jobs], store, results, console)
    try:
        with progress.shown():
            if hydra.runtime.choices["hydra/launcher"] == LOCAL:
                composer = Composer(command.hydra, primary=command.primary)
                outcomes = run_locally(_in_turns(jobs), composer, hydra.launcher.n_jobs)
            else:
                with guarded(LEASE):
                    outcomes, last_error = launch(_in_turns(jobs), command, progress, results)
    finally:
        store.orphans(remove=True)
    unfinished = [job.plan.key for job in jobs if job.plan.key not in outcomes]
    if unfinished and not outcomes:
        raise InputError(
            f"the engine ran none of the {len(jobs)} points: {last_error}; correct this or the"
            " options of the engine (hydra.launcher), or choose another one, such as engine=joblib"
        )
    failures = [Outcome(key, "failed", f"did not finish: {last_error}") for key in unfinished]
    return outcomes | {outcome.point: write_outcome(outcome, results) for outcome in failures}


def _in_turns(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs with embeddings in turn, so that parallel workers train different ones."""
    turns: Counter[str] = Counter()

    def turn(job: Job) -> int:
        turns[job.plan.origin.key] += 1
        return turns[job.plan.origin.key]

    return sorted(jobs, key=turn)


def _list_missing(
    jobs: Sequence[Job], store: Store, results: Path, overwrite: Overwrite
) -> list[Job]:
    """Return the jobs to run under the ``overwrite`` policy, by default those not done."""
    if overwrite in ("always", "only-cache"):
        return list(jobs) if overwrite == "always" else []
    missing = [job for job in jobs if not _is_done(job, store)]
    if overwrite == "never":
        return [job for job in missing if not _has_failed(read_outcome(results, job.plan.key))]
    return missing


def _list_undone(
    jobs: Sequence[Job], store: Store, results: Path, outcomes: Mapping[str, Outcome]
) -> list[Job]:
    """Return the jobs that did not fail and are not done.

    An input file changed after planning, which makes them other points, or results were removed.
    """
    undone = [job for job in _distinct(jobs) if not _is_done(job, store)]
    outcome_by_point = {job.plan.key: outcomes.get(job.plan.key) for job in undone}
    to_rebuild = [
        job
        for job in undone
        if not _has_failed(outcome_by_point[job.plan.key] or read_outcome(results, job.plan.key))
    ]
    if to_rebuild:
        log.warning(
            "rebuilding %d points, such as %s: an input file changed during the sweep, or their"
            " results were removed",
            *(len(to_rebuild), to_rebuild[0].plan.key),
        )
    return to_rebuild


def _has_failed(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.status == "failed"


def _distinct(jobs: Sequence[Job]) -> list[Job]:
    return list({job.plan.key: job for job in jobs}.values())


def _steps(jobs: Sequence[Job]) -> dict[str, Step]:
    return {key: step for job in _distinct(jobs) for key, step in job.plan.steps().items()}


def _is_done(job: Job, store: Store) -> bool:
    return all(map(store.intact, job.plan.ends))
