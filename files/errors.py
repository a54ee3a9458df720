"""The error of bad input, which commands tell from a bug, and text that is safe to print."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from biasbridge.files.interrupts import Interrupted, interruptible

_LONGEST = 4_000  # characters of a message
_SHOWN = 80  # characters of a path that is too long
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
OF_THE_SYSTEM = (*DISK_FULL, errno.ENAMETOOLONG)  # that ``run_cli`` tells from a bug
# Characters that move the cursor, end a line or change the text direction; half surrogates and
# noncharacters
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class InputError(ValueError):
    """Input of the user that cannot be used.

    The message names the value, what is allowed and what to do next. Commands print it without a
    traceback and exit with status 2. It is one line: control characters are escaped, and the middle
    of more than ``_LONGEST`` characters is cut.
    """

    def __init__(self, message: str) -> None:
        line = printable(message)
        half = _LONGEST // 2
        super().__init__(line if len(line) <= _LONGEST else f"{line[:half]} ... {line[-half:]}")


def nearest(name: object, options: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` with the closest option, or one that begins with the name;
    empty if none is close.
    """
    known = [*map(str, options)]
    close = difflib.get_close_matches(str(name), known, n=1)
    close = close or [option for option in known if name and option.startswith(str(name))]
    return f"; did you mean {close[0]!r}?" if close else ""


def require_known(names: Iterable[str], allowed: Iterable[str], user: str) -> None:
    """Raise ``InputError`` for the first of the names that ``user`` has no option of."""
    options = [*allowed]
    for name in names:
        if name not in options:
            problem = f"{user} has no option {name!r}{nearest(name, options)}"
            raise InputError(f"{problem}; give any of {', '.join(options)}")


def printable(text: str) -> str:
    r"""Escape the control characters of a text: ``\n``, ``\x1b``, ``\u202e``."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def run_cli(main: Callable[[], int | None], *, interrupted: str = "interrupted") -> None:
    """Run a command and exit with its status; after ``InputError`` with 2 and a line on stderr,
    after a signal with 128 + its number and the line ``interrupted``. A full disk under its output
    and a name that is too long for a file are such lines too.
    """
    try:
        with interruptible():
            try:
                sys.exit(main() or 0)
            finally:
                sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # the terminal is gone
            print(interrupted, file=sys.stderr)
        sys.exit(stop.status if isinstance(stop, Interrupted) else 130)
    except OSError as error:
        is_pipe = isinstance(error, BrokenPipeError)
        if not (is_pipe or error.errno in OF_THE_SYSTEM):
            raise
        if error.errno == errno.ENAMETOOLONG:
            name = printable(str(error.filename)[:_SHOWN])
            print(f"error: the path {name}... is too long; give a shorter name", file=sys.stderr)
            sys.exit(2)
        with suppress(OSError):  # the lines left would be tried again at the end of the process
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if is_pipe:
            sys.exit(1)
        with suppress(OSError):
            place = f"cannot write {error.filename or 'the output'}: {error.strerror}"
            print(f"error: {place}; free some space, or choose another place", file=sys.stderr)
        sys.exit(2)
