"""Engines that are launchers of Hydra, such as Slurm and Ray; points they lose are resubmitted."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext

from biasbridge.files import InputError
from biasbridge.train.cli.choices import search_modules
from biasbridge.train.cli.jobs import Job, limit_process, prepare_point
from biasbridge.train.engine.outcome import Outcome, read_outcome, run_point
from biasbridge.train.engine.store.locks import end_with_the_sweep

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher
    from omegaconf import DictConfig

    from biasbridge.train.cli.command import Command
    from biasbridge.train.engine.progress import SweepProgress

TRIES = 3  # launches without progress before giving up
MAX_ERROR_LENGTH = 500  # characters printed of an engine's error

log = logging.getLogger(__name__)


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


def launch(
    jobs: Sequence[Job], command: Command, progress: SweepProgress, results: Path
) -> tuple[dict[str, Outcome], str]:
    """Run jobs by the command's Hydra launcher, resubmitting those without an outcome.

    Returns the outcomes by point and the last error. Raises ``InputError`` for an unusable
    launcher.
    """
    launcher, size = _create_launcher(command.config), command.config.hydra.sweeper.max_batch_size
    outcomes: dict[str, Outcome] = {}
    unfinished, number, last_error, n_without_progress = list(jobs), 0, "", 0
    while unfinished and n_without_progress < TRIES:
        step = size or len(unfinished)
        for batch in (unfinished[i : i + step] for i in range(0, len(unfinished), step)):
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


def _create_launcher(config: DictConfig) -> Launcher:
    context = HydraContext(GlobalHydra.instance().config_loader(), Callbacks())
    try:
        return Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=run_job, config=config
        )
    except Exception as error:
        name = config.hydra.runtime.choices["hydra/launcher"]
        raise InputError(f"hydra/launcher={name} fails: {error}; choose another engine") from error


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
