"""The parser of every command line: a mistake is one line, as all bad input."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from files.errors import InputError


class StoreOnce(argparse.Action):
    """Stores the value of an option, and refuses a second one, which would hide the first."""

    def __call__(self, parser: Any, namespace: object, values: Any, option: Any = None) -> None:
        """Store the value."""
        if option and self.dest in parser.stored:
            parser.error(f"{option} is given twice; give it once")
        parser.stored.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that raises ``InputError`` where others print their usage and exit, and
    for an option given twice; its help has no marks of a docstring.
    """

    stored: set[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in (None, "store"):
            self.register("action", name, StoreOnce)

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse the arguments, none of which has been stored before."""
        self.stored = set()
        return super().parse_known_args(*arguments, **options)

    def format_help(self) -> str:
        """What ``--help`` prints."""
        return super().format_help().replace("``", "")

    def error(self, message: str) -> NoReturn:
        """Raise ``InputError`` with the message."""
        raise InputError(f"{message}; {self.prog} --help shows the options")
