"""A sweep: plan every cell, run what the store lacks on Hydra's launcher, hand over again what an
engine lost, join the tables.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from files import InputError
from train.front.again import plan_remakes, remove
from train.front.check import check_input
from train.front.compose import Composer, cells, read_planner, read_point, read_study
from train.front.guard import guarded
from train.front.partial_keys import partial_key
from train.front.settings import Overwrite, read_settings
from train.outcome import Outcome, note, read_outcome, results_folder, sharing
from train.point import Plan, Point, plan_point
from train.progress import SweepProgress
from train.store import Stage, Store
from train.store.lease import lease

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher

LONGEST_TROUBLE = 500  # characters that are told of an engine's error
TRIES = 3  # launches that finish no point, or rounds of what others undid, before it is given up

log = logging.getLogger(__name__)


class Job(NamedTuple):
    """A point and the overrides from which a launcher composes it."""

    plan: Plan
    overrides: list[str]


def sweep(
    config: DictConfig, make_launcher: Callable[[], Launcher], arguments: Sequence[str]
) -> int:
    """Run the sweep that a configuration in multirun mode asks for; the exit status of the
    process.
    """
    from train.finish import finish

    console, settings = Console(), read_settings(config)
    store = Store(settings.store)
    asked = grid_cells(config, arguments)
    points = check_input(read_cells(config, asked, arguments), console)
    every = plan_jobs(points, asked, store)
    plans = [job.plan for job in distinct(every)]
    again = plan_remakes(plans, [job.plan for job in every], store, settings, console)
    study = read_study(config)
    if settings.power:
        from train.power import print_power

        print_power(read_planner(config), study, plans, store, Path(settings.results), console)
    if settings.plan:
        return 0
    results = results_folder(settings.results)
    outcomes: dict[str, Outcome] = {}
    with lease(store.root, stages(every)) as held, guarded(held.mark), sharing(results):
        remove(again, store)
        left = to_run(distinct(every), store, results, settings.overwrite)
        for _ in range(TRIES):
            if left:
                outcomes |= run(left, store, results, make_launcher, config, console)
            if settings.overwrite == "only-cache" or all(whole(job, store) for job in every):
                break
            points_now = read_cells(config, asked, arguments)
            before, every = every, plan_jobs(points_now, asked, store)
            held.add(stages(every))
            if not (left := to_make_again(before, every, store, results, outcomes)):
                break
        plans = [job.plan for job in distinct(every)]
        return finish(plans, outcomes, study, store, results, console, extend=settings.extend)


def run(
    jobs: Sequence[Job],
    store: Store,
    results: Path,
    make_launcher: Callable[[], Launcher],
    config: DictConfig,
    console: Console,
) -> dict[str, Outcome]:
    """Have the engine run the jobs, and show how far they are; the outcome of each by point."""
    store.prove_writable()
    store.orphans(remove=True)
    progress = SweepProgress([job.plan for job in jobs], store, results, console)
    progress.start()
    try:
        size = config.hydra.sweeper.max_batch_size
        outcomes, trouble = launch(spread(jobs), make_launcher(), progress, results, size)
    finally:
        progress.stop()
        store.orphans(remove=True)
    left = [job.plan.key for job in jobs if job.plan.key not in outcomes]
    if left and not outcomes:
        raise InputError(
            f"the engine took none of the {len(jobs)} points: {trouble}; mend what it names, or the"
            " options of the engine (hydra.launcher), or take another, such as engine=local"
        )
    return outcomes | {
        key: note(Outcome(key, "failed", f"did not run: {trouble}"), results) for key in left
    }


def to_make_again(
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
            "%s changed while the sweep ran; the points that rest on it are made again", name
        )
    again, removed = [], []
    planned = {job.plan.key for job in before}
    for job in distinct(now):
        key = job.plan.key
        noted = outcomes.get(key) or read_outcome(results, key)
        if whole(job, store) or (key in planned and noted and noted.status == "failed"):
            continue
        again.append(job)
        removed += [key] if key in planned else []
    if removed:
        told = f"{len(removed)} points, such as {removed[0]}"
        log.warning("results of %s were removed while the sweep ran and are made again", told)
    return again


def _digests(jobs: Sequence[Job]) -> set[tuple[str, str]]:
    return {
        (name.partition(" ")[2], digest)
        for stage in stages(jobs).values()
        for name, digest in stage.files.items()
    }


def distinct(jobs: Sequence[Job]) -> list[Job]:
    """One job a point."""
    return list({job.plan.key: job for job in jobs}.values())


def stages(jobs: Sequence[Job]) -> dict[str, Stage]:
    """All stages of the jobs, by key."""
    return {key: stage for job in distinct(jobs) for key, stage in job.plan.stages().items()}


def whole(job: Job, store: Store) -> bool:
    """Whether what the point ends in lies in the store, whole."""
    return all(map(store.intact, job.plan.ends))


def grid_cells(config: DictConfig, arguments: Sequence[str]) -> list[list[str]]:
    """The overrides of each cell of the grids."""
    sweeper = OmegaConf.to_container(config.hydra.sweeper, resolve=True)
    assert isinstance(sweeper, dict)
    return cells(sweeper["params"] or {}, sweeper["grids"] or [], arguments)


def read_cells(
    config: DictConfig, asked: Sequence[Sequence[str]], arguments: Sequence[str]
) -> Iterator[Point]:
    """The point of each cell, composed when it is asked for. Raises ``InputError`` for a key of the
    command line (``arguments``) that some cells have and others lack.
    """
    compose = Composer(config.hydra.job.config_name)
    for cell in asked:
        try:
            point = read_point(compose(cell))
        except (HydraException, InputError) as error:
            if told := partial_key(arguments, asked, compose):
                raise InputError(told) from error
            raise
        yield point


def plan_jobs(points: Iterable[Point], asked: Iterable[list[str]], store: Store) -> list[Job]:
    """One job for each cell, so that bad input ends the sweep before anything runs."""
    return [Job(plan_point(point, store), cell) for point, cell in zip(points, asked, strict=True)]


def to_run(jobs: Sequence[Job], store: Store, results: Path, overwrite: Overwrite) -> list[Job]:
    """The jobs whose points are not done; ``never`` leaves those that failed before, ``always``
    takes all, ``only-cache`` none.
    """
    if overwrite == "always":
        return list(jobs)
    if overwrite == "only-cache":
        return []
    left = [job for job in jobs if not whole(job, store)]
    if overwrite == "never":
        noted = {job.plan.key: read_outcome(results, job.plan.key) for job in left}
        left = [
            job
            for job in left
            if not ((outcome := noted[job.plan.key]) and outcome.status == "failed")
        ]
    return left


def spread(jobs: Sequence[Job]) -> list[Job]:
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


def launch(
    jobs: Sequence[Job],
    launcher: Launcher,
    progress: SweepProgress,
    results: Path,
    max_batch_size: int | None,
) -> tuple[dict[str, Outcome], str]:
    """The outcome of each job by point, and what the engine stopped for last. Jobs that a broken
    engine left without an outcome are handed over again, until that gets nowhere.
    """
    outcomes: dict[str, Outcome] = {}
    left, number, trouble, in_vain = list(jobs), 0, "", 0
    while left and in_vain < TRIES:
        for start in range(0, len(left), size := max_batch_size or len(left)):
            batch = left[start : start + size]
            try:
                returns = launcher.launch([job.overrides for job in batch], initial_job_idx=number)
            except Exception as error:
                before, trouble = trouble, _told(error)
                if trouble != before:
                    log.warning(
                        "the engine stopped, its unfinished points are handed over again: %s",
                        trouble,
                    )
                returns = []
            number += len(batch)
            outcomes |= _returned(batch, returns)
        for point in progress.new_outcomes() - outcomes.keys():
            if noted := read_outcome(results, point):
                outcomes[point] = noted
        lost = [job for job in left if job.plan.key not in outcomes]
        in_vain = in_vain + 1 if len(lost) == len(left) else 0
        left = lost
    return outcomes, trouble


def _told(error: Exception) -> str:
    """An engine's error in one line: the first sentence of each of its lines."""
    lines = str(error).splitlines()
    told = dict.fromkeys(line.partition(". ")[0].strip() for line in lines if line.strip())
    return shorten(f"{type(error).__name__}: {'; '.join(told)}", LONGEST_TROUBLE)


def _returned(batch: Sequence[Job], returns: Sequence[JobReturn]) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for job, done in zip(batch, returns, strict=False):
        if done.status == JobStatus.COMPLETED:
            found[job.plan.key] = done.return_value
        else:
            error: object = done._return_value  # noqa: SLF001 - return_value raises it
            found[job.plan.key] = Outcome(
                job.plan.key, "failed", f"{type(error).__name__}: {error}"
            )
    return found
