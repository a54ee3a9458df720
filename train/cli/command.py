"""Command lines: options, overrides and grids, and what is said about invalid ones.

Only parts of Hydra's own configuration can be changed.
"""

from __future__ import annotations

import itertools
import math
import re
import shlex
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, get_args

from hydra import compose, initialize_config_dir
from hydra.conf import HydraConf
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, flag_override
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from biasbridge.files import InputError, nearest
from biasbridge.files.deprecations import check_names
from biasbridge.files.errors import OF_THE_SYSTEM
from biasbridge.files.paths import TRAIN
from biasbridge.files.terminal import Parser
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import COMMAND_LINE, TARGET, refuse_unwritten
from biasbridge.train.engine.locks import StoreError
from biasbridge.train.engine.store_tools import Policy

if TYPE_CHECKING:
    from argparse import Namespace

    from hydra.core.override_parser.types import Override


_BARE = re.compile(r"[A-Za-z_./][\w./-]*", re.ASCII)
_REFERENCE = re.compile(r"(?<!\\)\$\{([\w.]+)\}", re.ASCII)
_NOT_TEXT = {"true", "false", "null", "nan", "inf"}  # not read as text by the grammar

INPUT_ERRORS = (InputError, HydraException, OmegaConfBaseException, YAMLError)
# Modules that read a configuration and raise built-in errors for invalid input.
_READERS = ("hydra.", "omegaconf", "yaml")
_EXTRAS = ("ray", "submitit")  # extras of pyproject.toml with a launcher
MAX_CELLS = 100_000
_APPENDED = ("experiment", "sweep")  # groups that need + on the command line
_FLAG: dict[str, Any] = {"action": "store_true"}
_MODES: dict[tuple[str, ...], dict[str, Any]] = {  # mutually exclusive
    ("--multirun", "-m"): _FLAG,
    ("--cfg", "-c"): {"choices": ("job", "hydra", "all")},
}
_OTHERS: dict[tuple[str, ...], dict[str, Any]] = {
    ("--config-dir", "-cd"): {"metavar": "FOLDER", "type": Path},
    ("--resolve",): _FLAG,
    ("--stale",): {"choices": get_args(Policy)},
}
_OPTION_NAMES = [name for names in (*_MODES, *_OTHERS) for name in names]
# Keys of Hydra closed to experiments: output folders, and what would run code
_CLOSED = ("callbacks", "job.chdir", "job.env_copy", "job.env_set", "output_subdir", "run", "sweep")
_NO_LOG = {"version": 1, "root": None, "disable_existing_loggers": False}


def format_override(key: str, value: str | float | Sequence[str]) -> str:
    """Return ``KEY=VALUE`` such that a text is read as text, even ``null`` or a number."""
    if isinstance(value, float | bool):
        return f"{key}={str(value).lower()}"
    if not isinstance(value, str):
        return f"{key}=[{','.join(map(quote, value))}]"
    bare = _BARE.fullmatch(value) and value.lower() not in _NOT_TEXT
    return f"{key}={value if bare else quote(value)}"


def quote(text: str) -> str:
    """Return the text in double quotes."""
    escaped = re.sub(r'(\\*)("|$)', lambda match: match[1] * 2 + match[2].replace('"', '\\"'), text)
    return f'"{escaped}"'


def refuse(error: BaseException) -> NoReturn:
    """Print an error of input or configuration and exit with 2; of a bug its traceback and 1."""
    if isinstance(error, OSError) and error.errno in OF_THE_SYSTEM:
        raise error  # for run_cli
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__")) if frames else ""
    if not (isinstance(error, (*INPUT_ERRORS, StoreError)) or module.startswith(_READERS)):
        traceback.print_exception(error)
        raise SystemExit(1)
    print(f"error: {one_line(error)}", file=sys.stderr)
    raise SystemExit(2)


def one_line(error: BaseException) -> str:
    """Return the message of the innermost input error, with the nearest known key or option."""
    chain: list[BaseException] = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    for link in chain:
        if isinstance(link, InputError | StoreError):
            return str(link)
    if isinstance(error, OverrideParseException):
        return _describe_unreadable(error.override)
    text = " ".join(str(error).partition("Config search path")[0].split())
    parent = next(filter(None, (getattr(link, "parent_node", None) for link in chain)), None)
    missing = re.search(r"Key '([^']+)'", " ".join(str(link) for link in chain))
    if missing and isinstance(parent, DictConfig):
        return f"unknown config key {missing[1]!r}{nearest(missing[1], map(str, parent))} ({text})"
    if lacked := re.search(r"(?:key|access) '?([\w.]+)'?[ :].*full_key: ([\w.]+)", text):
        return f"{lacked[2]} refers to {lacked[1]}, which there is not; give {lacked[2]}=VALUE"
    missing = re.search(r"Missing mandatory value:.*hydra\.sweeper\.params\.([\w.]+)", text)
    if missing:
        return (
            f"{missing[1]} needs values to sweep over; the first lines of the experiment's file"
            " show a command that gives them"
        )
    if inner := re.search(r"In '([^']+)': Could not override '[^'@]+@[^']+'", text):
        file = f"{inner[1]}.yaml"
        return f"{file} is not at the top of the configuration; begin it with '# @package _global_'"
    if double := re.search(r"values for ([\w/-]+)\. |([\w/-]+) appears more than once", text):
        group = double[1] or double[2]
        remedy = f"write '- override /{group}: NAME' in the defaults of the experiment's file"
        return f"{group} is chosen twice; {remedy}, or {group}=NAME without + in the command"
    if option := re.search(r"Could not (?:find|load) '([^']+)/([^'/]+)'", text):
        return _describe_option(*option.groups())
    if isinstance(error, HydraException | OmegaConfBaseException) and text:
        return text
    reason = " ".join(next(filter(None, map(str, chain)), type(error).__name__).split())
    return f"the configuration cannot be read ({reason}); correct it"


def _describe_unreadable(override: str) -> str:
    """Explain how to quote a value that Hydra's grammar cannot read."""
    key, equals, value = override.partition("=")
    if not equals:
        return f"{override!r} is not an override; give KEY=VALUE"
    items = [quote(item.strip(" '\"")) for item in value.strip("[]").split(",")]
    quoted = f"[{','.join(items)}]" if value.startswith("[") else quote(value.strip(" '\""))
    remedy = f"put the value in double quotes inside: {shlex.quote(f'{key}={quoted}')}"
    return f"{override} cannot be read; {remedy}"


def _describe_option(group: str, name: str) -> str:
    """Explain what to do about a missing configuration file ``GROUP/NAME``. Hydra must run."""
    if Path(path := f"{group}/{name}.yaml").is_file():
        return f"{path} is in this folder, which is not searched; give --config-dir ."
    if group == "hydra/launcher" and (extra := name.partition("_")[0]) in _EXTRAS:
        return f"hydra/launcher={name} is not installed: pip install '.[{extra}]'"
    known = GlobalHydra.instance().config_loader().get_group_options(group)
    return f"{group} has no choice {name!r}{nearest(name, known)} (choices: {', '.join(known)})"


def parse_overrides(lines: Sequence[str]) -> list[Override]:
    """Parse overrides by Hydra's grammar."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    return parser.parse_overrides(list(lines))


def line_of(override: Override) -> str:
    """Return an override as it was written."""
    return str(override.input_line)


def _build_cells(
    params: Mapping[str, object], grids: Sequence[Mapping[str, object]], arguments: Sequence[str]
) -> list[list[str]]:
    """Return the overrides of every cell; those of the command line replace keys of the grids."""
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


def read_options(arguments: Sequence[str]) -> Namespace:
    """Read the options, the ``overrides``, and ``hydra``: the options of Hydra alone."""
    parser = Parser(prog=TRAIN, add_help=False, allow_abbrev=False)
    modes = parser.add_mutually_exclusive_group()
    for names, settings in _MODES.items():
        modes.add_argument(*names, **settings)
    for names, settings in _OTHERS.items():
        parser.add_argument(*names, **settings)
    parser.add_argument("overrides", nargs="*")
    _refuse_unknown(arguments)
    options = parser.parse_intermixed_args(arguments)
    if options.config_dir and not options.config_dir.is_dir():
        raise InputError(f"--config-dir={options.config_dir}: no such folder")
    lines = [line.lstrip("+~") for line in options.overrides]
    check_names(f"train.py {line.partition('=')[0]}=" for line in lines)
    check_names(f"train.py {line}" for line in lines)
    options.overrides = [_with_plus(line) for line in options.overrides]
    options.overrides += [f"stale={options.stale}"] if options.stale else []
    options.config_dir = options.config_dir or _experiment_folder(options.overrides)
    options.hydra = ["hydra.mode=MULTIRUN"] if options.multirun else []
    if not options.config_dir and not any(TARGET in line for line in options.overrides):
        refuse_unwritten(options.overrides)  # a user's own classes have names of their own
    return options


@contextmanager
def hydra_started(config_dir: Path | None = None, name: str = "train") -> Iterator[None]:
    """Start Hydra for the block; it also searches a user's folder for configuration files and
    classes, and Python for modules. Every input error is raised as ``InputError``.
    """
    from biasbridge.train.cli.class_configs import searching  # loads metrics

    with (
        searching(config_dir.resolve() if config_dir else None),
        initialize_config_dir(str(CONF), job_name=name, version_base="1.3"),
    ):
        try:
            yield
        except INPUT_ERRORS as error:
            raise InputError(one_line(error)) from error


def searched_folder() -> str:
    """Return the folder of configuration that the command line gave; empty if there is none."""
    path = GlobalHydra.instance().config_loader().get_search_path()
    given = [entry.path for entry in path.get_path() if entry.provider == COMMAND_LINE]
    return given[0].removeprefix("file://") if given else ""


def _refuse_unknown(arguments: Sequence[str]) -> None:
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name.startswith("-") and name not in _OPTION_NAMES:
            line = _with_plus(f"{name.lstrip('-').replace('-', '_')}={value or 'VALUE'}")
            raise InputError(f"unknown option {name}; give values as {line}")


def _with_plus(line: str) -> str:
    return f"+{line}" if line.partition("=")[0] in _APPENDED else line


def _experiment_folder(overrides: Sequence[str]) -> Path | None:
    """Return the working directory if its ``experiment/`` has the requested experiment."""
    names = [line.partition("=")[2] for line in overrides if line.startswith("+experiment=")]
    files = (Path("experiment") / f"{name}.yaml" for name in names)
    return Path.cwd() if any(map(Path.is_file, files)) else None


def show_config(options: Namespace) -> None:
    """Print the configuration that ``--cfg`` requests, after Hydra was started."""
    lines = [*options.hydra, *options.overrides]
    config = compose("config", overrides=lines, return_hydra_config=True)
    HydraConfig.instance().set_config(deepcopy(config))  # which ${hydra:...} refers to
    if options.cfg == "job":
        config = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    elif options.cfg == "hydra":
        with flag_override(config.hydra, ["struct", "readonly"], False):
            del config.hydra["help"], config.hydra["hydra_help"]
        config = OmegaConf.masked_copy(config, "hydra")
    if options.resolve:
        OmegaConf.resolve(config)
    sys.stdout.write(OmegaConf.to_yaml(config))


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
    multiple = [override for override in overrides if override.is_sweep_override()]
    swept = {override.key_or_group for override in multiple}  # whose options the default may lack
    rest = [o for o in overrides if o.key_or_group.partition(".")[0] not in swept]
    single = [line_of(override) for override in rest if not override.is_sweep_override()]
    config = compose("config", overrides=hydra + single, return_hydra_config=True)
    _refuse_code(config.hydra)
    command = Command(hydra, [*map(line_of, overrides)], config)
    if multiple and not command.is_sweep:
        raise InputError(
            f"{line_of(multiple[0])}: several values need a sweep, and this runs one point; give"
            " one value, or --multirun"
        )
    return command


def expand_grids(command: Command) -> list[list[str]]:
    """Return the overrides of each cell, or of the one point. Raises ``InputError`` for no grid."""
    if not command.is_sweep:
        return [command.overrides]
    sweeper = OmegaConf.to_container(command.config.hydra.sweeper, resolve=True)
    assert isinstance(sweeper, dict)
    params, grids = sweeper.get("params") or {}, sweeper.get("grids") or []
    if not isinstance(grids, list):
        raise InputError(f"hydra.sweeper.grids={grids!r}: give a list of mappings")
    written = OmegaConf.to_container(command.config.hydra.sweeper, resolve=False)
    assert isinstance(written, dict)
    for grid in [written.get("params"), *(written.get("grids") or [])]:
        _refuse_swept_references(grid or {})
    return _build_cells(params, grids, command.overrides)


def _refuse_swept_references(grid: object) -> None:
    """Raise ``InputError`` for a value that names a key of its own grid: the sweep would fill it in
    once, alike for all points.
    """
    if not isinstance(grid, Mapping):
        return
    for key, value in grid.items():
        for name in _REFERENCE.findall(value) if isinstance(value, str) else ():
            swept = [other for other in grid if f"{name}.".startswith(f"{other}.")]
            if swept or any(str(other).startswith(f"{name}.") for other in grid):
                raise InputError(
                    f"{key}={value}: {name} differs between points; write \\${{{name}}}, which each"
                    " point fills in"
                )


def _refuse_code(hydra: DictConfig) -> None:
    """Raise ``InputError`` if files or command change more of Hydra than grid and engine."""
    defaults = OmegaConf.load(CONF / "config.yaml")
    expected = OmegaConf.merge(OmegaConf.structured(HydraConf), OmegaConf.select(defaults, "hydra"))
    expected = OmegaConf.merge(expected, {"job_logging": _NO_LOG, "hydra_logging": _NO_LOG})
    for key in (*_CLOSED, "job_logging", "hydra_logging"):
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
