"""Errors for invalid input: one line with the value and the remedy."""

from __future__ import annotations

import re
import shlex
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from biasbridge.files import InputError, nearest
from biasbridge.files.errors import DISK_FULL
from biasbridge.train.cli.override_quoting import quote
from biasbridge.train.engine.store import StoreError

INPUT_ERRORS = (InputError, HydraException, OmegaConfBaseException, YAMLError)
# Modules that read a configuration and raise built-in errors for invalid input.
READERS = ("hydra._internal", "hydra.core", "omegaconf", "yaml")
EXTRAS = ("ray", "submitit")  # extras of pyproject.toml with a launcher


def refuse(error: BaseException) -> NoReturn:
    """Print an input error and exit with 2; a bug keeps its traceback and exits with 1.

    Built-in errors raised by readers of the configuration count as input errors.
    """
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        raise error  # for run_cli
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__")) if frames else ""
    if not (isinstance(error, (*INPUT_ERRORS, StoreError)) or module.startswith(READERS)):
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
    missing = re.search(r"Missing mandatory value:.*hydra\.sweeper\.params\.([\w.]+)", text)
    if missing:
        return (
            f"{missing[1]} needs values to sweep over; the first lines of the experiment's file"
            " show a command that gives them"
        )
    if option := re.search(r"Could not find '([^']+)'", text):
        return _describe_option(option[1], text)
    if isinstance(error, HydraException | OmegaConfBaseException) and text:
        return text
    reason = " ".join(next(filter(None, map(str, chain)), type(error).__name__).split())
    return f"the configuration cannot be read ({reason}); correct it"


def _describe_unreadable(override: str) -> str:
    """Explain how to quote a value that Hydra's grammar cannot read."""
    key, equals, value = override.partition("=")
    if not equals:
        return f"{override!r} is no override; give KEY=VALUE"
    items = [quote(item.strip(" '\"")) for item in value.strip("[]").split(",")]
    quoted = f"[{','.join(items)}]" if value.startswith("[") else quote(value.strip(" '\""))
    remedy = f"put the value in double quotes inside: {shlex.quote(f'{key}={quoted}')}"
    return f"{override} cannot be read; {remedy}"


def _describe_option(option: str, text: str) -> str:
    """Explain what to do about a missing configuration file ``GROUP/NAME``."""
    group, _, name = option.rpartition("/")
    if Path(f"{option}.yaml").is_file():
        return f"{option}.yaml is in this folder, which is not searched; give --config-dir ."
    if group == "hydra/launcher" and (extra := name.partition("_")[0]) in EXTRAS:
        return f"hydra/launcher={name} is not installed: pip install '.[{extra}]'"
    return text + nearest(name, re.findall(r"[\w-]+", text.partition("Available options")[2]))
