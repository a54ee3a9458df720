"""Engines: a pool of processes of this machine, and launchers of Hydra such as Slurm and Ray.

Each job's point is planned in the process that runs it, with its threads and device. A pool whose
process is killed is renewed; points that a launcher loses are resubmitted.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import HydraContext
from threadpoolctl import threadpool_limits

from biasbridge.files import InputError
from biasbridge.files.choice import search_modules
from biasbridge.files.interrupts import SIGNALS
from biasbridge.files.paths import TRAIN
from biasbridge.train.cli.command import format_override, searched_folder
from biasbridge.train.cli.composing import (
    Cell,
    Composer,
    drop_options_of_other_choices,
    read_point,
    read_settings,
)
from biasbridge.train.engine.device import pick_device
from biasbridge.train.engine.locks import end_with_the_sweep
from biasbridge.train.engine.point import (
    Outcome,
    Plan,
    plan_point,
    read_outcome,
    run_point,
    write_outcome,
)
from biasbridge.train.engine.source import SourceFile, parsed_files
from biasbridge.train.engine.steps import SharedSteps
from biasbridge.train.engine.store import Store

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher
    from omegaconf import DictConfig

    from biasbridge.train.cli.command import Command
    from biasbridge.train.engine.cost import SweepProgress


_LIMITS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("TQDM_DISABLE", "HF_DATASETS_DISABLE_PROGRESS_BARS"), "1"),
}

_KILL_HINT = "; out of memory is the usual reason: give fewer workers or smaller models"

log = logging.getLogger(__name__)
_TRIES = 3  # launches without progress before giving up
MAX_ROUNDS = 3  # in which points go before those that wait for them
_MAX_ERROR_LENGTH = 500  # characters printed of an engine's error


class Job(NamedTuple):
    """A point and the overrides that compose it."""

    plan: Plan
    overrides: list[str]


def distinct_jobs(jobs: Iterable[Job]) -> list[Job]:
    """Return a job per point."""
    return list({job.plan.key: job for job in jobs}.values())


def distinct_plans(jobs: Iterable[Job]) -> list[Plan]:
    """Return the plans of the distinct points."""
    return [job.plan for job in distinct_jobs(jobs)]


class _PreparedPoint(NamedTuple):
    """Arguments of ``run_point`` in a worker process."""

    plan: Plan
    store: Store
    results: Path


def _prepare_points(jobs: Sequence[Job], compose: Composer) -> Iterator[_PreparedPoint]:
    """Yield each job planned on its device."""
    planned: dict[str, SharedSteps] = {}  # by device, which is in the choices and not in their keys
    for number, job in enumerate(jobs):
        cell = compose.read(job.overrides)
        if (device := pick_device(cell.device, number)) != cell.device:
            cell = compose.read([*job.overrides, format_override("device", device)])
        yield _prepare(cell, job.overrides, planned.setdefault(device, SharedSteps()))


def _prepare(cell: Cell, overrides: Sequence[str], planned: SharedSteps) -> _PreparedPoint:
    """Plan a job; the store records the command that repeats it."""
    folder = searched_folder()
    options = ["--config-dir", folder] if folder else []
    command = f"{TRAIN} {shlex.join([*options, 'hydra.mode=RUN', *overrides])}"
    store = Store(cell.settings.store, {"command": command, "device": cell.device})
    plan = plan_point(cell.point, store, planned)
    return _PreparedPoint(plan, store, Path(cell.settings.results).resolve())


def _limit_process() -> None:
    """Limit torch and BLAS to one thread (more change the order of sums), and hide their bars."""
    os.environ |= _LIMITS
    threadpool_limits(limits=1)


def run_here(job: Job, compose: Composer, results: Path) -> dict[str, Outcome]:
    """Run one point in this process, for debugging. Raises ``InputError`` if it is refused."""
    _limit_process()
    [(plan, store, _)] = _prepare_points([job], compose)
    outcome = run_point(plan, store, results)
    if outcome.refused:
        raise InputError(outcome.error)
    return {plan.key: outcome}


def check_engine(hydra: DictConfig) -> None:
    """Raise ``InputError`` for an invalid number of parallel points."""
    n_jobs, size = hydra.launcher.get("n_jobs", -1), hydra.sweeper.get("max_batch_size")
    if type(n_jobs) is not int or (n_jobs < 1 and n_jobs != -1):
        raise InputError(f"hydra.launcher.n_jobs={n_jobs!r}: give the number of processes, or -1")
    if size is not None and (type(size) is not int or size < 1):
        raise InputError(f"hydra.sweeper.max_batch_size={size!r}: give a whole number, or null")


def _count_cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count  # takes long to import

    return int(cpu_count())


def count_workers(hydra: DictConfig, n_points: int) -> int:
    """Return how many cores of this machine run a sweep of ``n_points`` points."""
    is_serial = str(hydra.launcher.get("_target_", "")).endswith("BasicLauncher")
    n_jobs = 1 if is_serial else hydra.launcher.get("n_jobs", -1)
    cores = _count_cores()
    return min(n_points, cores if n_jobs == -1 else min(n_jobs, cores))


def run_locally(jobs: Sequence[Job], compose: Composer, n_jobs: int) -> dict[str, Outcome]:
    """Run jobs, ``n_jobs`` at a time (-1: one per core); return the outcomes by point.

    A killed process breaks the pool. The next round runs the missing points, with those that may
    have been running last. After a round without progress these run first, each in its own pool, so
    that a point whose process dies fails alone.
    """
    n_workers = _count_cores() if n_jobs == -1 else n_jobs
    unfinished = list(_prepare_points(jobs, compose))
    outcomes: dict[str, Outcome] = {}
    while unfinished:
        end_message = _run_pool(unfinished, n_workers, outcomes)
        lost = [ready for ready in unfinished if ready.plan.key not in outcomes]
        if lost:
            log.warning("%s; resubmitting %d unfinished points", end_message, len(lost))
        running, waiting = lost[:n_workers], lost[n_workers:]  # the pool takes them in turn
        if len(lost) == len(unfinished):
            for ready in running:
                if end_message := _run_pool([ready], 1, outcomes):
                    outcome = Outcome(ready.plan.key, "failed", end_message)
                    outcomes[ready.plan.key] = write_outcome(outcome, ready.results)
            running = []
        unfinished = waiting + running
    return outcomes


def _run_pool(
    ready_points: Sequence[_PreparedPoint], n_workers: int, outcomes: dict[str, Outcome]
) -> str:
    """Add outcomes of finished points; return how a process ended that broke the pool, if any."""
    from joblib.externals.loky import ProcessPoolExecutor

    # loky renews a worker whose memory has grown; no point is lost
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    n_processes = min(n_workers, len(ready_points))
    for ready in ready_points:
        _ = [step.source for step in ready.plan.steps.values()]  # parses the files of workers
    # Workers are killed, and clean up nothing
    temporary = TemporaryDirectory(prefix="biasbridge-", ignore_cleanup_errors=True)
    with temporary as scratch, ExitStack() as stack:
        start = partial(_start_local_worker, scratch, parsed_files)
        try:
            with _blocked_signals():  # also in workers: this process handles signals
                pool = ProcessPoolExecutor(n_processes, initializer=start)
                stack.callback(pool.shutdown, kill_workers=True)
                futures = [pool.submit(run_point, *ready) for ready in ready_points]
            for future in as_completed(futures):
                outcome = future.result()
                outcomes[outcome.point] = outcome
        except BrokenProcessPool as error:
            return _describe_end(str(error))
    return ""


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block signals in this process, and in those that the block starts.

    First start the processes that remove semaphores which a sweep leaves, which unblocks signals.
    They give no warnings: at an interrupt, threads of the pool end between the removal of a
    semaphore and its report, after the last line.
    """
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
        sys.warnoptions.pop()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start_local_worker(scratch: str, parsed: Mapping[Any, SourceFile]) -> None:
    parsed_files.update(parsed)
    for number in SIGNALS - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: None)  # processes that it starts do not ignore it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    tempfile.tempdir = scratch
    end_with_the_sweep()
    _limit_process()


def _describe_end(message: str) -> str:
    """Describe how a process ended, from ``{SIGKILL(-9)}`` or ``{EXIT(7)}`` in loky's message."""
    match = re.search(r"\{.*?(\w+)\((-?\d+)\)", message)
    if match is None:
        return "the process of this point ended"
    if match[1] == "EXIT":
        return f"the process of this point ended with status {match[2]}"
    hint = _KILL_HINT if match[1] == "SIGKILL" else ""
    return f"the process of this point was killed by {match[1]}{hint}"


def _run_job(config: DictConfig) -> Outcome:
    """Run a point in a worker of an engine; called by Hydra's launcher."""
    hydra = HydraConfig.get()
    os.chdir(hydra.runtime.cwd)  # workers may start in another folder
    search_modules(
        source.path for source in hydra.runtime.config_sources if source.schema == "file"
    )
    end_with_the_sweep()
    _limit_process()
    drop_options_of_other_choices(config, cast("DictConfig", hydra))
    config.device = pick_device(str(config.device), hydra.job.num)
    cell = Cell(read_point(config), read_settings(config), config.device)
    return run_point(*_prepare(cell, hydra.overrides.task, SharedSteps()))


def plan_rounds(jobs: Sequence[Job], store: Store) -> list[list[Job]]:
    """Return the jobs in rounds, so that few wait for a step that another one builds.

    A round has no two jobs that lack the same step, but for the first jobs of different embeddings,
    which may lack a corpus or posts in common. Within a round embeddings take turns. All that is
    left after ``MAX_ROUNDS`` is one more round.
    """
    steps = {key: step for job in jobs for key, step in job.plan.steps.items()}
    unbuilt = {key for key, step in steps.items() if not store.has(step)}
    turns: Counter[str] = Counter()
    order: dict[str, int] = {}
    missing: dict[str, set[str]] = {}
    for job in jobs:
        turns[job.plan.origin.key] += 1
        order[job.plan.key] = turns[job.plan.origin.key]
        missing[job.plan.key] = job.plan.steps.keys() & unbuilt
    left = sorted(jobs, key=lambda job: order[job.plan.key])
    rounds: list[list[Job]] = []
    while left and len(rounds) < MAX_ROUNDS:
        built: set[str] = set()
        later: list[Job] = []
        rounds.append([])
        for job in left:
            lacks = missing[job.plan.key]
            is_first = job.plan.origin.key in lacks - built
            if is_first or not lacks & built:
                rounds[-1].append(job)
                built |= lacks
            else:
                later.append(job)
        for job in later:
            missing[job.plan.key] -= built
        left = later
    return [*rounds, left] if left else rounds


def launch(
    rounds: Sequence[Sequence[Job]], command: Command, progress: SweepProgress, results: Path
) -> tuple[dict[str, Outcome], str]:
    """Run jobs by Hydra's launcher, again those it loses; return outcomes and the last error."""
    launcher, size = _create_launcher(command.config), command.config.hydra.sweeper.max_batch_size
    outcomes: dict[str, Outcome] = {}
    number, last_error = 0, ""
    for jobs in rounds:
        unfinished, n_without_progress = list(jobs), 0
        while unfinished and n_without_progress < _TRIES:
            step = size or len(unfinished)
            for batch in (unfinished[i : i + step] for i in range(0, len(unfinished), step)):
                try:
                    lines = [job.overrides for job in batch]
                    outcomes |= _outcomes_of(batch, launcher.launch(lines, initial_job_idx=number))
                except Exception as error:
                    previous_error, last_error = last_error, _shorten_error(error)
                    if last_error != previous_error:
                        message = "the engine stopped; resubmitting its unfinished points"
                        log.warning("%s: %s", message, last_error)
                number += len(batch)
            for point in progress.new_outcomes() - outcomes.keys():
                if outcome := read_outcome(results, point):
                    outcomes[point] = outcome
            lost = [job for job in unfinished if job.plan.key not in outcomes]
            n_without_progress = n_without_progress + 1 if len(lost) == len(unfinished) else 0
            unfinished = lost
        if unfinished:  # the engine takes no more points
            break
    return outcomes, last_error


def _create_launcher(config: DictConfig) -> Launcher:
    context = HydraContext(GlobalHydra.instance().config_loader(), cast("Any", Callback()))
    try:
        return Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=_run_job, config=config
        )
    except Exception as error:
        name = config.hydra.runtime.choices["hydra/launcher"]
        raise InputError(f"hydra/launcher={name} fails: {error}; choose another engine") from error


def _shorten_error(error: Exception) -> str:
    """Return an engine's error in one line: the first sentence of each of its lines."""
    lines = str(error).splitlines()
    sentences = dict.fromkeys(line.partition(". ")[0].strip() for line in lines if line.strip())
    return shorten(f"{type(error).__name__}: {'; '.join(sentences)}", _MAX_ERROR_LENGTH)


def _outcomes_of(batch: Sequence[Job], returns: Sequence[JobReturn]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for job, job_return in zip(batch, returns, strict=False):
        key = job.plan.key
        if job_return.status == JobStatus.COMPLETED:
            outcomes[key] = job_return.return_value
        else:
            error: object = job_return._return_value  # noqa: SLF001 - return_value raises it
            outcomes[key] = Outcome(key, "failed", f"{type(error).__name__}: {error}")
    return outcomes
