"""File-system events of this process, and its end at one of them, as by a kill."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.utime", "os.link")
CRASHED = 137


def count(folder: Path, tell: Callable[[], object], crash_at: int) -> None:
    """End this process at an event; ``tell`` each."""
    seen = 0
    inside = os.fspath(folder) + os.sep

    def event() -> None:
        nonlocal seen
        seen += 1
        tell()
        if seen == crash_at:
            os._exit(CRASHED)

    def hook(name: str, args: tuple[object, ...]) -> None:
        if not args or not isinstance(args[0], str | os.PathLike):
            return
        if not os.path.abspath(os.fspath(args[0])).startswith(inside):
            return
        flags = args[2] if name == "open" else 0
        if name in CHANGES or (isinstance(flags, int) and flags & WRITES):
            event()

    sys.addaudithook(hook)
