"""Engines that run points: processes of this machine, or a launcher of Hydra (Slurm, Ray).

Points that a broken engine lost are resubmitted.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import signal
from collections.abc import Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext
from threadpoolctl import threadpool_limits

from files import InputError
from train.cli.compose import read_point, read_settings
from train.cli.configure import search_modules
from train.engine.device import pick_device
from train.engine.outcome import Outcome, read_outcome, run_point, write_outcome
from train.engine.point import Plan, plan_point
from train.engine.store import Store
from train.engine.store.lease import end_with_the_sweep

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from train.cli.compose import Command, Composer
    from train.engine.progress import SweepProgress

LOCAL = "local"
TRIES = 3  # launches without progress, or rounds of a sweep, before giving up
MAX_ERROR_LENGTH = 500  # characters printed of an engine's error
LIMITS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("TQDM_DISABLE", "HF_DATASETS_DISABLE_PROGRESS_BARS"), "1"),
}
KILL_HINT = "; out of memory is the usual reason: give fewer workers or smaller models"

log = logging.getLogger(__name__)


class Job(NamedTuple):
    """A point and the overrides that compose it."""

    plan: Plan
    overrides: list[str]


class PreparedPoint(NamedTuple):
    """Arguments of ``run_point`` in a worker process."""

    plan: Plan
    store: Store
    results: Path


def prepare_point(config: DictConfig, overrides: Sequence[str], number: int) -> PreparedPoint:
    """Plan job ``number`` on its device; the store records the command that repeats it."""
    config.device = pick_device(str(config.device), number)
    command = f"python train.py {shlex.join(['hydra.mode=RUN', *overrides])}"
    settings = read_settings(config)
    store = Store(settings.store, {"command": command, "device": config.device})
    return PreparedPoint(
        plan_point(read_point(config), store), store, Path(settings.results).resolve()
    )


def limit_process() -> None:
    """Limit torch and BLAS to one thread, loaded now or later, and hide their progress bars.

    Cores are not oversubscribed, and sums in another order would change digits.
    """
    os.environ |= LIMITS
    threadpool_limits(limits=1)


def run_here(job: Job, config: DictConfig, results: Path) -> dict[str, Outcome]:
    """Run one point in this process, for debugging. Raises ``InputError`` if it is refused."""
    limit_process()
    plan, store, _ = prepare_point(config, job.overrides, 0)
    outcome = run_point(plan, store, results)
    if outcome.refused:
        raise InputError(outcome.error)
    return {plan.key: outcome}


def count_cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count  # takes long to import

    return int(cpu_count())


def count_workers(hydra: DictConfig, n_points: int) -> int:
    """Return how many cores of this machine run a sweep of ``n_points`` points."""
    n_jobs = hydra.launcher.get("n_jobs", -1)
    cores = count_cores()
    return min(n_points, cores if n_jobs == -1 else min(n_jobs, cores))


def run_locally(jobs: Sequence[Job], compose: Composer, n_jobs: int) -> dict[str, Outcome]:
    """Run jobs, ``n_jobs`` at a time (-1: one per core); return the outcomes by point.

    A killed process breaks the pool. The next round runs the missing points, with those that may
    have been running last. After a round without progress these run first, each in its own pool, so
    that a point whose process dies fails alone.
    """
    n_workers = count_cores() if n_jobs == -1 else n_jobs
    unfinished = [
        prepare_point(compose(job.overrides), job.overrides, i) for i, job in enumerate(jobs)
    ]
    outcomes: dict[str, Outcome] = {}
    while unfinished:
        end_message = _run_round(unfinished, n_workers, outcomes)
        lost = [ready for ready in unfinished if ready.plan.key not in outcomes]
        if lost:
            log.warning("%s; resubmitting %d unfinished points", end_message, len(lost))
        running, waiting = lost[:n_workers], lost[n_workers:]  # the pool takes them in turn
        if len(lost) == len(unfinished):
            for ready in running:
                if end_message := _run_round([ready], 1, outcomes):
                    outcome = Outcome(ready.plan.key, "failed", end_message)
                    outcomes[ready.plan.key] = write_outcome(outcome, ready.results)
            running = []
        unfinished = waiting + running
    return outcomes


def _run_round(
    ready_points: Sequence[PreparedPoint], n_workers: int, outcomes: dict[str, Outcome]
) -> str:
    """Add outcomes of finished points; return how a process ended that broke the pool, if any."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(min(n_workers, len(ready_points)), initializer=_start_local_worker)
    # Workers inherit the blocked signal: only this process handles interrupts. The tracker is
    # started first, as its start by the first worker would unblock the signal.
    resource_tracker.ensure_running()
    signal_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        try:
            futures = [pool.submit(run_point, *ready) for ready in ready_points]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, signal_mask)
        for future in as_completed(futures):
            outcome = future.result()
            outcomes[outcome.point] = outcome
    except BrokenProcessPool as error:
        return _describe_end(str(error))
    finally:
        pool.shutdown(kill_workers=True)
    return ""


def _start_local_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_the_sweep()
    limit_process()


def _describe_end(message: str) -> str:
    """Describe how a process ended, from ``{SIGKILL(-9)}`` or ``{EXIT(7)}`` in loky's message."""
    match = re.search(r"\{.*?(\w+)\((-?\d+)\)", message)
    if match is None:
        return "the process of this point ended"
    if match[1] == "EXIT":
        return f"the process of this point ended with status {match[2]}"
    hint = KILL_HINT if match[1] == "SIGKILL" else ""
    return f"the process of this point was killed by {match[1]}{hint}"


def run_job(config: DictConfig) -> Outcome:
    """Run a point in a worker of an engine; called by Hydra's launcher."""
    hydra = HydraConfig.get()
    os.chdir(hydra.runtime.cwd)  # workers may start in another folder
    search_modules(
        source.path for source in hydra.runtime.config_sources if source.schema == "file"
    )
    end_with_the_sweep()
    limit_process()
    return run_point(*prepare_point(config, hydra.overrides.task, hydra.job.num))


def check_engine(hydra: DictConfig) -> None:
    """Raise ``InputError`` for an invalid number of parallel points."""
    n_jobs, size = hydra.launcher.get("n_jobs", -1), hydra.sweeper.get("max_batch_size")
    if type(n_jobs) is not int or (n_jobs < 1 and n_jobs != -1):
        raise InputError(f"hydra.launcher.n_jobs={n_jobs!r}: give the number of processes, or -1")
    if size is not None and (type(size) is not int or size < 1):
        raise InputError(f"hydra.sweeper.max_batch_size={size!r}: give a whole number, or null")


def launch(
    jobs: Sequence[Job], command: Command, progress: SweepProgress, results: Path
) -> tuple[dict[str, Outcome], str]:
    """Run jobs by the command's Hydra launcher, resubmitting those without an outcome.

    Returns the outcomes by point and the last error. Raises ``InputError`` for an unusable
    launcher.
    """
    hydra = command.config.hydra
    context = HydraContext(GlobalHydra.instance().config_loader(), Callbacks())
    try:
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=run_job, config=command.config
        )
    except Exception as error:
        name = hydra.runtime.choices["hydra/launcher"]
        raise InputError(f"hydra/launcher={name} fails: {error}; choose another engine") from error
    outcomes: dict[str, Outcome] = {}
    unfinished, number, last_error, n_without_progress = list(jobs), 0, "", 0
    while unfinished and n_without_progress < TRIES:
        size = hydra.sweeper.max_batch_size or len(unfinished)
        for batch in (unfinished[i : i + size] for i in range(0, len(unfinished), size)):
            try:
                returns = launcher.launch([job.overrides for job in batch], initial_job_idx=number)
                outcomes |= _outcomes_of(batch, returns)
            except Exception as error:
                previous_error, last_error = last_error, _shorten(error)
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
    return outcomes, last_error


def _shorten(error: Exception) -> str:
    """Return an engine's error in one line: the first sentence of each of its lines."""
    lines = str(error).splitlines()
    sentences = dict.fromkeys(line.partition(". ")[0].strip() for line in lines if line.strip())
    return shorten(f"{type(error).__name__}: {'; '.join(sentences)}", MAX_ERROR_LENGTH)


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
