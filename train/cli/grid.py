"""Cells of a sweep: the overrides of every combination of values in a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser

from biasbridge.files import InputError
from biasbridge.train.cli.override_quoting import quote

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

MAX_CELLS = 100_000


def parse_overrides(lines: Sequence[str]) -> list[Override]:
    """Parse overrides by Hydra's grammar."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    return parser.parse_overrides(list(lines))


def line_of(override: Override) -> str:
    """Return an override as it was written."""
    return str(override.input_line)


def build_cells(
    params: Mapping[str, object],
    grids: Sequence[Mapping[str, object]],
    arguments: Sequence[str],
) -> list[list[str]]:
    """Return the overrides of every cell: the product of ``params``, or of each grid in turn.

    Keys in ``arguments`` (the command line) replace those of the grids. Raises ``InputError`` for
    an invalid grid and for more than ``MAX_CELLS``.
    """
    command_overrides = parse_overrides(arguments)
    replaced_keys = {override.key_or_group for override in command_overrides}
    grid_by_name = {f"grids[{i}]": grid for i, grid in enumerate(grids)} or {"params": params}
    values_by_grid: list[list[list[str]]] = []
    for name, grid in grid_by_name.items():
        if not isinstance(grid, Mapping):
            raise InputError(f"hydra.sweeper.{name}={grid!r}: give a mapping of keys to values")
        lines = [f"{key}={_in_grammar(value)}" for key, value in grid.items()]
        overrides = [o for o in parse_overrides(lines) if o.key_or_group not in replaced_keys]
        overrides += command_overrides
        values_by_grid.append([_list_values(override) for override in overrides])
    if (count := sum(math.prod(map(len, values)) for values in values_by_grid)) > MAX_CELLS:
        raise InputError(
            f"the sweep has {count:,} cells or more; give fewer values, at most {MAX_CELLS:,}"
            " cells in all"
        )
    return [list(cell) for values in values_by_grid for cell in itertools.product(*values)]


def _in_grammar(value: object) -> str:
    """Return a YAML value in the grammar of overrides; a text alone may be a range or choices."""
    if isinstance(value, list):
        return ",".join(map(_element, value))
    return value if isinstance(value, str) else _element(value)


def _element(value: object) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return f"[{','.join(map(_element, value))}]"
    return "null" if value is None else str(value)


def _list_values(override: Override) -> list[str]:
    """Return an override for each of its values, at most one more than allowed."""
    line = line_of(override)
    if not override.is_sweep_override():
        return [line]
    if not override.is_discrete_sweep():
        raise InputError(f"{line}: a grid needs single values, a list of them or range(...)")
    key, values = override.get_key_element(), override.sweep_string_iterator()
    listed = [f"{key}={value}" for value in itertools.islice(values, MAX_CELLS + 1)]
    if not listed:
        raise InputError(f"{line} has no value to sweep over; give one")
    return listed
