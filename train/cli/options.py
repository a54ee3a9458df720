"""Options of ``python train.py``: those of Hydra, next to overrides of values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.global_hydra import GlobalHydra

from biasbridge.files import InputError
from biasbridge.files.folders import TRAIN
from biasbridge.files.options import Parser
from biasbridge.train.cli.choices import search_modules
from biasbridge.train.cli.class_source import SCHEME
from biasbridge.train.engine.store.stale import Policy

if TYPE_CHECKING:
    from argparse import Namespace

COMMAND_LINE = "command-line"  # provider of the folder of configuration that it names
APPENDED = ("experiment", "sweep")  # groups that need + on the command line
FLAG: dict[str, Any] = {"action": "store_true"}
MODES: dict[tuple[str, ...], dict[str, Any]] = {  # mutually exclusive
    ("--multirun", "-m"): FLAG,
    ("--cfg", "-c"): {"choices": ("job", "hydra", "all")},
}
OTHERS: dict[tuple[str, ...], dict[str, Any]] = {
    ("--config-dir", "-cd"): {"metavar": "FOLDER", "type": Path},
    ("--resolve",): FLAG,
    ("--stale",): {"choices": get_args(Policy)},
}
NAMES = [name for names in (*MODES, *OTHERS) for name in names]


def read_options(arguments: Sequence[str]) -> Namespace:
    """Read the options, the ``overrides``, and those of Hydra alone: ``hydra``.

    Hydra, already started, searches the user's configuration folder from here on. Raises
    ``InputError`` for any other argument.
    """
    parser = Parser(prog=TRAIN, add_help=False, allow_abbrev=False)
    modes = parser.add_mutually_exclusive_group()
    for names, settings in MODES.items():
        modes.add_argument(*names, **settings)
    for names, settings in OTHERS.items():
        parser.add_argument(*names, **settings)
    parser.add_argument("overrides", nargs="*")
    _refuse_unknown(arguments)
    options = parser.parse_intermixed_args(arguments)
    if options.config_dir and not options.config_dir.is_dir():
        raise InputError(f"--config-dir={options.config_dir}: no such folder")
    options.overrides = [_with_plus(line) for line in options.overrides]
    options.overrides += [f"stale={options.stale}"] if options.stale else []
    folder = options.config_dir or _experiment_folder(options.overrides)
    if folder:
        _search(folder.resolve())
    options.hydra = ["hydra.mode=MULTIRUN"] if options.multirun else []
    return options


def _search(folder: Path) -> None:
    """Search a folder for modules, configuration files and classes, before Hydra's own schema."""
    loader = GlobalHydra.instance().config_loader()
    assert isinstance(loader, ConfigLoaderImpl)
    path = loader.get_search_path()
    path.prepend(COMMAND_LINE, f"file://{folder}", anchor="schema")
    path.prepend(f"{COMMAND_LINE}-{SCHEME}", f"{SCHEME}://{folder}", anchor="schema")
    loader.repository.initialize_sources(path)
    search_modules([folder])


def searched_folder() -> str:
    """Return the folder of configuration that the command line gave; empty if there is none."""
    path = GlobalHydra.instance().config_loader().get_search_path()
    given = [entry.path for entry in path.get_path() if entry.provider == COMMAND_LINE]
    return given[0].removeprefix("file://") if given else ""


def _refuse_unknown(arguments: Sequence[str]) -> None:
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name.startswith("-") and name not in NAMES:
            line = _with_plus(f"{name.lstrip('-').replace('-', '_')}={value or 'VALUE'}")
            raise InputError(f"unknown option {name}; give values as {line}")


def _with_plus(line: str) -> str:
    return f"+{line}" if line.partition("=")[0] in APPENDED else line


def _experiment_folder(overrides: Sequence[str]) -> Path | None:
    """Return the working directory if its ``experiment/`` has the requested experiment."""
    names = [line.partition("=")[2] for line in overrides if line.startswith("+experiment=")]
    files = (Path("experiment") / f"{name}.yaml" for name in names)
    return Path.cwd() if any(map(Path.is_file, files)) else None


def show(options: Namespace) -> None:
    """Print the configuration that ``--cfg`` requests, after Hydra was started."""
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    hydra.show_cfg(
        config_name="config",
        overrides=[*options.hydra, *options.overrides],
        cfg_type=options.cfg,
        package=None,
        resolve=options.resolve,
    )
