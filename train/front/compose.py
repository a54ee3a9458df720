"""Hydra configurations: every cell of a sweep's grids composed, and each turned into a point."""

from __future__ import annotations

import copy
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from files import InputError, nearest
from train.configure import to_planner, to_point, to_study
from train.front.refuse import OF_INPUT, one_line

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from analysis.planner import Planner
    from analysis.study import Study
    from train.point import Point

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
DATA = "BIASBRIDGE_DATA"


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


def read_point(config: DictConfig) -> Point:
    """The point that a composed configuration describes."""
    return to_point(_plain(config, resolve=True), _plain(config, resolve=False))


def point_of(overrides: Sequence[str]) -> Point:
    """The point that overrides ask for; Hydra is started for it alone. Raises ``InputError``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            return read_point(compose("config", overrides=list(overrides)))
        except OF_INPUT as error:
            raise InputError(one_line(error)) from error


def read_study(config: DictConfig) -> Study:
    """The study that concludes a configuration's sweep."""
    return to_study(_plain(config, resolve=True)["study"])


def read_planner(config: DictConfig) -> Planner:
    """What ``power=true`` asks of a configuration's sweep."""
    return to_planner(_plain(config, resolve=True)["planner"])


def hydra_node() -> DictConfig:
    """Hydra's own node of the configuration, while a job runs."""
    whole = cast("DictConfig", HydraConfig.instance().cfg)
    return cast("DictConfig", whole.hydra)


def refuse_unknown_keys(config: DictConfig, hydra: DictConfig) -> None:
    """Raise ``InputError`` for a top-level key that nothing reads: Hydra takes ``+sed=3``.

    Known are the keys of ``conf/config.yaml``, the groups chosen from, and what a ``${...}`` names.
    """
    written = OmegaConf.to_yaml(config) + OmegaConf.to_yaml(hydra)
    own = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    assert isinstance(own, dict)
    known = {str(key) for key in own} - {"defaults", "hydra"}
    for groups in (hydra.runtime.choices, *(each for each in own["defaults"] if each != "_self_")):
        known |= {str(group) for group in groups if not re.search("[ /@]", str(group))}
    known |= set(re.findall(r"\$\{(\w+)[.}]", written))
    for key in map(str, config):
        if key not in known | {"hydra"}:
            every = ", ".join(sorted(known))
            raise InputError(f"unknown config key {key!r}{nearest(key, known)} Known keys: {every}")


def _plain(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}


def cells(
    params: Mapping[str, object],
    grids: Sequence[Mapping[str, object]],
    arguments: Sequence[str],
) -> list[list[str]]:
    """The overrides of every cell: the product of ``params``, or in its place of each of ``grids``,
    one after the other.

    A key given on the command line (``arguments``) takes the place of the same key in them.
    """
    given = OverridesParser.create().parse_overrides(list(arguments))
    found: list[list[str]] = []
    for grid in grids or [params]:
        lines = [f"{key}={_spell(value)}" for key, value in grid.items()]
        of_grid = OverridesParser.create().parse_overrides(lines)
        taken = {override.key_or_group for override in given}
        overrides = [override for override in of_grid if override.key_or_group not in taken] + given
        found += [list(cell) for cell in itertools.product(*map(_alternatives, overrides))]
    return found


def _spell(value: object) -> str:
    """A value in Hydra's grammar; a list, as ``${vectors}`` gives it, is what the sweep goes
    through.
    """
    if isinstance(value, list):
        return ",".join(
            "'" + str(item).replace("\\", "\\\\").replace("'", "\\'") + "'" for item in value
        )
    return str(value)


def _alternatives(override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise InputError(
            f"{override.input_line}: a grid needs single values, a list of them or range(...)"
        )
    return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]


class Composer:
    """Composes cells as Hydra does, each selection of configuration files read once: cells mostly
    differ in values alone.
    """

    def __init__(self, config_name: str) -> None:
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        assert isinstance(hydra.config_loader, ConfigLoaderImpl)
        self._loader, self._name = hydra.config_loader, config_name
        self._composed: dict[tuple[str, ...], tuple[DictConfig, DictConfig]] = {}

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """The configuration of a cell, without Hydra's own node."""
        overrides = OverridesParser.create().parse_overrides(list(cell))
        composed, hydra = self._selected(overrides)
        config = copy.deepcopy(composed)
        values = [
            override
            for override in overrides
            if not (self._selects_a_file(override) or override.is_hydra_override())
        ]
        ConfigLoaderImpl._apply_overrides_to_config(values, config)  # noqa: SLF001
        if config.keys() != composed.keys():
            refuse_unknown_keys(config, hydra)
        return config

    def selected(self, cell: Sequence[str]) -> tuple[DictConfig, Mapping[str, str]]:
        """The files that a cell selects, composed without its values, and the choice of every
        group.
        """
        composed, hydra = self._selected(OverridesParser.create().parse_overrides(list(cell)))
        return composed, {str(name): str(each) for name, each in hydra.runtime.choices.items()}

    def _selected(self, overrides: Sequence[Override]) -> tuple[DictConfig, DictConfig]:
        files = tuple(
            str(override.input_line) for override in overrides if self._selects_a_file(override)
        )
        if files not in self._composed:
            whole = self._loader.load_configuration(
                config_name=self._name,
                overrides=list(files),
                run_mode=RunMode.RUN,
                from_shell=False,
            )
            config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
            hydra: DictConfig = whole.hydra
            refuse_unknown_keys(config, hydra)
            OmegaConf.set_struct(config, True)
            self._composed[files] = config, hydra
        return self._composed[files]

    def _selects_a_file(self, override: Override) -> bool:
        return not isinstance(override.value(), dict) and self._loader.repository.group_exists(
            override.key_or_group
        )
