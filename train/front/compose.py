"""The configuration of a command, composed by Hydra: of one point, or of every cell of a sweep; and
what is read from it.
"""

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
from train.configure import to_planner, to_point, to_study
from train.front.refuse import OF_INPUT, one_line
from train.front.spell import quote
from train.store.stale import Policy

if TYPE_CHECKING:
    from argparse import Namespace

    from hydra.core.override_parser.types import Override

    from analysis.planner import Planner
    from analysis.study import Study
    from train.point import Point

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
DATA = "BIASBRIDGE_DATA"
MOST_CELLS = 100_000
# What of Hydra is not open to an experiment: where it writes, and what would run code
CLOSED = ("callbacks", "job.chdir", "job.env_copy", "job.env_set", "output_subdir", "run", "sweep")
NO_LOG = {"version": 1, "root": None, "disable_existing_loggers": False}
TARGET = "_target_"

Overwrite = Literal["only-missing", "always", "never", "only-cache"]


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
    """A command line: its primary configuration file, its overrides of Hydra, those of the
    configuration, and what comes of them but for those that give several values.
    """

    primary: str
    hydra: list[str]
    overrides: list[str]
    config: DictConfig

    @property
    def is_sweep(self) -> bool:
        """Whether it asks for a sweep, not for one point."""
        return bool(self.config.hydra.mode == RunMode.MULTIRUN)


def read_command(options: Namespace) -> Command:
    """The configuration that the options of a command line ask for, Hydra having been started.
    Raises ``InputError``.
    """
    given = _parse(options.overrides)
    hydra = [_line(each) for each in given if each.is_hydra_override()] + options.hydra
    own = [each for each in given if not each.is_hydra_override()]
    single = [_line(each) for each in own if not each.is_sweep_override()]
    primary = options.config_name
    config = compose(primary, overrides=hydra + single, return_hydra_config=True)
    refuse_code(config.hydra)
    command = Command(primary, hydra, [_line(each) for each in own], config)
    several = [each for each in own if each.is_sweep_override()]
    if several and not command.is_sweep:
        raise InputError(
            f"{_line(several[0])}: several values are a sweep, and this runs one point; give one"
            " value, or --multirun"
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


def _parse(lines: Sequence[str]) -> list[Override]:
    """Overrides as Hydra reads them."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    return parser.parse_overrides(list(lines))


def _line(override: Override) -> str:
    return str(override.input_line)


def list_cells(command: Command) -> list[list[str]]:
    """The overrides of each cell of a sweep, or of the one point. Raises ``InputError`` for what is
    no grid.
    """
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
    """The overrides of every cell: the product of ``params``, or in its place of each of ``grids``,
    one after the other.

    A key given on the command line (``arguments``) takes the place of the same key in them. Raises
    ``InputError`` for what is no grid, and for more than ``MOST_CELLS``.
    """
    given = _parse(arguments)
    taken = {override.key_or_group for override in given}
    named = {f"grids[{i}]": each for i, each in enumerate(grids)} or {"params": params}
    of_grids: list[list[list[str]]] = []
    for name, grid in named.items():
        if not isinstance(grid, Mapping):
            raise InputError(f"hydra.sweeper.{name}={grid!r}: give a mapping of keys to values")
        lines = [f"{key}={_in_grammar(value)}" for key, value in grid.items()]
        own = [override for override in _parse(lines) if override.key_or_group not in taken]
        of_grids.append([_list_values(override) for override in own + given])
    if (count := sum(math.prod(map(len, values)) for values in of_grids)) > MOST_CELLS:
        raise InputError(
            f"the sweep has {count:,} cells or more; give fewer values, at most {MOST_CELLS:,}"
            " cells in all"
        )
    return [list(cell) for values in of_grids for cell in itertools.product(*values)]


def _in_grammar(value: object) -> str:
    """A value in Hydra's grammar; a list, as ``${vectors}`` gives it, is what the sweep goes
    through.
    """
    return ",".join(quote(str(item)) for item in value) if isinstance(value, list) else str(value)


def _list_values(override: Override) -> list[str]:
    """An override for each of its values, of which no more are listed than are allowed."""
    line = _line(override)
    if not override.is_sweep_override():
        return [line]
    if not override.is_discrete_sweep():
        raise InputError(f"{line}: a grid needs single values, a list of them or range(...)")
    key, values = override.get_key_element(), override.sweep_string_iterator()
    listed = [f"{key}={value}" for value in itertools.islice(values, MOST_CELLS + 1)]
    if not listed:
        raise InputError(f"{line} gives no value to sweep over; give one")
    return listed


class Composer:
    """Composes cells as Hydra does, each selection of configuration files read once: cells mostly
    differ in values alone. ``primary``: the file that is composed; ``hydra``: the command's
    overrides of Hydra.
    """

    def __init__(self, hydra: Sequence[str] = (), *, primary: str = "config") -> None:
        self._hydra, self._primary = list(hydra), primary
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, cell: Sequence[str]) -> DictConfig:
        """The configuration of a cell, without Hydra's own node."""
        overrides = _parse(cell)
        files = tuple(_line(each) for each in overrides if self._selects_a_file(each))
        if files not in self._selected:
            self._selected[files] = self._compose(files)
        values = [each for each in overrides if _line(each) not in files]
        if not all(_is_plain(each, self._selected[files]) for each in values):
            return self._compose(cell)
        config = copy.deepcopy(self._selected[files])
        for each in values:
            OmegaConf.update(config, each.key_or_group, each.value(), merge=True)
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
            found = loader.get_group_options(key, config_name=self._primary, overrides=self._hydra)
            self._groups[key] = bool(found)
        return self._groups[key] and not isinstance(override.value(), dict)


def _is_plain(override: Override, config: DictConfig) -> bool:
    """Whether it gives another value to a key that is there, which needs nothing of Hydra."""
    parent, _, name = override.key_or_group.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    there = isinstance(node, DictConfig) and name in map(str, node)
    return there and override.type == OverrideType.CHANGE and override.package is None


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


@choice
class Settings:
    """The folders ``store`` and ``results``; ``extend`` keeps the points of an earlier sweep in
    the latter; ``stale`` says what becomes of results that other code made; ``plan``: say what
    would run, and stop; ``power``, with it: how many embeddings and test items a study takes.
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
            raise InputError("power=true plans and runs nothing; give plan=true with it")
        if self.stale == "rebuild" and self.overwrite == "only-cache":
            raise InputError(
                "stale=rebuild makes results again and overwrite=only-cache makes none; choose one"
            )


def read_settings(config: DictConfig) -> Settings:
    """The settings in a configuration. Raises ``InputError``."""
    same: dict[str, Any] = {name: config[name] for name in ("overwrite", "stale", "plan", "power")}
    same |= {name: _folder(config, name) for name in ("store", "results")}
    try:
        return Settings(**same, extend=config.results.extend)
    except FieldError as error:
        raise InputError(str(error).replace("extend=", "results.extend=", 1)) from error


def _folder(config: DictConfig, name: str) -> str:
    node = config[name]
    if not isinstance(node, Mapping):
        raise InputError(f"{name}={node}: the folder is {name}.dir={node}")
    if not (node["dir"] and isinstance(node["dir"], str)):
        raise InputError(f"{name}.dir={node['dir']!r} names no folder")
    return node["dir"]


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


def _tree(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}
