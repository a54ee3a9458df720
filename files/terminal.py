"""The terminal of every command: its arguments, verbosity, and tables within its width.

The logger ``biasbridge`` logs the additions of ``--verbose`` at level INFO.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segments

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    from rich.table import Column, Table

_SHORTEST = 12  # characters to which a text may be wrapped
_UNLIMITED = 100_000  # width of a console
LOG = logging.getLogger("biasbridge")
_LEVELS = {"--verbose": logging.INFO, "--quiet": logging.ERROR}


def open_console(**options: Any) -> Console:
    """Return rich's ``Console`` with ``options``, without markup, emoji and highlighting.

    In a notebook it writes to its file too, and not into the cell's output.
    """
    options = {"force_jupyter": False, **options}
    return Console(markup=False, emoji=False, highlight=False, **options)


def print_columns(table: Table, console: Console, names: int = 1) -> None:
    """Print a table whose first ``names`` columns name its rows; columns to the right are numbers.

    A table that is too wide wraps its texts, then folds: its numbers go on below, beside the names
    of their rows. A number is not cut, nor is the name of a row left out. A pipe has no width,
    unless ``COLUMNS`` states one: rich takes 80 for it.
    """
    has_width = console.is_terminal or "COLUMNS" in os.environ
    is_wide = has_width and _width(table, console) > console.width
    for part in _folded(table, console, names) if is_wide else [table]:
        options = console.options.update(width=max(console.width, _width(part, console)))
        console.print(Segments(console.render(part, options)), crop=False, end="")


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that raises ``InputError`` for mistakes and repeated options; its help
    shows docstrings without their markup.
    """

    stored: set[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)

    def parse_known_args(self, args: Any = None, *arguments: Any, **options: Any) -> Any:
        """Parse the arguments; no option counts as stored before."""
        for text in args or ():
            if "\0" in text:  # from Python
                self.error(f"{text} has a NUL character; leave it out")
        self.stored = set()
        parsed, unknown = super().parse_known_args(args, *arguments, **options)
        self._refuse_overwriting(parsed)
        return parsed, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message; let errors of a full disk pass, which argparse hides."""
        (file or sys.stderr).write(message)

    def _refuse_overwriting(self, parsed: argparse.Namespace) -> None:
        """Raise ``InputError`` for an output file that is an input: a positional argument, or the
        text of an option.
        """
        values = [(action, getattr(parsed, action.dest, None)) for action in self._actions]
        inputs = {
            Path(name).resolve()
            for action, value in values
            for name in (value if isinstance(value, list) else [value])
            if isinstance(name, str if action.option_strings else str | Path)
        }
        for action, value in values:
            for path in value if isinstance(value, list) else [value]:
                if not action.option_strings or not isinstance(path, Path):
                    continue
                if path.is_file() and path.resolve() in inputs:
                    option = action.option_strings[0]
                    self.error(f"{option} {path} is the input file; name another")

    def format_help(self) -> str:
        """Return the text of ``--help``."""
        return super().format_help().replace("``", "")

    def error(self, message: str) -> NoReturn:
        """Raise ``InputError`` with the message."""
        raise InputError(f"{message}; {self.prog} --help shows the options")


def set_verbosity(arguments: Sequence[str]) -> list[str]:
    """Apply ``--verbose`` and ``--quiet``, and return the other arguments."""
    levels = [_LEVELS[argument] for argument in arguments if argument in _LEVELS]
    level = levels[-1] if levels else logging.WARNING
    logging.basicConfig(format="%(message)s", level=max(level, logging.WARNING))
    LOG.setLevel(level)
    return [argument for argument in arguments if argument not in _LEVELS]


def is_verbose() -> bool:
    """Test whether ``--verbose`` was given."""
    return LOG.isEnabledFor(logging.INFO)


def is_quiet() -> bool:
    """Test whether ``--quiet`` was given."""
    return not LOG.isEnabledFor(logging.WARNING)


def _width(table: Table, console: Console) -> int:
    options = console.options.update(width=_UNLIMITED)
    return Measurement.get(console, options, table).maximum


def _folded(table: Table, console: Console, names: int) -> Iterator[Table]:
    """Yield the table in parts, each with the columns of names and as many others as fit."""
    widths = [_widths(column) for column in table.columns]
    blanks = ceil((_width(table, console) - sum(natural for natural, _ in widths)) / len(widths))
    blocks = [[*range(names)]]
    for index in range(names, len(widths)):
        wide = sum(widths[i][1] + blanks for i in (*blocks[-1], index)) > console.width
        if wide and len(blocks[-1]) > names:
            blocks.append([*range(names)])
        blocks[-1].append(index)
    for block in blocks:
        part = copy(table)
        part.title = table.title if block is blocks[0] else None
        part.caption = table.caption if block is blocks[-1] else None
        shown = {i: widths[i][1] for i in block}
        room = max(0, console.width - sum(least + blanks for least in shown.values()))
        for i in sorted(block, key=lambda i: widths[i][0] - widths[i][1]):
            extra = min(widths[i][0] - widths[i][1], room)
            shown[i], room = shown[i] + extra, room - extra
        part.columns = [
            replace(table.columns[i], _index=place, width=shown[i], no_wrap=False, overflow="fold")
            for place, i in enumerate(block)
        ]
        yield part


def _widths(column: Column) -> tuple[int, int]:
    """Return the width of a column, and the least: of wrapped texts, or headings of numbers."""
    cells = (column.header, *column.cells)
    lines = [line for cell in cells for line in str(cell).split("\n")]
    words = str(column.header).split() if column.justify == "right" else lines[:1]
    natural, least = (max(map(cell_len, texts)) for texts in (lines, [*words, "", *lines[1:]]))
    return natural, least if column.justify == "right" else min(natural, _SHORTEST)


class _StoreOnce(argparse.Action):
    """Stores the value of an option, and refuses a second value."""

    def __call__(self, parser: Any, namespace: object, values: Any, option: Any = None) -> None:
        """Store the value."""
        if option and self.dest in parser.stored:
            parser.error(f"{option} is given twice; give it once")
        parser.stored.add(self.dest)
        setattr(namespace, self.dest, values)
