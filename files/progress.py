"""Progress of a command as lines, for output that is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from biasbridge.files.verbosity import LOG

SECONDS = 30.0  # between two lines


@contextmanager
def progress_lines(describe: Callable[[], str]) -> Iterator[None]:
    """Log what ``describe`` returns every ``SECONDS`` of the block, unless standard output is a
    terminal or ``--quiet`` was given.
    """
    if sys.stdout.isatty():
        yield
        return
    start, is_over = time.monotonic(), threading.Event()

    def report() -> None:
        while not is_over.wait(SECONDS):
            LOG.warning("after %s: %s", duration(time.monotonic() - start), describe())

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def duration(seconds: float) -> str:
    """Format a duration: ``<1 s``, ``4 s``, ``3 min``, ``2.5 h``, ``3.1 d``."""
    for unit, size in (("d", 86400), ("h", 3600)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"
