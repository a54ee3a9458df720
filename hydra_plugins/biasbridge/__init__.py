"""The sweeper and the default engine, where Hydra looks for plugins. It imports nothing of the
project until a sweep of the project runs.

Hydra imports this module at the start of every application in the environment, whether it is ours
or not.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hydra.core.utils import JobReturn
    from hydra.types import HydraContext, TaskFunction
    from omegaconf import DictConfig


class GridSweeper(Sweeper):
    """The product of ``params``, or the union of the products of ``grids``, run in parts of at most
    ``max_batch_size``.

    The fields are read from the configuration; see ``train.front.sweep``.
    """

    def __init__(self, **fields: object) -> None:
        pass

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what the launcher will need."""
        self._config = config
        self._launcher = partial(_make_launcher, hydra_context, task_function, config)

    def sweep(self, arguments: list[str]) -> None:
        """Run the sweep and leave its exit status with the front door."""
        from train.front.door import Door
        from train.front.sweep import sweep

        Door.status = sweep(self._config, self._launcher, arguments)


def _make_launcher(
    hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
) -> Launcher:
    from hydra.core.plugins import Plugins

    from train.front.refuse import refuse_engine

    try:
        return Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )
    except Exception as error:
        raise refuse_engine(error, str(config.hydra.runtime.choices["hydra/launcher"])) from error


class LocalLauncher(Launcher):
    """Points side by side on this machine, each in a child process; see ``train.front.local``."""

    def __init__(self, n_jobs: int = -1) -> None:
        self._n_jobs = n_jobs

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what is launched."""
        self._config = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """The outcome of each job."""
        from train.front.local import launch

        return launch(self._config, self._n_jobs, job_overrides, initial_job_idx)
