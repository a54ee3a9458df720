"""``biasbridge``: every command line of the project under one name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from biasbridge import __version__
from biasbridge.commands import COMMANDS
from biasbridge.files import InputError, nearest, run_cli
from biasbridge.files.deprecations import check_names
from biasbridge.files.extras import named_extra
from biasbridge.files.interrupts import listen

_SWEEPS = ("train", "certify", "data")  # these print their own progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named by the first argument and return its exit status."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(format_usage())
        return 0
    if name == "--version":
        print(f"biasbridge {__version__}")
        return 0
    check_names([f"biasbridge {name}"])
    if name not in COMMANDS:
        hint = nearest(name, COMMANDS)
        raise InputError(f"no command {name!r}{hint}; give one of {', '.join(COMMANDS)}")
    from biasbridge.files.progress import progress_lines, work_at_hand

    with named_extra(f"biasbridge {name}"):
        main_of_command = importlib.import_module(f"biasbridge.commands.{name}").main
        if name in _SWEEPS:
            return int(main_of_command(rest))
        with progress_lines(lambda: work_at_hand(f"biasbridge {name}")):
            return int(main_of_command(rest))


def format_usage() -> str:
    """List the commands, one per line."""
    lines = (f"  {name:<12} {text}" for name, text in COMMANDS.items())
    return "\n".join(["biasbridge COMMAND ... (COMMAND --help lists its options)", *lines])


def run() -> None:
    """Run the console script."""
    listen()
    run_cli(main)


if __name__ == "__main__":
    run()
