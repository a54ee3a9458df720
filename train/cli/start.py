"""Start of a command: signal handlers, and the help text without slow imports."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

from biasbridge.files.errors import run_cli
from biasbridge.files.interrupts import listen
from biasbridge.files.paths import TRAIN
from biasbridge.train.cli import CONF

_GO_ON = "interrupted; finished results stay in the store. Run the same command to continue"
_HELP = ("--help", "-h")
CONFIG_DIR = ("--config-dir", "-cd")
OPTIONS = """
Options; all but the last three are Hydra's:

  -m, --multirun           run every combination of values, such as seed=0,1,2
  -c, --cfg job|hydra|all  print the configuration and stop; with --resolve also its ${...}
  -cd, --config-dir DIR    also read configuration files and modules from DIR
  --stale rebuild          rebuild results of other code versions (same as stale=rebuild)
  --verbose, --quiet       print more, or only the result
"""


def start() -> None:
    """Run ``python train.py`` with the arguments of the process."""
    listen()
    run_cli(_start, interrupted=_GO_ON)


def _start() -> None:
    if any(argument in _HELP for argument in sys.argv[1:]):
        print(_help_text(sys.argv[1:]), end="")
        return
    from biasbridge.train.cli.sweep import main  # takes seconds

    main()


def _help_text(arguments: Sequence[str]) -> str:
    """Return the configuration with its comments, all choices, and the files the arguments name."""
    from biasbridge.files.choice import find_choice, search_modules
    from biasbridge.files.paths import HOME
    from biasbridge.train.cli.choices import choice_groups, choices

    pairs = pairwise(arguments)
    folders = [value for name, value in pairs if name in CONFIG_DIR]
    search_modules(folders)
    parts = ["python train.py KEY=VALUE ... +experiment=NAME; the keys and their defaults:"]
    parts += [OPTIONS, (CONF / "config.yaml").read_text(encoding="utf-8"), "Choices:", ""]
    for group in choice_groups():
        if "/" not in group:
            parts.append(f"{group}: {', '.join(choices(group, folders))}")
    parts += ["", "debias=balance --help prints the options of that choice", ""]
    for argument in arguments:
        group_name, _, option = argument.lstrip("+").partition("=")
        path = CONF / group_name / f"{option}.yaml"
        if option and path.is_file():
            parts += [f"conf/{group_name}/{option}.yaml:", "", path.read_text(encoding="utf-8")]
        elif option and (found := find_choice([HOME, *folders], group_name, option)):
            from biasbridge.train.cli.class_configs import describe_class  # loads Hydra

            parts += [f"{found.target}:", "", describe_class(found)]
    return "\n".join(parts).replace("python train.py", TRAIN)
