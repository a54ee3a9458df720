"""Start of a run: signal handlers, the help text and what is refused, without slow imports."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from biasbridge.files.errors import run_cli
from biasbridge.files.interrupts import interruptible, listen
from biasbridge.files.paths import HOME, IMPORTED_FROM, TRAIN
from biasbridge.files.terminal import LOG, open_console, set_verbosity
from biasbridge.train.cli import CONF

_GO_ON = "interrupted; finished results stay in the store. Run the same command to continue"
_HELP = ("--help", "-h")
_CONFIG_DIR = ("--config-dir", "-cd")
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
    main()


class Finished(NamedTuple):
    """End of a run: its exit ``status``, and the ``folder`` of its tables."""

    status: int
    folder: Path


def main() -> NoReturn:
    """Run ``python train.py`` and exit: 0 all done, 1 a point failed, 2 input refused."""
    from biasbridge.train.cli.command import hydra_started, read_options, refuse, show_config

    try:
        with interruptible():
            arguments = set_verbosity(sys.argv[1:])
            options = read_options(arguments)
            if options.cfg:
                with hydra_started(options.config_dir):
                    show_config(options)
            status = 0 if options.cfg else run_experiment(arguments, quiet=False).status
    except Exception as error:
        refuse(error)
    sys.exit(status)


def run_experiment(
    arguments: Sequence[str], *, quiet: bool = True, out: IO[str] | None = None
) -> Finished:
    """Run the sweep or the point of a command line, and write its tables.

    What is in the store is used; the same call resumes an interrupted run.

    Parameters
    ----------
    arguments : sequence of str
        As after ``python train.py``: overrides, such as ``+experiment=hatespeech_en`` and
        ``results.dir=FOLDER``, and options, such as ``--multirun``.
    quiet : bool, default=True
        Print nothing but errors of points, and the answer where ``out`` is given.
    out : file, optional
        Takes what is printed in place of the standard output.

    Returns
    -------
    Finished
        ``status``: 0 if all points are done, 2 if all were refused for invalid input, else 1.
        ``folder``: that of the tables (see ``biasbridge.analysis.tables.read_tables``).

    Raises
    ------
    InputError
        Invalid input; nothing was run.
    """
    from biasbridge.train.cli.command import hydra_started, read_command, read_options

    options = read_options(arguments)
    # Workers of an engine start in other folders; they must import this copy of the project.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(IMPORTED_FROM), before)))
    level = LOG.level
    try:
        if quiet:
            LOG.setLevel(logging.ERROR)
        with hydra_started(options.config_dir):
            colours = None if out is None else False  # notebooks ask for them in any file
            is_quiet_console = quiet and out is None
            console = open_console(quiet=is_quiet_console, file=out, force_terminal=colours)
            command = read_command(options)  # a misspelt option is refused before slow imports
            from biasbridge.train.cli.sweep import run

            return Finished(*run(command, console))
    finally:
        LOG.setLevel(level)
        os.environ.pop("PYTHONPATH")
        os.environ |= {"PYTHONPATH": before} if before else {}


def _help_text(arguments: Sequence[str]) -> str:
    """Return the configuration with its comments, all choices, and the files the arguments name."""
    from biasbridge.files.choice import find_choice, search_modules
    from biasbridge.train.cli.choices import choice_groups, choices

    pairs = pairwise(arguments)
    folders = [value for name, value in pairs if name in _CONFIG_DIR]
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
