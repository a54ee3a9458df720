"""The parser of every command line: a mistake is one line, as all bad input."""

from __future__ import annotations

import argparse
from typing import NoReturn

from files.errors import InputError


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that raises ``InputError`` where others print their usage and exit, and
    whose help has no marks of a docstring.
    """

    def format_help(self) -> str:
        """What ``--help`` prints."""
        return super().format_help().replace("``", "")

    def error(self, message: str) -> NoReturn:
        """Raise ``InputError`` with the message."""
        raise InputError(f"{message}; {self.prog} --help shows the options")
