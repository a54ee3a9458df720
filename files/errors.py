"""Bad input has one exception type, so that a front door knows it from a bug."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable

from files.printable import printable

LONGEST = 4_000


class InputError(ValueError):
    """What the user gave cannot be used.

    The message names the value, what is allowed and what to do next. Front doors print it without a
    traceback and exit with status 2. It is one line: control characters are escaped, and what is
    longer than ``LONGEST`` characters loses its middle.
    """

    def __init__(self, message: str) -> None:
        line = printable(message)
        half = LONGEST // 2
        super().__init__(line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}")


def nearest(name: object, options: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the option spelt most like ``name``; empty if none is close."""
    close = difflib.get_close_matches(str(name), [str(option) for option in options], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def run_cli(main: Callable[[], int | None]) -> None:
    """Run a command line, exit with its status; ``InputError``: a line on stderr, status 2, an
    interrupt: 130.
    """
    try:
        sys.exit(main() or 0)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
