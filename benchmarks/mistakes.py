"""How soon mistakes at the command line are answered: ``python -m benchmarks mistakes``.

Each of the fifty of ``tests/mistakes.py`` is a process of its own, start included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.row import Row
from files.rooms import HOME
from tests.mistakes import MISTAKES, prepare

RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from biasbridge.__main__ import run; run()"


def rows() -> Iterator[Row]:
    """The slowest and the usual answer, how many are none, and how long the usage takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        answers = [timed(folder, *command.split()) for command, _ in MISTAKES]
        seconds, right = zip(*answers, strict=True)
        what = f"{len(MISTAKES)} mistakes at the command line, the slowest"
        yield Row(what, max(seconds), "s", "<= 2")
        yield Row("the same, median", median(seconds), "s")
        yield Row("the same, not answered by one line and status 2", right.count(False), "", "<= 0")
        for command in ("--help", "train --help", "intrinsic --help"):
            yield Row(f"biasbridge {command}", timed(folder, *command.split())[0], "s", "<= 1")


def timed(folder: Path, *arguments: str) -> tuple[float, bool]:
    """Seconds of a command, and whether it ended with one line and status 2."""
    command = [sys.executable, "-c", RUN, str(HOME), *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    answered = done.returncode == 2 and done.stderr.count("\n") == 1
    return time.perf_counter() - start, answered
