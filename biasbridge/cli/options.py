"""Options shared by several commands."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.paths import require_output

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

TRUSTED = "open gensim's own format, a pickle, which can run any code: only of files you made"


def add_trusted(parser: ArgumentParser) -> None:
    """Add ``--trusted``, for commands that read vectors."""
    parser.add_argument("--trusted", action="store_true", help=TRUSTED)


def add_config_dir(parser: ArgumentParser) -> None:
    """Add ``--config-dir``, for commands that take a user's own metrics or methods."""
    own = "folder with modules of your own metrics and methods"
    parser.add_argument("--config-dir", type=Path, metavar="FOLDER", help=own)


def output_file(*endings: str, stdout: bool = False) -> Callable[[str], Path]:
    """Return the argparse type of an output file, which is checked before anything is read.

    "" among the ``endings`` allows a name without one; ``-`` is allowed with ``stdout``.
    """

    def check(text: str) -> Path:
        if text == "-" and not stdout:
            raise ArgumentTypeError("cannot write to -, the standard output; give a file")
        try:
            return require_output(text, endings)
        except InputError as error:
            raise ArgumentTypeError(str(error)) from None

    return check


CSV, PAGE = output_file(".csv", ""), output_file(".html")


def count(text: str) -> int:
    """Parse a whole number of at least 1, as an argparse type."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r}: give a whole number of at least 1")
    return int(text)


def split_names(text: str) -> list[str]:
    """Split ``a, b`` into names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_data(options: ArgumentParser) -> None:
    """Add the arguments shared by ``check`` and ``init``."""
    add = options.add_argument
    data = "labelled posts (a table), a corpus (text), words (YAML, JSON or CSV), vectors"
    add("data", nargs="+", type=Path, metavar="DATA", help=data)
    add("--text", metavar="COL", help="column of the posts' text (default: by its name)")
    add("--label", metavar="COL", help="column of the labels (default: by its name)")
    counts = "a label of the positive class; may be repeated (default: labels are 0 and 1)"
    add("--positive", metavar="LABEL", action="append", default=[], help=counts)
    add("--group", metavar="COL", help="column of the groups (default: groups are found by words)")
    for name in ("privileged", "unprivileged"):
        add(f"--{name}", metavar="GROUP", help=f"the {name} group (default: by their names)")
    add("--language", metavar="CODE", help="of the data (default: guessed)")
    add_trusted(options)
