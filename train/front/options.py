"""Hydra's own options, read before Hydra reads them: what is wrong is then told in one line."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from hydra._internal.utils import get_args_parser

from files import InputError

if TYPE_CHECKING:
    from argparse import Namespace

APPENDED = ("experiment", "sweep")  # groups of which none is chosen unless it is added
ORDER = "options come first, then KEY=VALUE ...: --config-dir . +experiment=NAME"


def read_options(arguments: Sequence[str]) -> Namespace:
    """The options, and ``overrides``. Raises ``InputError`` for what is no option in full, and for
    one that stands between the overrides.
    """
    parser, said = get_args_parser(), io.StringIO()
    known = {name for action in parser._actions for name in action.option_strings}  # noqa: SLF001
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue="VALUE"):
        name, _, value = argument.partition("=")
        if name.startswith("--") and name not in known:  # no abbreviations: --experiment is none
            key = name[2:].replace("-", "_")
            key = f"+{key}" if key in APPENDED else key
            given = value or (following if following.isalnum() else "VALUE")
            raise InputError(f"there is no option {name}; values are given as {key}={given}")
    try:
        with redirect_stderr(said):
            return parser.parse_args(arguments)
    except SystemExit as stop:
        if not stop.code:
            raise
        told = said.getvalue().strip().rpartition("error: ")[2]
        raise InputError(f"{told}; {ORDER}") from None


def config_dir(arguments: Sequence[str]) -> Path | None:
    """The folder of configuration files of one's own, where one is named."""
    try:
        found: object = read_options(arguments).config_dir
    except InputError:
        return None
    return Path(str(found)) if found else None
