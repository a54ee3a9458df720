"""Cells of a sweep composed to configurations, whose top-level keys are checked."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict

from biasbridge.files import Choice, InputError, nearest
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import TARGET, find_class
from biasbridge.train.cli.configure import read_point
from biasbridge.train.cli.grid import line_of, parse_overrides
from biasbridge.train.cli.settings import Settings, read_settings

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from biasbridge.train.engine.point import Point

SEED = re.compile(r"\$\{\.*seed\}")  # in a value: such points differ in more than the seed


class Cell(NamedTuple):
    """What a cell of a sweep is composed to."""

    point: Point
    settings: Settings
    device: str


class Composer:
    """Composer of cells that reads each selection of configuration files once.

    Cells mostly differ in values alone, and many in the seed alone: those share the parts of their
    points. ``hydra``: the command's overrides of Hydra.
    """

    def __init__(self, hydra: Sequence[str] = ()) -> None:
        self._hydra = list(hydra)
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], DictConfig] = {}
        self._parsed: dict[str, Override] = {}
        self._cells: dict[tuple[str, ...], Cell | None] = {}  # by all overrides but the seed
        self._built: dict[str, Choice] = {}

    def read(self, cell: Sequence[str]) -> Cell:
        """Return what a cell is composed to. Raises ``InputError``."""
        seeds = [line for line in cell if _is_seed(self._parse(line))]
        others = tuple(line for line in cell if line not in seeds)
        if len(seeds) == 1 and others not in self._cells:
            config = self(cell)
            is_shared = not SEED.search(OmegaConf.to_yaml(config))
            self._cells[others] = self._read(config) if is_shared else None
        shared = self._cells.get(others)
        if len(seeds) != 1 or shared is None:
            return self._read(self(cell))
        seed = self._parse(seeds[0]).value()
        assert isinstance(seed, int)
        return shared._replace(point=shared.point.with_seed(seed))

    def _read(self, config: DictConfig) -> Cell:
        point = read_point(config, self._built)
        return Cell(point, read_settings(config), str(config.device))

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """Return the configuration of a cell, without Hydra's own node."""
        overrides = [self._parse(line) for line in cell]
        files = tuple(line_of(override) for override in overrides if self._selects_a_file(override))
        if files not in self._selected:
            self._selected[files] = self._compose(files)
        changes = [override for override in overrides if line_of(override) not in files]
        if not all(_changes_existing(change, self._selected[files]) for change in changes):
            return self._compose(cell)
        config = copy.deepcopy(self._selected[files])
        for change in changes:
            OmegaConf.update(config, change.key_or_group, change.value(), merge=True)
        return config

    def _parse(self, line: str) -> Override:
        if line not in self._parsed:
            [self._parsed[line]] = parse_overrides([line])
        return self._parsed[line]

    def _compose(self, overrides: Sequence[str]) -> DictConfig:
        lines = [*self._hydra, *overrides]
        whole = compose("config", overrides=lines, return_hydra_config=True)
        check_keys(whole, whole.hydra)
        drop_options_of_other_choices(whole, whole.hydra)
        config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
        OmegaConf.set_struct(config, True)
        return config

    def _selects_a_file(self, override: Override) -> bool:
        key = override.key_or_group
        if key not in self._groups:
            loader = GlobalHydra.instance().config_loader()
            names = loader.get_group_options(key, config_name="config", overrides=self._hydra)
            self._groups[key] = bool(names)
        return self._groups[key] and not isinstance(override.value(), dict)


def _is_seed(override: Override) -> bool:
    """Test whether an override sets the seed to a whole number."""
    is_change = override.type == OverrideType.CHANGE and override.package is None
    return is_change and override.key_or_group == "seed" and type(override.value()) is int


def _changes_existing(override: Override, config: DictConfig) -> bool:
    """Test whether an override changes an existing key, which needs no composition by Hydra."""
    parent, _, name = override.key_or_group.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    exists = isinstance(node, DictConfig) and name in map(str, node)
    return exists and override.type == OverrideType.CHANGE and override.package is None


def drop_options_of_other_choices(config: DictConfig, hydra: DictConfig) -> None:
    """Remove the options that an experiment sets for its own choice of a group, where the command
    chooses another one that lacks them.
    """
    given = {override.key_or_group for override in parse_overrides(hydra.overrides.task)}
    name = hydra.runtime.choices.get("experiment")
    sources = hydra.runtime.config_sources if name else ()
    for place in (Path(source.path, "experiment", f"{name}.yaml") for source in sources):
        experiment = OmegaConf.load(place) if place.is_file() else DictConfig({})
        assert isinstance(experiment, DictConfig)
        for group in given & {*map(str, experiment)}:
            node = config.get(group)
            if isinstance(node, DictConfig) and TARGET in node:
                fields = dataclasses.fields(find_class(node[TARGET], group))
                names = {*map(str, experiment[group])} - {field.name for field in fields} - {TARGET}
                with open_dict(node):
                    for key in names:
                        if f"{group}.{key}" not in given:
                            node.pop(key, None)


def check_keys(config: DictConfig, hydra: DictConfig) -> None:
    """Raise ``InputError`` for a top-level key that nothing reads, and for a missing one.

    Known keys: those of ``conf/config.yaml``, chosen groups, and names in ``${...}``.
    """
    written = OmegaConf.to_yaml(config) + OmegaConf.to_yaml(hydra)
    base = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    assert isinstance(base, dict)
    required = {str(key) for key in base} - {"defaults", "hydra"}
    known, defaults = set(required), base["defaults"]
    for groups in (hydra.runtime.choices, *(group for group in defaults if group != "_self_")):
        known |= {str(group) for group in groups if not re.search("[ /@]", str(group))}
    known |= set(re.findall(r"\$\{(\w+)[.}]", written))
    for key in map(str, config):
        if key not in known | {"hydra"}:
            names = ", ".join(sorted(known))
            raise InputError(
                f"unknown config key {key!r}{nearest(key, known)} (known keys: {names})"
            )
    for key in (*required, "subject", "intrinsic", "task", "study"):
        if key not in config:
            remedy = f"do not remove it with ~{key} or {key}=[]"
            raise InputError(f"the config key {key!r} is missing; {remedy}")
