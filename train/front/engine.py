"""What runs the points of a sweep: processes of this machine, or a launcher of Hydra's (Slurm,
Ray). Points that a broken engine lost are handed over again.
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
from train.configure import search_modules
from train.device import pick_device
from train.front.compose import read_point, read_settings
from train.outcome import Outcome, read_outcome, run_point, write_outcome
from train.point import Plan, plan_point
from train.store import Store
from train.store.lease import end_with_the_sweep

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from train.front.compose import Command, Composer
    from train.progress import SweepProgress

LOCAL = "local"
TRIES = 3  # launches in vain, or rounds of a sweep, before it is given up
LONGEST_TROUBLE = 500  # characters that are shown of an engine's error
LIMITS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("TQDM_DISABLE", "HF_DATASETS_DISABLE_PROGRESS_BARS"), "1"),
}
KILLED = "; the system kills so when memory runs out: give fewer workers or smaller models"

log = logging.getLogger(__name__)


class Job(NamedTuple):
    """A point and the overrides that compose it."""

    plan: Plan
    overrides: list[str]


class Ready(NamedTuple):
    """What a process needs to run a point."""

    plan: Plan
    store: Store
    results: Path


def make_ready(config: DictConfig, overrides: Sequence[str], number: int) -> Ready:
    """What a process needs to run job ``number``: the plan on its device, and the store, which
    notes the command that repeats it.
    """
    config.device = pick_device(str(config.device), number)
    command = f"python train.py {shlex.join(['hydra.mode=RUN', *overrides])}"
    settings = read_settings(config)
    store = Store(settings.store, {"command": command, "device": config.device})
    return Ready(plan_point(read_point(config), store), store, Path(settings.results).resolve())


def limit_process() -> None:
    """One thread for torch and BLAS, loaded already or later: cores are not oversubscribed, and
    sums in another order would change digits. No progress bars but the sweep's own.
    """
    os.environ |= LIMITS
    threadpool_limits(limits=1)


def run_here(job: Job, config: DictConfig, results: Path) -> dict[str, Outcome]:
    """The outcome of one point, run in this process, where a debugger can follow. Raises
    ``InputError`` where it is refused.
    """
    limit_process()
    plan, store, _ = make_ready(config, job.overrides, 0)
    outcome = run_point(plan, store, results)
    if outcome.refused:
        raise InputError(outcome.error)
    return {plan.key: outcome}


def count_cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count  # takes long to import

    return int(cpu_count())


def count_workers(hydra: DictConfig, n_points: int) -> int:
    """Return how many cores of this machine work at a sweep of so many points."""
    at_once = hydra.launcher.get("n_jobs", -1)
    cores = count_cores()
    return min(n_points, cores if at_once == -1 else min(at_once, cores))


def run_locally(jobs: Sequence[Job], compose: Composer, n_jobs: int) -> dict[str, Outcome]:
    """The outcome of each job by point, ``n_jobs`` at a time, -1: one a core.

    A killed process breaks the pool, and the next round runs what is missing, with the points that
    may have been running last. After a round that finished nothing these run first, each in a pool
    of its own, so that the one whose process ends costs only itself.
    """
    width = count_cores() if n_jobs == -1 else n_jobs
    left = [make_ready(compose(job.overrides), job.overrides, i) for i, job in enumerate(jobs)]
    outcomes: dict[str, Outcome] = {}
    while left:
        ended = _run_round(left, width, outcomes)
        lost = [each for each in left if each.plan.key not in outcomes]
        if lost:
            log.warning("%s; the points that are not finished are handed over again", ended)
        running, waiting = lost[:width], lost[width:]  # the pool takes them in turn
        if len(lost) == len(left):
            for each in running:
                if ended := _run_round([each], 1, outcomes):
                    outcome = Outcome(each.plan.key, "failed", ended)
                    outcomes[each.plan.key] = write_outcome(outcome, each.results)
            running = []
        left = waiting + running
    return outcomes


def _run_round(left: Sequence[Ready], width: int, outcomes: dict[str, Outcome]) -> str:
    """Add the outcomes of what finishes; how the process ended that broke the pool, if one did."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(min(width, len(left)), initializer=_start_local_worker)
    # The workers inherit the blocked signal: an interrupt is this process's business alone. A first
    # start of the tracker, which the first worker would make otherwise, unblocks it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        try:
            futures = [pool.submit(run_point, *each) for each in left]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
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
    """How a process ended, from the ``{SIGKILL(-9)}`` or ``{EXIT(7)}`` of loky's message."""
    found = re.search(r"\{.*?(\w+)\((-?\d+)\)", message)
    if found is None:
        return "the process of this point ended"
    if found[1] == "EXIT":
        return f"the process of this point ended with status {found[2]}"
    return f"the process of this point was killed by {found[1]}{KILLED * (found[1] == 'SIGKILL')}"


def run_job(config: DictConfig) -> Outcome:
    """Run a point in a worker of an engine; what a launcher of Hydra's calls."""
    hydra = HydraConfig.get()
    os.chdir(hydra.runtime.cwd)  # an engine may start its workers elsewhere
    search_modules(
        source.path for source in hydra.runtime.config_sources if source.schema == "file"
    )
    end_with_the_sweep()
    limit_process()
    return run_point(*make_ready(config, hydra.overrides.task, hydra.job.num))


def check_engine(hydra: DictConfig) -> None:
    """Raise ``InputError`` for how many points at once that is no number."""
    at_once, batch = hydra.launcher.get("n_jobs", -1), hydra.sweeper.get("max_batch_size")
    if type(at_once) is not int or (at_once < 1 and at_once != -1):
        raise InputError(f"hydra.launcher.n_jobs={at_once!r}: give how many points at once, or -1")
    if batch is not None and (type(batch) is not int or batch < 1):
        raise InputError(f"hydra.sweeper.max_batch_size={batch!r}: give a whole number, or null")


def launch(
    jobs: Sequence[Job], command: Command, progress: SweepProgress, results: Path
) -> tuple[dict[str, Outcome], str]:
    """The outcome of each job by point, by the launcher of Hydra's that the command chooses; and
    what that stopped for last. Jobs that it left without an outcome are handed over again, until
    that gets nowhere. Raises ``InputError`` where it is of no use here.
    """
    hydra = command.config.hydra
    context = HydraContext(GlobalHydra.instance().config_loader(), Callbacks())
    try:
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=run_job, config=command.config
        )
    except Exception as error:
        name = hydra.runtime.choices["hydra/launcher"]
        raise InputError(f"hydra/launcher={name} cannot be used here: {error}") from error
    outcomes: dict[str, Outcome] = {}
    left, number, trouble, in_vain = list(jobs), 0, "", 0
    while left and in_vain < TRIES:
        size = hydra.sweeper.max_batch_size or len(left)
        for batch in (left[start : start + size] for start in range(0, len(left), size)):
            try:
                returns = launcher.launch([job.overrides for job in batch], initial_job_idx=number)
                outcomes |= _outcomes_of(batch, returns)
            except Exception as error:
                before, trouble = trouble, _shorten(error)
                if trouble != before:
                    what = "the engine stopped, its unfinished points are handed over again"
                    log.warning("%s: %s", what, trouble)
            number += len(batch)
        for point in progress.new_outcomes() - outcomes.keys():
            if noted := read_outcome(results, point):
                outcomes[point] = noted
        lost = [job for job in left if job.plan.key not in outcomes]
        in_vain = in_vain + 1 if len(lost) == len(left) else 0
        left = lost
    return outcomes, trouble


def _shorten(error: Exception) -> str:
    """An engine's error in one line: the first sentence of each of its lines."""
    lines = str(error).splitlines()
    sentences = dict.fromkeys(line.partition(". ")[0].strip() for line in lines if line.strip())
    return shorten(f"{type(error).__name__}: {'; '.join(sentences)}", LONGEST_TROUBLE)


def _outcomes_of(batch: Sequence[Job], returns: Sequence[JobReturn]) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for job, done in zip(batch, returns, strict=False):
        key = job.plan.key
        if done.status == JobStatus.COMPLETED:
            found[key] = done.return_value
        else:
            error: object = done._return_value  # noqa: SLF001 - return_value raises it
            found[key] = Outcome(key, "failed", f"{type(error).__name__}: {error}")
    return found
