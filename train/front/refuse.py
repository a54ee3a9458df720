"""Bad input ends in one line that names the value and the remedy."""

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

from files import InputError, nearest
from train.front.options import config_dir
from train.front.spell import quote_value
from train.store import StoreError

OF_INPUT = (InputError, HydraException, OmegaConfBaseException, YAMLError)
# Modules that read a configuration, and let errors of Python's own through.
READERS = ("hydra._internal", "hydra.core", "omegaconf", "yaml")
LEXER = "LexerNoViableAltException"
EXTRAS = ("ray", "submitit")  # of pyproject.toml, each a launcher


def refuse(error: BaseException) -> NoReturn:
    """Print what was wrong with the input and exit with status 2, also where a reader of the
    configuration says so by an error of Python's own; anything else is a bug, keeps its traceback
    and exits with 1.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__")) if frames else ""
    if not (isinstance(error, (*OF_INPUT, StoreError)) or module.startswith(READERS)):
        traceback.print_exception(error)
        raise SystemExit(1)
    print(f"error: {one_line(error)}", file=sys.stderr)
    raise SystemExit(2)


def one_line(error: BaseException) -> str:
    """The message of the innermost error that speaks of the input, with the nearest known key or
    option.
    """
    chain: list[BaseException] = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    for link in chain:
        if isinstance(link, InputError | StoreError):
            return _beside(str(link)) or str(link)
    if message := _unreadable_override(error):
        return message
    text = " ".join(str(error).partition("Config search path")[0].split())
    parent = next(filter(None, (getattr(link, "parent_node", None) for link in chain)), None)
    missing = re.search(r"Key '([^']+)'", " ".join(str(link) for link in chain))
    if missing and isinstance(parent, DictConfig):
        return f"unknown config key {missing[1]!r}{nearest(missing[1], map(str, parent))} ({text})"
    if missing := re.search(
        r"Missing mandatory value: (?:\w+\s+full_key: )?hydra\.sweeper\.params\.([\w.]+)", text
    ):
        return (
            f"there are no values of {missing[1]} to sweep over; the file of the experiment begins"
            " with the command that gives them"
        )
    option = re.search(r"Could not find '([^']+)'", text)
    if option:
        name = option[1].split("/")[-1]
        if Path(f"{option[1]}.yaml").is_file() and not config_dir(sys.argv[1:]):
            here = f"{option[1]}.yaml lies in this folder"
            return f"{here}, which is not searched; give --config-dir ."
        if option[1].startswith("hydra/launcher/") and (extra := name.partition("_")[0]) in EXTRAS:
            return f"hydra/launcher={name} is not installed: pip install '.[{extra}]'"
        return text + nearest(name, re.findall(r"[\w-]+", text.partition("Available options")[2]))
    if isinstance(error, HydraException | OmegaConfBaseException) and text:
        return text
    why = " ".join(next(filter(None, map(str, chain)), type(error).__name__).split())
    return f"the configuration cannot be read ({why}); correct it"


def _unreadable_override(error: BaseException) -> str:
    """What to do about a value with a character that has no place in Hydra's grammar; empty for any
    other error.
    """
    if not isinstance(error, OverrideParseException):
        return ""
    line, why = error.override, " ".join(str(error.message).partition("See https")[0].split())
    if "=" not in line:
        return f"{line!r} is no KEY=VALUE"
    if LEXER not in why and line.partition("=")[2][:1] in ("[", "{", "'", '"'):
        return f"{line} cannot be read ({why}); correct it"
    remedy = f"put the value in double quotes inside: {shlex.quote(quote_value(line))}"
    return f"{line} cannot be read; {remedy}"


def _beside(message: str) -> str:
    """What is said of a file that was not found and lies in the folder of one's own configuration,
    or beside the experiment; empty for any other message.
    """
    missing = re.match(r"no such file: ([^;]+)", message)
    folder = config_dir(sys.argv[1:])
    if not missing or folder is None or Path(missing[1]).is_absolute():
        return ""
    for place in (folder / missing[1], folder / "experiment" / missing[1]):
        if place.exists():
            counted = "paths count from the folder in which the command runs"
            return f"{missing[0]}, but there is {place}: {counted}"
    return ""
