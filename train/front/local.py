"""The default engine: points side by side on this machine, each in a child process of this one."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hydra.core.utils import JobReturn, JobStatus

from train.front.compose import Composer, read_point
from train.front.door import open_store, run_apart
from train.front.settings import read_settings
from train.outcome import results_folder
from train.point import plan_point
from train.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omegaconf import DictConfig

    from train.outcome import Outcome


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def launch(
    config: DictConfig, n_jobs: int, overrides: Sequence[Sequence[str]], first: int
) -> list[JobReturn]:
    """Run the jobs by ``n_jobs`` children, or one a core where that is -1; each job's outcome.

    Each thread has a child of its own, started anew where it died; an interrupt ends them all.
    """
    compose = Composer(config.hydra.job.config_name)
    workers: dict[int, Worker] = {}  # by the thread that each serves

    def prepared(words: Sequence[str], number: int) -> Callable[[], Outcome]:
        cell = compose(words)
        settings = read_settings(cell)
        store = open_store(cell, settings, words, number)
        plan, results = plan_point(read_point(cell), store), results_folder(settings.results)

        def run() -> Outcome:
            worker = workers.setdefault(threading.get_ident(), Worker())
            return run_apart(plan, store, results, worker)

        return run

    jobs = [prepared(words, number) for number, words in enumerate(overrides, first)]
    pool = ThreadPoolExecutor(cores() if n_jobs < 1 else n_jobs)
    try:
        outcomes = list(pool.map(lambda job: job(), jobs))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers.values():
            worker.stop()
    return [_returned(outcome) for outcome in outcomes]


def _returned(outcome: Outcome) -> JobReturn:
    done = JobReturn(status=JobStatus.COMPLETED)
    done.return_value = outcome
    return done
