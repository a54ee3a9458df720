"""The bottom room: every file format the project reads or writes, and the one error type for bad
input.
"""

from files.atomic import atomic_path
from files.errors import InputError, nearest, run_cli
from files.text import read_lines

__all__ = ["InputError", "atomic_path", "nearest", "read_lines", "run_cli"]
