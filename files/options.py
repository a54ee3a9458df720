"""The argument parser of all commands, which reports mistakes in one line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from biasbridge.files.errors import InputError


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


class StoreOnce(argparse.Action):
    """Stores the value of an option, and refuses a second value."""

    def __call__(self, parser: Any, namespace: object, values: Any, option: Any = None) -> None:
        """Store the value."""
        if option and self.dest in parser.stored:
            parser.error(f"{option} is given twice; give it once")
        parser.stored.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that raises ``InputError`` for mistakes and repeated options; its help
    shows docstrings without their markup.
    """

    stored: set[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in (None, "store"):
            self.register("action", name, StoreOnce)

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse the arguments; no option counts as stored before."""
        self.stored = set()
        parsed, unknown = super().parse_known_args(*arguments, **options)
        self._refuse_overwriting(parsed)
        return parsed, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message; let errors of a full disk pass, which argparse hides."""
        (file or sys.stderr).write(message)

    def _refuse_overwriting(self, parsed: argparse.Namespace) -> None:
        """Raise ``InputError`` for an output file that is an input: a positional argument, or the
        text of an option.
        """
        inputs = {
            Path(name).resolve()
            for action in self._actions
            for name in _as_list(getattr(parsed, action.dest, None))
            if isinstance(name, str if action.option_strings else str | Path)
        }
        for action in self._actions:
            path = getattr(parsed, action.dest, None)
            if not action.option_strings or not isinstance(path, Path):
                continue
            if path.is_file() and path.resolve() in inputs:
                self.error(
                    f"{action.option_strings[0]} {path} is the file that is read; name another"
                )

    def format_help(self) -> str:
        """Return the text of ``--help``."""
        return super().format_help().replace("``", "")

    def error(self, message: str) -> NoReturn:
        """Raise ``InputError`` with the message."""
        raise InputError(f"{message}; {self.prog} --help shows the options")
