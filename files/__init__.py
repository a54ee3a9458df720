"""The bottom room: the file formats the project reads or writes, and the error for bad input."""

from files.atomic import atomic_path
from files.choice import Choice, choice
from files.errors import InputError, nearest, run_cli
from files.text import read_lines

__all__ = ["Choice", "InputError", "atomic_path", "choice", "nearest", "read_lines", "run_cli"]
