"""One row of the table of benchmarks, measured in a process of its own.

``python -m benchmarks.row MODULE NUMBER FOLDER`` measures one and prints its cost.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from statistics import median
from typing import NamedTuple

Work = Callable[[], object]


class Row(NamedTuple):
    """``prepare`` makes what is needed, in a folder that the rows of a module share, and gives back
    what is timed. It must take at most ``seconds`` and add at most ``megabytes`` to the process.
    """

    what: str
    prepare: Callable[[Path], Work]
    seconds: float
    megabytes: float = inf
    repeat: int = 1  # the median counts


class Cost(NamedTuple):
    """Seconds by the clock and of the processor, which a busy machine changes less, and the MB that
    the work added at its peak (NaN where the system does not say).
    """

    seconds: float
    processor: float
    megabytes: float


def measure(row: Row, folder: Path) -> Cost:
    """The cost of a row in this process."""
    work = row.prepare(folder)
    costs: list[Cost] = []
    for _ in range(row.repeat):
        memory, processor, start = peak_memory(reset=True), sum(os.times()[:4]), time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        costs.append(Cost(seconds, sum(os.times()[:4]) - processor, peak_memory() - memory))
        del result
    return Cost(*(median(each) for each in zip(*costs, strict=True)))


def measure_apart(module: str, number: int, folder: Path) -> Cost:
    """The cost of the row of that number of a module in a new process."""
    command = [sys.executable, "-m", "benchmarks.row", module, str(number), str(folder)]
    root = Path(__file__).resolve().parent.parent
    printed = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    return Cost(*json.loads(printed.splitlines()[-1]))


def peak_memory(*, reset: bool = False) -> float:
    """The most memory in MB that this process has held since the last reset, as Linux counts it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return nan
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def main(module: str, number: str, folder: str) -> None:
    """Measure one row and print its cost."""
    rows: list[Row] = importlib.import_module(f"benchmarks.{module}").ROWS
    print(json.dumps(measure(rows[int(number)], Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
