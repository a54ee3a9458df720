"""Configurations composed by Hydra, for one point or every cell of a sweep, and readers of them."""

from __future__ import annotations

import copy
import itertools
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.conf import HydraConf
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from files import InputError, choice, nearest
from files.choice import FieldError
from train.cli.configure import to_planner, to_point, to_study
from train.cli.error_messages import INPUT_ERRORS, one_line
from train.cli.override_quoting import quote
from train.engine.store.stale import Policy

if TYPE_CHECKING:
    from argparse import Namespace

    from hydra.core.override_parser.types import Override

    from analysis.planner import Planner
    from analysis.study import Study
    from train.engine.point import Point

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
DATA = "BIASBRIDGE_DATA"
MAX_CELLS = 100_000
# Keys of Hydra closed to experiments: output folders, and what would run code
CLOSED = ("callbacks", "job.chdir", "job.env_copy", "job.env_set", "output_subdir", "run", "sweep")
NO_LOG = {"version": 1, "root": None, "disable_existing_loggers": False}
TARGET = "_target_"

Overwrite = Literal["only-missing", "always", "never", "only-cache"]


def data_path(relative: str) -> str:
    """Return a path inside the folder of real data, for ``${data:...}`` in configurations."""
    folder = os.environ.get(DATA)
    if not folder:
        raise InputError(
            f"this choice reads {relative} from the folder in the environment variable {DATA},"
            " which is not set; set it, or give the path"
        )
    return str(Path(folder) / relative)


OmegaConf.register_new_resolver("data", data_path, replace=True)


class Command(NamedTuple):
    """A command line.

    ``primary``: configuration file; ``hydra``: overrides of Hydra; ``overrides``: of the
    configuration; ``config``: composed from all overrides with a single value.
    """

    primary: str
    hydra: list[str]
    overrides: list[str]
    config: DictConfig

    @property
    def is_sweep(self) -> bool:
        """Whether the command runs a sweep, not one point."""
        return bool(self.config.hydra.mode == RunMode.MULTIRUN)


def read_command(options: Namespace) -> Command:
    """Compose the configuration of a command line. Hydra must run. Raises ``InputError``."""
    parsed = _parse(options.overrides)
    hydra = [_line(override) for override in parsed if override.is_hydra_override()]
    hydra += options.hydra
    overrides = [override for override in parsed if not override.is_hydra_override()]
    single = [_line(override) for override in overrides if not override.is_sweep_override()]
    primary = options.config_name
    config = compose(primary, overrides=hydra + single, return_hydra_config=True)
    refuse_code(config.hydra)
    command = Command(primary, hydra, [*map(_line, overrides)], config)
    multiple = [override for override in overrides if override.is_sweep_override()]
    if multiple and not command.is_sweep:
        raise InputError(
            f"{_line(multiple[0])}: several values need a sweep, and this runs one point; give one"
            " value, or --multirun"
        )
    return command


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


def _parse(lines: Sequence[str]) -> list[Override]:
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    return parser.parse_overrides(list(lines))


def _line(override: Override) -> str:
    return str(override.input_line)


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


def build_cells(
    params: Mapping[str, object],
    grids: Sequence[Mapping[str, object]],
    arguments: Sequence[str],
) -> list[list[str]]:
    """Return the overrides of every cell: the product of ``params``, or of each grid in turn.

    Keys in ``arguments`` (the command line) replace those of the grids. Raises ``InputError`` for
    an invalid grid and for more than ``MAX_CELLS``.
    """
    command_overrides = _parse(arguments)
    replaced_keys = {override.key_or_group for override in command_overrides}
    grid_by_name = {f"grids[{i}]": grid for i, grid in enumerate(grids)} or {"params": params}
    values_by_grid: list[list[list[str]]] = []
    for name, grid in grid_by_name.items():
        if not isinstance(grid, Mapping):
            raise InputError(f"hydra.sweeper.{name}={grid!r}: give a mapping of keys to values")
        lines = [f"{key}={_in_grammar(value)}" for key, value in grid.items()]
        overrides = [o for o in _parse(lines) if o.key_or_group not in replaced_keys]
        overrides += command_overrides
        values_by_grid.append([_list_values(override) for override in overrides])
    if (count := sum(math.prod(map(len, values)) for values in values_by_grid)) > MAX_CELLS:
        raise InputError(
            f"the sweep has {count:,} cells or more; give fewer values, at most {MAX_CELLS:,}"
            " cells in all"
        )
    return [list(cell) for values in values_by_grid for cell in itertools.product(*values)]


def _in_grammar(value: object) -> str:
    """Return a value in Hydra's grammar; the items of a list are the values of the sweep."""
    return ",".join(quote(str(item)) for item in value) if isinstance(value, list) else str(value)


def _list_values(override: Override) -> list[str]:
    """Return an override for each of its values, at most one more than allowed."""
    line = _line(override)
    if not override.is_sweep_override():
        return [line]
    if not override.is_discrete_sweep():
        raise InputError(f"{line}: a grid needs single values, a list of them or range(...)")
    key, values = override.get_key_element(), override.sweep_string_iterator()
    listed = [f"{key}={value}" for value in itertools.islice(values, MAX_CELLS + 1)]
    if not listed:
        raise InputError(f"{line} has no value to sweep over; give one")
    return listed


class Composer:
    """Composer of cells that reads each selection of configuration files once.

    Cells mostly differ in values alone. ``primary``: the file that is composed; ``hydra``: the
    command's overrides of Hydra.
    """

    def __init__(self, hydra: Sequence[str] = (), *, primary: str = "config") -> None:
        self._hydra, self._primary = list(hydra), primary
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """Return the configuration of a cell, without Hydra's own node."""
        overrides = _parse(cell)
        files = tuple(_line(override) for override in overrides if self._selects_a_file(override))
        if files not in self._selected:
            self._selected[files] = self._compose(files)
        changes = [override for override in overrides if _line(override) not in files]
        if not all(_changes_existing(change, self._selected[files]) for change in changes):
            return self._compose(cell)
        config = copy.deepcopy(self._selected[files])
        for change in changes:
            OmegaConf.update(config, change.key_or_group, change.value(), merge=True)
        return config

    def _compose(self, overrides: Sequence[str]) -> DictConfig:
        lines = [*self._hydra, *overrides]
        whole = compose(self._primary, overrides=lines, return_hydra_config=True)
        check_keys(whole, whole.hydra)
        config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
        OmegaConf.set_struct(config, True)
        return config

    def _selects_a_file(self, override: Override) -> bool:
        key = override.key_or_group
        if key not in self._groups:
            loader = GlobalHydra.instance().config_loader()
            names = loader.get_group_options(key, config_name=self._primary, overrides=self._hydra)
            self._groups[key] = bool(names)
        return self._groups[key] and not isinstance(override.value(), dict)


def _changes_existing(override: Override, config: DictConfig) -> bool:
    """Test whether an override changes an existing key, which needs no composition by Hydra."""
    parent, _, name = override.key_or_group.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    exists = isinstance(node, DictConfig) and name in map(str, node)
    return exists and override.type == OverrideType.CHANGE and override.package is None


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


@choice
class Settings:
    """Settings of a run.

    ``store``, ``results``: folders; ``extend``: keep points of an earlier sweep; ``stale``: what
    happens to results of other code; ``plan``: print the plan and stop; ``power``: with it, the
    power of the study.
    """

    store: str
    results: str
    extend: bool
    overwrite: Overwrite
    stale: Policy
    plan: bool
    power: bool

    def __post_init__(self) -> None:
        if self.power and not self.plan:
            raise InputError("power=true only plans a study; give plan=true with it")
        if self.stale == "rebuild" and self.overwrite == "only-cache":
            raise InputError(
                "stale=rebuild rebuilds results and overwrite=only-cache builds none; choose one"
            )


def read_settings(config: DictConfig) -> Settings:
    """Return the settings of a configuration. Raises ``InputError``."""
    values: dict[str, Any] = {n: config[n] for n in ("overwrite", "stale", "plan", "power")}
    values |= {name: _folder(config, name) for name in ("store", "results")}
    try:
        return Settings(**values, extend=config.results.extend)
    except FieldError as error:
        raise InputError(str(error).replace("extend=", "results.extend=", 1)) from error


def _folder(config: DictConfig, name: str) -> str:
    node = config[name]
    if not isinstance(node, Mapping):
        raise InputError(f"{name}={node}: give the folder as {name}.dir={node}")
    if not (node["dir"] and isinstance(node["dir"], str)):
        raise InputError(f"{name}.dir={node['dir']!r} is no folder; give a path")
    return node["dir"]


def read_point(config: DictConfig) -> Point:
    """Return the point of a composed configuration."""
    return to_point(_tree(config, resolve=True), _tree(config, resolve=False))


def compose_point(overrides: Sequence[str]) -> Point:
    """Start Hydra and return the point of overrides. Raises ``InputError``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            return read_point(compose("config", overrides=list(overrides)))
        except INPUT_ERRORS as error:
            raise InputError(one_line(error)) from error


def read_study(config: DictConfig) -> Study:
    """Return the study of a configuration."""
    return to_study(_tree(config, resolve=True)["study"])


def read_planner(config: DictConfig) -> Planner:
    """Return the planner for ``power=true`` of a configuration."""
    return to_planner(_tree(config, resolve=True)["planner"])


def _tree(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}
