"""The configuration of a command, composed by Hydra, and what is read from a configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.conf import HydraConf
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from files import InputError, nearest
from train.configure import to_planner, to_point, to_study
from train.front.options import read_options
from train.front.refuse import OF_INPUT, one_line
from train.front.spell import quote

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from analysis.planner import Planner
    from analysis.study import Study
    from train.point import Point

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
DATA = "BIASBRIDGE_DATA"
# What of Hydra is not open to an experiment: where it writes, and what would run code
CLOSED = ("callbacks", "job.chdir", "job.env_copy", "job.env_set", "output_subdir", "run", "sweep")
NO_LOG = {"version": 1, "root": None, "disable_existing_loggers": False}
TARGET = "_target_"


def data_path(relative: str) -> str:
    """A path inside the folder of real data, for ``${data:...}`` in configuration files."""
    folder = os.environ.get(DATA)
    if not folder:
        raise InputError(
            f"this choice reads {relative} from the folder named by {DATA}, which is not set; set"
            " it, or give the path"
        )
    return str(Path(folder) / relative)


OmegaConf.register_new_resolver("data", data_path, replace=True)


class Command(NamedTuple):
    """A command line: its overrides of Hydra, those of the configuration, and what comes of them
    but for those that give several values.
    """

    hydra: list[str]
    overrides: list[str]
    config: DictConfig

    @property
    def is_sweep(self) -> bool:
        """Whether it asks for a sweep, not for one point."""
        return bool(self.config.hydra.mode == RunMode.MULTIRUN)


def read_command(arguments: Sequence[str]) -> Command:
    """The configuration that a command line asks for, Hydra having been started. Raises
    ``InputError``.
    """
    options = read_options(arguments)
    given = parse(options.overrides)
    folder = Path(options.config_dir).resolve() if options.config_dir else None
    search = [f"hydra.searchpath=[{quote(f'file://{folder}')}]"] if folder else []
    hydra = search + [_line(each) for each in given if each.is_hydra_override()]
    own = [each for each in given if not each.is_hydra_override()]
    single = [_line(each) for each in own if not each.is_sweep_override()]
    config = compose("config", overrides=hydra + single, return_hydra_config=True)
    refuse_code(config.hydra)
    command = Command(hydra, [_line(each) for each in own], config)
    several = [each for each in own if each.is_sweep_override()]
    if several and not command.is_sweep:
        raise InputError(
            f"{_line(several[0])}: several values are a sweep, and this runs one point; give one"
            " value, or hydra.mode=MULTIRUN"
        )
    return command


def refuse_code(hydra: DictConfig) -> None:
    """Raise ``InputError`` where files or command change more of Hydra than what is swept over and
    on which engine.
    """
    own = OmegaConf.load(CONF / "config.yaml")
    expected = OmegaConf.merge(OmegaConf.structured(HydraConf), OmegaConf.select(own, "hydra"))
    expected = OmegaConf.merge(expected, {"job_logging": NO_LOG, "hydra_logging": NO_LOG})
    for key in (*CLOSED, "job_logging", "hydra_logging"):
        if _plain(OmegaConf.select(hydra, key)) != _plain(OmegaConf.select(expected, key)):
            raise InputError(
                f"hydra.{key} is not open to change; of Hydra an experiment sets hydra.mode,"
                " hydra.sweeper and hydra.launcher"
            )
    launcher = OmegaConf.to_container(hydra.launcher)
    if TARGET in str([*launcher.values()] if isinstance(launcher, dict) else launcher):
        raise InputError(f"hydra.launcher holds {TARGET}, which would run code; leave it out")


def _plain(node: object) -> object:
    return OmegaConf.to_container(node) if OmegaConf.is_config(node) else node


def parse(lines: Sequence[str]) -> list[Override]:
    """Overrides as Hydra reads them."""
    return OverridesParser.create(GlobalHydra.instance().config_loader()).parse_overrides(
        list(lines)
    )


def _line(override: Override) -> str:
    return str(override.input_line)


def read_point(config: DictConfig) -> Point:
    """The point that a composed configuration describes."""
    return to_point(_tree(config, resolve=True), _tree(config, resolve=False))


def compose_point(overrides: Sequence[str]) -> Point:
    """The point that overrides ask for; Hydra is started for it alone. Raises ``InputError``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            return read_point(compose("config", overrides=list(overrides)))
        except OF_INPUT as error:
            raise InputError(one_line(error)) from error


def read_study(config: DictConfig) -> Study:
    """The study that concludes a configuration's sweep."""
    return to_study(_tree(config, resolve=True)["study"])


def read_planner(config: DictConfig) -> Planner:
    """What ``power=true`` asks of a configuration's sweep."""
    return to_planner(_tree(config, resolve=True)["planner"])


def check_keys(config: DictConfig, hydra: DictConfig) -> None:
    """Raise ``InputError`` for a top-level key that nothing reads, for Hydra takes ``+sed=3``, and
    for one that was taken away.

    Known are the keys of ``conf/config.yaml``, the groups chosen from, and what a ``${...}`` names.
    """
    written = OmegaConf.to_yaml(config) + OmegaConf.to_yaml(hydra)
    own = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    assert isinstance(own, dict)
    needed = {str(key) for key in own} - {"defaults", "hydra"}
    known = set(needed)
    for groups in (hydra.runtime.choices, *(each for each in own["defaults"] if each != "_self_")):
        known |= {str(group) for group in groups if not re.search("[ /@]", str(group))}
    known |= set(re.findall(r"\$\{(\w+)[.}]", written))
    for key in map(str, config):
        if key not in known | {"hydra"}:
            every = ", ".join(sorted(known))
            raise InputError(f"unknown config key {key!r}{nearest(key, known)} Known keys: {every}")
    for key in (*needed, "subject", "intrinsic", "task", "study"):
        if key not in config:
            without = f"~{key} or {key}=[]"
            raise InputError(f"the config key {key!r} is missing; give it, without {without}")


def _tree(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}
