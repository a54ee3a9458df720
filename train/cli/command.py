"""Command lines composed by Hydra, which may change only parts of Hydra's own configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hydra import compose
from hydra.conf import HydraConf
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from biasbridge.files import InputError
from biasbridge.train.cli import CONF
from biasbridge.train.cli.grid import build_cells, line_of, parse_overrides

if TYPE_CHECKING:
    from argparse import Namespace

# Keys of Hydra closed to experiments: output folders, and what would run code
CLOSED = ("callbacks", "job.chdir", "job.env_copy", "job.env_set", "output_subdir", "run", "sweep")
NO_LOG = {"version": 1, "root": None, "disable_existing_loggers": False}
TARGET = "_target_"


class Command(NamedTuple):
    """A command line.

    ``hydra``: overrides of Hydra; ``overrides``: of the configuration; ``config``: composed from
    all overrides with a single value.
    """

    hydra: list[str]
    overrides: list[str]
    config: DictConfig

    @property
    def is_sweep(self) -> bool:
        """Whether the command runs a sweep, not one point."""
        return bool(self.config.hydra.mode == RunMode.MULTIRUN)


def read_command(options: Namespace) -> Command:
    """Compose the configuration of a command line. Hydra must run. Raises ``InputError``."""
    parsed = parse_overrides(options.overrides)
    hydra = [line_of(override) for override in parsed if override.is_hydra_override()]
    hydra += options.hydra
    overrides = [override for override in parsed if not override.is_hydra_override()]
    single = [line_of(override) for override in overrides if not override.is_sweep_override()]
    config = compose("config", overrides=hydra + single, return_hydra_config=True)
    refuse_code(config.hydra)
    command = Command(hydra, [*map(line_of, overrides)], config)
    multiple = [override for override in overrides if override.is_sweep_override()]
    if multiple and not command.is_sweep:
        raise InputError(
            f"{line_of(multiple[0])}: several values need a sweep, and this runs one point; give"
            " one value, or --multirun"
        )
    return command


def list_cells(command: Command) -> list[list[str]]:
    """Return the overrides of each cell, or of the one point. Raises ``InputError`` for no grid."""
    if not command.is_sweep:
        return [command.overrides]
    sweeper = OmegaConf.to_container(command.config.hydra.sweeper, resolve=True)
    assert isinstance(sweeper, dict)
    params, grids = sweeper.get("params") or {}, sweeper.get("grids") or []
    if not isinstance(grids, list):
        raise InputError(f"hydra.sweeper.grids={grids!r}: give a list of mappings")
    return build_cells(params, grids, command.overrides)


def refuse_code(hydra: DictConfig) -> None:
    """Raise ``InputError`` if files or command change more of Hydra than grid and engine."""
    defaults = OmegaConf.load(CONF / "config.yaml")
    expected = OmegaConf.merge(OmegaConf.structured(HydraConf), OmegaConf.select(defaults, "hydra"))
    expected = OmegaConf.merge(expected, {"job_logging": NO_LOG, "hydra_logging": NO_LOG})
    for key in (*CLOSED, "job_logging", "hydra_logging"):
        if _plain(OmegaConf.select(hydra, key)) != _plain(OmegaConf.select(expected, key)):
            raise InputError(
                f"hydra.{key} cannot be changed; an experiment may set hydra.mode, hydra.sweeper"
                " and hydra.launcher"
            )
    launcher = OmegaConf.to_container(hydra.launcher)
    if TARGET in str([*launcher.values()] if isinstance(launcher, dict) else launcher):
        raise InputError(f"hydra.launcher contains {TARGET}, which would run code; leave it out")


def _plain(node: object) -> object:
    return OmegaConf.to_container(node) if OmegaConf.is_config(node) else node
