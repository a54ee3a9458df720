"""``biasbridge``: every command line of the project under one name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version

from biasbridge.commands import ALSO, COMMANDS
from files import InputError, nearest, run_cli
from files.progress import progress_lines

SWEEPS = ("train", "certify")  # which say how far they are themselves


def main(arguments: Sequence[str] | None = None) -> int:
    """Hand the arguments to the command that the first of them names; its exit status."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(format_usage())
        return 0
    if name == "--version":
        print(f"biasbridge {version('biasbridge')}")
        return 0
    name = ALSO.get(name, name)
    if name not in COMMANDS:
        hint = nearest(name, [*COMMANDS, *ALSO])
        raise InputError(f"no command {name!r}{hint}; it is {', '.join(COMMANDS)}")
    main_of_command = importlib.import_module(f"biasbridge.cli.{name}").main
    if name in SWEEPS:
        return int(main_of_command(rest))
    with progress_lines(lambda: f"biasbridge {name} is at work"):
        return int(main_of_command(rest))


def format_usage() -> str:
    """The commands, a line each."""
    lines = (f"  {name:<12} {what}" for name, (_, what) in COMMANDS.items())
    return "\n".join(["biasbridge COMMAND ..., --help after it shows its options", *lines])


def run() -> None:
    """The console script."""
    run_cli(main)


if __name__ == "__main__":
    run()
