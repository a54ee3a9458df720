"""A sweep: plan every cell, run what the store lacks on an engine, hand over again what that lost,
join the tables. A single point is a sweep of one cell, run in this process.
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
from train.estimate import describe_cost, measure_slowness, print_plan
from train.front.compose import (
    Composer,
    check_keys,
    list_cells,
    read_planner,
    read_point,
    read_settings,
    read_study,
)
from train.front.engine import (
    LOCAL,
    TRIES,
    Job,
    check_engine,
    count_workers,
    launch,
    run_here,
    run_locally,
)
from train.front.guard import guarded
from train.front.refuse import one_line
from train.outcome import Outcome, read_outcome, results_folder, sharing, write_outcome
from train.parts.part import Checked
from train.point import Plan, Point, plan_point
from train.progress import SweepProgress
from train.store import Stage, Store
from train.store.lease import lease
from train.store.lock import LEASE
from train.store.stale import Outdated, outdated, say

if TYPE_CHECKING:
    from rich.console import Console

    from train.front.compose import Command, Overwrite, Settings

log = logging.getLogger(__name__)


def run(command: Command) -> int:
    """Run the sweep, or the point, that a command asks for; the exit status of the process."""
    config, console = command.config, open_console()
    settings = read_settings(config)
    check_engine(config.hydra)
    store, asked = Store(settings.store), list_cells(command)
    jobs = _plan(check_input(_compose(command, asked), console), asked, store)
    plans = [job.plan for job in _distinct(jobs)]
    cells, n_workers = [job.plan for job in jobs], count_workers(config.hydra, len(plans))
    rebuilt = _plan_rebuilds(plans, cells, store, settings, console, n_workers=n_workers)
    study = read_study(config)
    if settings.power:
        from train.power import print_power

        print_power(read_planner(config), study, plans, store, Path(settings.results), console)
    if settings.plan:
        return 0
    folder = settings.results if command.is_sweep else f"{settings.results}/{plans[0].key}"
    results = results_folder(folder)
    outcomes: dict[str, Outcome] = {}
    with lease(store.root, _stages(jobs)) as hold, sharing(results):
        if rebuilt:
            store.prove_writable()
        for stage in rebuilt.values():
            store.discard(stage)
        left = _list_missing(_distinct(jobs), store, results, settings.overwrite)
        for _ in range(TRIES):
            if left:
                outcomes |= _run(left, store, results, command, console)
            if settings.overwrite == "only-cache" or all(_is_done(job, store) for job in jobs):
                break
            jobs = _plan(_compose(command, asked), asked, store)
            hold(_stages(jobs))
            if not (left := _list_undone(jobs, store, results, outcomes)):
                break
        from train.finish import finish  # loads what studies need

        plans, extend = [job.plan for job in _distinct(jobs)], settings.extend and command.is_sweep
        with progress_lines(lambda: "writing the tables and what the study concludes"):
            return finish(plans, outcomes, study, store, results, console, extend=extend)


def _compose(command: Command, asked: Sequence[Sequence[str]]) -> Iterator[Point]:
    """The point of each cell, composed when it is asked for. Raises ``InputError``."""
    if not command.is_sweep:
        check_keys(command.config, command.config.hydra)
        yield read_point(command.config)
        return
    compose = Composer(command.hydra, primary=command.primary)
    for cell in asked:
        try:
            point = read_point(compose(cell))
        except (HydraException, InputError) as error:
            if len(asked) == 1:
                raise
            where = " ".join(cell)
            raise InputError(f"{one_line(error)} (in the cell {where})") from error
        yield point


def check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """The points, which are checked as they come: every different task and subject once, so that a
    mistake is answered before the other cells are composed. Says where a point is part synthetic,
    part not. Raises ``InputError``.
    """
    found: list[Point] = []
    checked: set[str] = set()
    for point in points:
        queries = point.queries
        asked = sorted({f"{query.name} {query.language}" for query in queries})
        for part in (point.task, point.subject):
            what = repr((getattr(part, "checked", part), asked))
            if isinstance(part, Checked) and what not in checked:
                part.check(queries)
                checked.add(what)
        found.append(point)
    for mixture in dict.fromkeys(point.mixture for point in found if point.mixture):
        line = f"warning: {mixture}: what is measured is neither the one nor the other"
        console.print(line, soft_wrap=True)
    for line in dict.fromkeys(point.doubt for point in found if point.doubt):
        remedy = "Give words about these groups, such as intrinsic.weat.words=FILE"
        console.print(f"warning: {line} {remedy}", soft_wrap=True)
    return found


def _plan(points: Iterable[Point], asked: Iterable[list[str]], store: Store) -> list[Job]:
    """One job for each cell, so that bad input ends the sweep before anything runs."""
    return [Job(plan_point(point, store), cell) for point, cell in zip(points, asked, strict=True)]


def _plan_rebuilds(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    settings: Settings,
    console: Console,
    *,
    n_workers: int,
) -> dict[str, Stage]:
    """Print what is to be made, with ``plan`` a line a step, and what other code made; the stages
    in the store that are rebuilt, by key.

    Raises ``InputError`` where results of other code are refused.
    """
    rebuilt = {key: stage for plan in plans for key, stage in plan.stages().items()}
    found: list[Outdated] = []
    if settings.overwrite != "always":
        found = outdated(store, [stage for plan in plans for stage in plan.ends])
        again = settings.stale == "rebuild"
        rebuilt = {each.stage.key: each.stage for each in found} if again else {}
    if settings.plan or is_verbose():
        print_plan(plans, cells, store, console, anew=rebuilt)
    elif not is_quiet() and (
        line := describe_cost(
            plans, store, anew=rebuilt, cores=n_workers, slowness=measure_slowness()
        )
    ):
        console.print(line)
    say(found, settings.stale, console)
    return rebuilt


def _run(
    jobs: Sequence[Job], store: Store, results: Path, command: Command, console: Console
) -> dict[str, Outcome]:
    """Have the engine run the jobs, and show how far they are; the outcome of each by point."""
    store.prove_writable()
    store.orphans(remove=True)
    if not command.is_sweep:
        with progress_lines(lambda: "the point is at work"):
            return run_here(jobs[0], command.config, results)
    hydra, trouble = command.config.hydra, ""
    progress = SweepProgress([job.plan for job in jobs], store, results, console)
    try:
        with progress.shown():
            if hydra.runtime.choices["hydra/launcher"] == LOCAL:
                composer = Composer(command.hydra, primary=command.primary)
                outcomes = run_locally(_in_turns(jobs), composer, hydra.launcher.n_jobs)
            else:
                with guarded(LEASE):
                    outcomes, trouble = launch(_in_turns(jobs), command, progress, results)
    finally:
        store.orphans(remove=True)
    left = [job.plan.key for job in jobs if job.plan.key not in outcomes]
    if left and not outcomes:
        raise InputError(
            f"the engine took none of the {len(jobs)} points: {trouble}; mend what it names, or the"
            " options of the engine (hydra.launcher), or take another, such as engine=joblib"
        )
    lost = [Outcome(key, "failed", f"did not finish: {trouble}") for key in left]
    return outcomes | {each.point: write_outcome(each, results) for each in lost}


def _in_turns(jobs: Sequence[Job]) -> list[Job]:
    """The jobs in turns, one of each embedding, so that workers side by side train different ones
    and do not wait for the same.
    """
    turns: Counter[str] = Counter()

    def turn(job: Job) -> int:
        turns[job.plan.origin.key] += 1
        return turns[job.plan.origin.key]

    return sorted(jobs, key=turn)


def _list_missing(
    jobs: Sequence[Job], store: Store, results: Path, overwrite: Overwrite
) -> list[Job]:
    """The jobs whose points are not done; ``never`` leaves those that failed before, ``always``
    takes all, ``only-cache`` none.
    """
    if overwrite in ("always", "only-cache"):
        return list(jobs) if overwrite == "always" else []
    left = [job for job in jobs if not _is_done(job, store)]
    if overwrite == "never":
        return [job for job in left if not _has_failed(read_outcome(results, job.plan.key))]
    return left


def _list_undone(
    jobs: Sequence[Job], store: Store, results: Path, outcomes: Mapping[str, Outcome]
) -> list[Job]:
    """The jobs that did not fail, and yet are not done: a file that they rest on changed since they
    were planned, so that they are other points now, or somebody removed their results.
    """
    undone = [job for job in _distinct(jobs) if not _is_done(job, store)]
    noted = {job.plan.key: outcomes.get(job.plan.key) for job in undone}
    again = [
        job
        for job in undone
        if not _has_failed(noted[job.plan.key] or read_outcome(results, job.plan.key))
    ]
    if again:
        log.warning(
            "%d points, such as %s, are built again: a file that they rest on changed while the"
            " sweep ran, or their results were removed",
            *(len(again), again[0].plan.key),
        )
    return again


def _has_failed(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.status == "failed"


def _distinct(jobs: Sequence[Job]) -> list[Job]:
    """One job a point."""
    return list({job.plan.key: job for job in jobs}.values())


def _stages(jobs: Sequence[Job]) -> dict[str, Stage]:
    """All stages of the jobs, by key."""
    return {key: stage for job in _distinct(jobs) for key, stage in job.plan.stages().items()}


def _is_done(job: Job, store: Store) -> bool:
    """Whether what the point ends in lies in the store, whole."""
    return all(map(store.intact, job.plan.ends))
