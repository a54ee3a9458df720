"""The command line: an option or two, and overrides of the configuration."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from files import InputError

APPENDED = ("experiment", "sweep")  # groups of which none is chosen unless it is added


def read_options(arguments: Sequence[str]) -> Namespace:
    """``config_dir`` and ``overrides``. Raises ``InputError`` for what is no option in full."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--config-dir", "-cd", metavar="FOLDER")
    parser.add_argument("overrides", nargs="*")
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue="VALUE"):
        name, _, value = argument.partition("=")
        if name.startswith("-") and name not in ("--config-dir", "-cd"):
            key = name.lstrip("-").replace("-", "_")
            key = f"+{key}" if key in APPENDED else key
            given = value or (following if following.isalnum() else "VALUE")
            raise InputError(f"there is no option {name}; values are given as {key}={given}")
    try:
        options = parser.parse_intermixed_args(arguments)
    except ArgumentError as error:
        raise InputError(f"{error}; give --config-dir FOLDER") from None
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise InputError(f"--config-dir={options.config_dir}: there is no such folder")
    return options


def config_dir(arguments: Sequence[str]) -> Path | None:
    """The folder of configuration files of one's own, where one is named."""
    try:
        found: object = read_options(arguments).config_dir
    except InputError:
        return None
    return Path(str(found)) if found else None
