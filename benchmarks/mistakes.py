"""How soon mistakes at the command line are answered: ``python -m benchmarks mistakes``.

Each of the fifty of ``tests/mistakes.py`` is a process of its own, start included. Seconds of the
processor tell what a machine that others use as well takes longer for.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.row import Row
from files.rooms import HOME
from tests.mistakes import MISTAKES, prepare

RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from biasbridge.__main__ import run; run()"


class Answer(NamedTuple):
    """Seconds, those of the processor, and whether it was one line and status 2."""

    seconds: float
    processor: float
    right: bool


def rows() -> Iterator[Row]:
    """The slowest and the usual answer, how many are none, and how long the usage takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        answers = [answer(folder, *command.split()) for command, _ in MISTAKES]
        what = f"{len(MISTAKES)} mistakes at the command line"
        yield Row(f"{what}, the slowest", max(each.seconds for each in answers), "s", "<= 2")
        yield Row("the same, median", median(each.seconds for each in answers), "s")
        slowest = max(each.processor for each in answers)
        yield Row("the same, the slowest, of the processor", slowest, "s", "<= 2")
        wrong = [each.right for each in answers].count(False)
        yield Row("the same, not answered by one line and status 2", wrong, "", "<= 0")
        for command in ("--help", "train --help", "intrinsic --help"):
            told = answer(folder, *command.split())
            yield Row(f"biasbridge {command}", told.seconds, "s", "<= 1")
            yield Row("the same, of the processor", told.processor, "s")


def answer(folder: Path, *arguments: str) -> Answer:
    """What becomes of a command."""
    command = [sys.executable, "-c", RUN, str(HOME), *arguments]
    before, start = _processor(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    right = done.returncode == 2 and done.stderr.count("\n") == 1
    return Answer(time.perf_counter() - start, _processor() - before, right)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
