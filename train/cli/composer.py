"""Cells of a sweep composed to configurations, whose top-level keys are checked."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict

from files import InputError, nearest
from train.cli import CONF
from train.cli.choices import TARGET, find_class
from train.cli.grid import line_of, parse_overrides

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


class Composer:
    """Composer of cells that reads each selection of configuration files once.

    Cells mostly differ in values alone. ``hydra``: the command's overrides of Hydra.
    """

    def __init__(self, hydra: Sequence[str] = ()) -> None:
        self._hydra = list(hydra)
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """Return the configuration of a cell, without Hydra's own node."""
        overrides = parse_overrides(cell)
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
