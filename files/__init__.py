"""The bottom room: the file formats the project reads or writes, and the error for bad input."""

from biasbridge.files.choice import Choice, choice
from biasbridge.files.errors import InputError, nearest, run_cli
from biasbridge.files.paths import atomic_path
from biasbridge.files.text import read_lines

__all__ = ["Choice", "InputError", "atomic_path", "choice", "nearest", "read_lines", "run_cli"]
