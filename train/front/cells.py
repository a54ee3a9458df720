"""The cells of a sweep: its grids multiplied out, and each cell composed."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf

from files import InputError
from train.front.compose import check_keys, parse

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

MOST_CELLS = 100_000


def build_cells(
    params: Mapping[str, object],
    grids: Sequence[Mapping[str, object]],
    arguments: Sequence[str],
) -> list[list[str]]:
    """The overrides of every cell: the product of ``params``, or in its place of each of ``grids``,
    one after the other.

    A key given on the command line (``arguments``) takes the place of the same key in them. Raises
    ``InputError`` for what is no grid, and for more than ``MOST_CELLS``.
    """
    given = parse(arguments)
    taken = {override.key_or_group for override in given}
    of_grids: list[list[list[str]]] = []
    for name, grid in [(f"grids[{i}]", each) for i, each in enumerate(grids)] or [
        ("params", params)
    ]:
        if not isinstance(grid, Mapping):
            raise InputError(f"hydra.sweeper.{name}={grid!r}: give a mapping of keys to values")
        lines = [f"{key}={_spell(value)}" for key, value in grid.items()]
        own = [override for override in parse(lines) if override.key_or_group not in taken]
        of_grids.append([_list_values(override) for override in own + given])
    if (count := sum(math.prod(map(len, values)) for values in of_grids)) > MOST_CELLS:
        raise InputError(
            f"the sweep has {count:,} cells or more; give fewer values, at most {MOST_CELLS:,}"
            " cells in all"
        )
    return [list(cell) for values in of_grids for cell in itertools.product(*values)]


def _spell(value: object) -> str:
    """A value in Hydra's grammar; a list, as ``${vectors}`` gives it, is what the sweep goes
    through.
    """
    if isinstance(value, list):
        return ",".join(
            "'" + str(item).replace("\\", "\\\\").replace("'", "\\'") + "'" for item in value
        )
    return str(value)


def _list_values(override: Override) -> list[str]:
    """An override for each of its values, of which no more are listed than are allowed."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise InputError(
            f"{override.input_line}: a grid needs single values, a list of them or range(...)"
        )
    key, values = override.get_key_element(), override.sweep_string_iterator()
    listed = [f"{key}={value}" for value in itertools.islice(values, MOST_CELLS + 1)]
    if not listed:
        raise InputError(f"{override.input_line} gives no value to sweep over; give one")
    return listed


class Selected(NamedTuple):
    """The files that a cell selects, composed without its values."""

    config: DictConfig
    hydra: DictConfig


class Composer:
    """Composes cells as Hydra does, each selection of configuration files read once: cells mostly
    differ in values alone. ``hydra``: the command's overrides of Hydra.
    """

    def __init__(self, hydra: Sequence[str]) -> None:
        self._hydra = list(hydra)
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], Selected] = {}

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """The configuration of a cell, without Hydra's own node."""
        overrides = parse(cell)
        chosen, hydra = self.select(overrides)
        values = [each for each in overrides if not self._selects_a_file(each)]
        if not all(_is_plain(each, chosen) for each in values):
            whole = compose("config", overrides=[*self._hydra, *cell])
            check_keys(whole, hydra)
            return whole
        config = copy.deepcopy(chosen)
        for each in values:
            OmegaConf.update(config, each.key_or_group, each.value(), merge=True)
        return config

    def select(self, overrides: Iterable[Override]) -> Selected:
        """The files that overrides select, composed, and Hydra's own node."""
        files = tuple(str(each.input_line) for each in overrides if self._selects_a_file(each))
        if files not in self._selected:
            whole = compose("config", overrides=[*self._hydra, *files], return_hydra_config=True)
            config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
            check_keys(config, whole.hydra)
            OmegaConf.set_struct(config, True)
            self._selected[files] = Selected(config, whole.hydra)
        return self._selected[files]

    def _selects_a_file(self, override: Override) -> bool:
        key = override.key_or_group
        if key not in self._groups:
            loader = GlobalHydra.instance().config_loader()
            found = loader.get_group_options(key, config_name="config", overrides=self._hydra)
            self._groups[key] = bool(found)
        return self._groups[key] and not isinstance(override.value(), dict)


def _is_plain(override: Override, config: DictConfig) -> bool:
    """Whether it gives another value to a key that is there, which needs nothing of Hydra."""
    changes = override.type == OverrideType.CHANGE and override.package is None
    return changes and _has(config, override.key_or_group)


def describe_partial_key(
    arguments: Sequence[str], asked: Iterable[Sequence[str]], compose_cell: Composer
) -> str:
    """What to do about the first key of the command line that some of the cells ``asked`` have and
    others lack; empty where there is none.
    """
    chosen = [compose_cell.select(parse(cell)) for cell in asked]
    for key in (each.key_or_group for each in parse(arguments) if "." in each.key_or_group):
        having = [hydra.runtime.choices for config, hydra in chosen if _has(config, key)]
        lacking = [hydra.runtime.choices for config, hydra in chosen if not _has(config, key)]
        if having and lacking:
            return _describe(key, having, lacking)
    return ""


def _has(config: DictConfig, key: str) -> bool:
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    return isinstance(node, DictConfig) and name in map(str, node)


def _describe(
    key: str, having: Sequence[Mapping[str, str]], lacking: Sequence[Mapping[str, str]]
) -> str:
    """The choice that decides is that of the key's own group, or the first that sets the two
    apart.
    """
    for group in (key.partition(".")[0], *having[0]):
        there, absent = (
            dict.fromkeys(str(each[group]) for each in side if group in each)
            for side in (having, lacking)
        )
        if there and absent and not there.keys() & absent.keys():
            has, lacks = (" and ".join(f"{group}={name}" for name in e) for e in (there, absent))
            alone = f"add {group}={','.join(there)} to sweep over that alone"
            return (
                f"{key}: only the grids with {has} have this key, those with {lacks} do not;"
                f" {alone}, or give the key in a grid of the experiment's file"
            )
    return (
        f"{key}: {len(having)} of {len(having) + len(lacking)} cells of the sweep have this key;"
        " give it in the grids of the experiment's file that do"
    )
