"""``biasbridge``: every command line of the project under one name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from biasbridge.commands import COMMANDS
from files import InputError, nearest, run_cli
from files.rooms import importable


class Room(Protocol):
    """A module that is a command line."""

    def main(self, arguments: Sequence[str], /) -> int | None:
        """Carry out the arguments; the exit status."""


OWN = {
    "train": "a point or a sweep, as train.py in a checkout",
    "check": "reads your posts, corpus, words and vectors, and says what would happen",
    "init": "writes an experiment file for them",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Hand the arguments to the sub-command that the first of them names."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(usage(), end="")
        return 0
    name, *rest = given
    if name == "train":
        _train(rest)
        return 0
    return _main_of(name)(rest) or 0


def usage() -> str:
    """What sub-commands there are."""
    told = OWN | {name: what for name, (_, what) in COMMANDS.items()}
    lines = (f"  {name:<12} {what}" for name, what in told.items())
    return "\n".join(["biasbridge COMMAND ..., --help after it tells more", *lines, ""])


def _main_of(name: str) -> Callable[[Sequence[str]], int | None]:
    if name == "check":
        from biasbridge.check import main as check

        return check
    if name == "init":
        from biasbridge.init import main as init

        return init
    if name not in COMMANDS:
        every = ", ".join([*OWN, *COMMANDS])
        raise InputError(f"no command {name!r}{nearest(name, [*OWN, *COMMANDS])}; it is {every}")
    module = cast("Room", importlib.import_module(importable(COMMANDS[name][0])))
    return module.main


def _train(overrides: Sequence[str]) -> None:
    from train.start import start

    sys.argv = ["train.py", *overrides]
    start()


def run() -> None:
    """The console script."""
    run_cli(main)


if __name__ == "__main__":
    run()
