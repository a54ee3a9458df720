"""Jobs of a sweep: a point planned in the process that runs it, with its threads and device."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from threadpoolctl import threadpool_limits

from biasbridge.files import InputError
from biasbridge.files.folders import TRAIN
from biasbridge.train.cli.composer import Cell, Composer
from biasbridge.train.cli.configure import read_point
from biasbridge.train.cli.options import searched_folder
from biasbridge.train.cli.override_quoting import format_override
from biasbridge.train.cli.settings import read_settings
from biasbridge.train.engine.device import pick_device
from biasbridge.train.engine.outcome import Outcome, run_point
from biasbridge.train.engine.part import Planned
from biasbridge.train.engine.point import Plan, plan_point
from biasbridge.train.engine.store import Store

if TYPE_CHECKING:
    from omegaconf import DictConfig

LIMITS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("TQDM_DISABLE", "HF_DATASETS_DISABLE_PROGRESS_BARS"), "1"),
}


class Job(NamedTuple):
    """A point and the overrides that compose it."""

    plan: Plan
    overrides: list[str]


def distinct(jobs: Iterable[Job]) -> list[Job]:
    """Return a job per point."""
    return list({job.plan.key: job for job in jobs}.values())


def distinct_plans(jobs: Iterable[Job]) -> list[Plan]:
    """Return the plans of the distinct points."""
    return [job.plan for job in distinct(jobs)]


class PreparedPoint(NamedTuple):
    """Arguments of ``run_point`` in a worker process."""

    plan: Plan
    store: Store
    results: Path


def prepare_point(config: DictConfig, overrides: Sequence[str], number: int) -> PreparedPoint:
    """Plan job ``number`` on its device; the store records the command that repeats it."""
    config.device = pick_device(str(config.device), number)
    cell = Cell(read_point(config), read_settings(config), config.device)
    return _prepare(cell, overrides, Planned())


def prepare_points(jobs: Sequence[Job], compose: Composer) -> Iterator[PreparedPoint]:
    """Yield each job planned on its device."""
    planned: dict[str, Planned] = {}  # by device, which is in the choices and not in their keys
    for number, job in enumerate(jobs):
        cell = compose.read(job.overrides)
        if (device := pick_device(cell.device, number)) != cell.device:
            cell = compose.read([*job.overrides, format_override("device", device)])
        yield _prepare(cell, job.overrides, planned.setdefault(device, Planned()))


def _prepare(cell: Cell, overrides: Sequence[str], planned: Planned) -> PreparedPoint:
    folder = searched_folder()
    options = ["--config-dir", folder] if folder else []
    command = f"{TRAIN} {shlex.join([*options, 'hydra.mode=RUN', *overrides])}"
    store = Store(cell.settings.store, {"command": command, "device": cell.device})
    plan = plan_point(cell.point, store, planned)
    return PreparedPoint(plan, store, Path(cell.settings.results).resolve())


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


def check_engine(hydra: DictConfig) -> None:
    """Raise ``InputError`` for an invalid number of parallel points."""
    n_jobs, size = hydra.launcher.get("n_jobs", -1), hydra.sweeper.get("max_batch_size")
    if type(n_jobs) is not int or (n_jobs < 1 and n_jobs != -1):
        raise InputError(f"hydra.launcher.n_jobs={n_jobs!r}: give the number of processes, or -1")
    if size is not None and (type(size) is not int or size < 1):
        raise InputError(f"hydra.sweeper.max_batch_size={size!r}: give a whole number, or null")
