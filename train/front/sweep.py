"""A sweep: plan every cell, run what the store lacks on Hydra's launcher, hand over again what an
engine lost, join the tables.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hydra.errors import HydraException
from omegaconf import OmegaConf
from rich.console import Console

from files import InputError
from train.front.cells import Composer, build_cells, describe_partial_key
from train.front.check import check_input
from train.front.compose import Command, read_planner, read_point, read_study
from train.front.engine import (
    LOCAL,
    TRIES,
    Job,
    check_engine,
    launch,
    make_launcher,
    run_locally,
)
from train.front.guard import guarded
from train.front.rebuild import plan_rebuilds, remove
from train.front.settings import Overwrite, read_settings
from train.outcome import Outcome, read_outcome, results_folder, sharing, write_outcome
from train.point import Point, plan_point
from train.progress import SweepProgress
from train.store import Stage, Store
from train.store.lease import lease

log = logging.getLogger(__name__)


def sweep(command: Command) -> int:
    """Run the sweep that a command asks for; the exit status of the process."""
    from train.finish import finish

    config = command.config
    console, settings = Console(), read_settings(config)
    check_engine(config.hydra)
    store = Store(settings.store)
    asked = list_cells(command)
    points = check_input(read_cells(command, asked), console)
    every = plan_jobs(points, asked, store)
    plans = [job.plan for job in drop_repeated(every)]
    rebuilt = plan_rebuilds(plans, [job.plan for job in every], store, settings, console)
    study = read_study(config)
    if settings.power:
        from train.power import print_power

        print_power(read_planner(config), study, plans, store, Path(settings.results), console)
    if settings.plan:
        return 0
    results = results_folder(settings.results)
    outcomes: dict[str, Outcome] = {}
    with lease(store.root, collect_stages(every)) as held, guarded(held.mark), sharing(results):
        remove(rebuilt, store)
        left = list_missing(drop_repeated(every), store, results, settings.overwrite)
        for _ in range(TRIES):
            if left:
                outcomes |= run(left, store, results, command, console)
            if settings.overwrite == "only-cache" or all(is_done(job, store) for job in every):
                break
            before, every = every, plan_jobs(read_cells(command, asked), asked, store)
            held.add(collect_stages(every))
            if not (left := list_undone(before, every, store, results, outcomes)):
                break
        plans = [job.plan for job in drop_repeated(every)]
        return finish(plans, outcomes, study, store, results, console, extend=settings.extend)


def run(
    jobs: Sequence[Job], store: Store, results: Path, command: Command, console: Console
) -> dict[str, Outcome]:
    """Have the engine run the jobs, and show how far they are; the outcome of each by point."""
    store.prove_writable()
    store.orphans(remove=True)
    hydra, trouble = command.config.hydra, ""
    progress = SweepProgress([job.plan for job in jobs], store, results, console)
    progress.start()
    try:
        if hydra.runtime.choices["hydra/launcher"] == LOCAL:
            outcomes = run_locally(take_turns(jobs), Composer(command.hydra), hydra.launcher.n_jobs)
        else:
            launcher, size = make_launcher(command.config), hydra.sweeper.max_batch_size
            outcomes, trouble = launch(take_turns(jobs), launcher, progress, results, size)
    finally:
        progress.stop()
        store.orphans(remove=True)
    left = [job.plan.key for job in jobs if job.plan.key not in outcomes]
    if left and not outcomes:
        raise InputError(
            f"the engine took none of the {len(jobs)} points: {trouble}; mend what it names, or the"
            " options of the engine (hydra.launcher), or take another, such as engine=joblib"
        )
    return outcomes | {
        key: write_outcome(Outcome(key, "failed", f"did not finish: {trouble}"), results)
        for key in left
    }


def list_undone(
    before: Sequence[Job],
    now: Sequence[Job],
    store: Store,
    results: Path,
    outcomes: Mapping[str, Outcome],
) -> list[Job]:
    """The jobs that did not fail, and yet are not done: a file that they rest on changed since it
    was planned ``before``, or somebody removed their results. Both are said.
    """
    for name in sorted({name for name, _ in _digests(now) - _digests(before)}):
        log.warning(
            "%s changed while the sweep ran; the points that rest on it are built again", name
        )
    again, removed = [], []
    planned = {job.plan.key for job in before}
    for job in drop_repeated(now):
        key = job.plan.key
        noted = outcomes.get(key) or read_outcome(results, key)
        if is_done(job, store) or (key in planned and noted and noted.status == "failed"):
            continue
        again.append(job)
        removed += [key] if key in planned else []
    if removed:
        some = f"{len(removed)} points, such as {removed[0]}"
        log.warning("results of %s were removed while the sweep ran and are built again", some)
    return again


def _digests(jobs: Sequence[Job]) -> set[tuple[str, str]]:
    return {
        (name.partition(" ")[2], digest)
        for stage in collect_stages(jobs).values()
        for name, digest in stage.files.items()
    }


def drop_repeated(jobs: Sequence[Job]) -> list[Job]:
    """One job a point."""
    return list({job.plan.key: job for job in jobs}.values())


def collect_stages(jobs: Sequence[Job]) -> dict[str, Stage]:
    """All stages of the jobs, by key."""
    return {key: stage for job in drop_repeated(jobs) for key, stage in job.plan.stages().items()}


def is_done(job: Job, store: Store) -> bool:
    """Whether what the point ends in lies in the store, whole."""
    return all(map(store.intact, job.plan.ends))


def list_cells(command: Command) -> list[list[str]]:
    """The overrides of each cell of the grids. Raises ``InputError`` for what is no grid."""
    sweeper = OmegaConf.to_container(command.config.hydra.sweeper, resolve=True)
    assert isinstance(sweeper, dict)
    params, grids = sweeper.get("params") or {}, sweeper.get("grids") or []
    if not isinstance(grids, list):
        raise InputError(f"hydra.sweeper.grids={grids!r}: give a list of mappings")
    return build_cells(params, grids, command.overrides)


def read_cells(command: Command, asked: Sequence[Sequence[str]]) -> Iterator[Point]:
    """The point of each cell, composed when it is asked for. Raises ``InputError`` for a key of the
    command line that some cells have and others lack.
    """
    compose = Composer(command.hydra)
    for cell in asked:
        try:
            point = read_point(compose(cell))
        except (HydraException, InputError) as error:
            if message := describe_partial_key(command.overrides, asked, compose):
                raise InputError(message) from error
            raise
        yield point


def plan_jobs(points: Iterable[Point], asked: Iterable[list[str]], store: Store) -> list[Job]:
    """One job for each cell, so that bad input ends the sweep before anything runs."""
    return [Job(plan_point(point, store), cell) for point, cell in zip(points, asked, strict=True)]


def list_missing(
    jobs: Sequence[Job], store: Store, results: Path, overwrite: Overwrite
) -> list[Job]:
    """The jobs whose points are not done; ``never`` leaves those that failed before, ``always``
    takes all, ``only-cache`` none.
    """
    if overwrite == "always":
        return list(jobs)
    if overwrite == "only-cache":
        return []
    left = [job for job in jobs if not is_done(job, store)]
    if overwrite == "never":
        noted = {job.plan.key: read_outcome(results, job.plan.key) for job in left}
        left = [
            job
            for job in left
            if not ((outcome := noted[job.plan.key]) and outcome.status == "failed")
        ]
    return left


def take_turns(jobs: Sequence[Job]) -> list[Job]:
    """The jobs in turns, one of each embedding, so that workers side by side train different ones
    and do not wait for the same.
    """
    turns: dict[str, int] = {}
    ranked: list[tuple[int, int, Job]] = []
    for number, job in enumerate(jobs):
        origin = job.plan.origin.key
        turns[origin] = turns.get(origin, -1) + 1
        ranked.append((turns[origin], number, job))
    return [job for _, _, job in sorted(ranked, key=lambda entry: entry[:2])]
