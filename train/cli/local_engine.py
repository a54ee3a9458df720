"""Engine of this machine: a pool of processes, renewed when one is killed."""

from __future__ import annotations

import logging
import re
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from biasbridge.train.cli.jobs import Job, PreparedPoint, limit_process, prepare_points
from biasbridge.train.engine.outcome import Outcome, run_point, write_outcome
from biasbridge.train.engine.store.locks import end_with_the_sweep

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from biasbridge.train.cli.composer import Composer

KILL_HINT = "; out of memory is the usual reason: give fewer workers or smaller models"

log = logging.getLogger(__name__)


def count_cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count  # takes long to import

    return int(cpu_count())


def count_workers(hydra: DictConfig, n_points: int) -> int:
    """Return how many cores of this machine run a sweep of ``n_points`` points."""
    is_serial = str(hydra.launcher.get("_target_", "")).endswith("BasicLauncher")
    n_jobs = 1 if is_serial else hydra.launcher.get("n_jobs", -1)
    cores = count_cores()
    return min(n_points, cores if n_jobs == -1 else min(n_jobs, cores))


def run_locally(jobs: Sequence[Job], compose: Composer, n_jobs: int) -> dict[str, Outcome]:
    """Run jobs, ``n_jobs`` at a time (-1: one per core); return the outcomes by point.

    A killed process breaks the pool. The next round runs the missing points, with those that may
    have been running last. After a round without progress these run first, each in its own pool, so
    that a point whose process dies fails alone.
    """
    n_workers = count_cores() if n_jobs == -1 else n_jobs
    unfinished = list(prepare_points(jobs, compose))
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
    # Workers inherit the blocked signal: only this process handles interrupts. The trackers are
    # started first, as their start by the first worker would unblock the signal.
    start_trackers()
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


def start_trackers() -> None:
    """Start the processes that remove semaphores which a sweep leaves, without their warnings.

    At an interrupt, threads of the pool end with this process: between the removal of a semaphore
    and its report to the tracker, which would print a warning after the last line.
    """
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    sys.warnoptions.append("ignore:resource_tracker")
    try:
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


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
