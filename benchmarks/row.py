"""One benchmark, a row of the table, measured in a separate process.

``python -m benchmarks.row MODULE NUMBER FOLDER`` measures a row and prints its cost.
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
    """A benchmark: ``prepare`` returns the function to time and may write to a folder that the rows
    of a module share. The limits are ``seconds`` and ``megabytes`` added to the process.
    """

    what: str
    prepare: Callable[[Path], Work]
    seconds: float
    megabytes: float = inf
    repeat: int = 1  # the median is reported


class Cost(NamedTuple):
    """Wall-clock seconds, CPU seconds (less affected by other processes) and MB added at the peak
    (NaN if the system does not report it).
    """

    seconds: float
    processor: float
    megabytes: float


def measure(row: Row, folder: Path) -> Cost:
    """Measure a row in this process."""
    work = row.prepare(folder)
    costs: list[Cost] = []
    for _ in range(row.repeat):
        memory, processor, start = peak_memory(reset=True), sum(os.times()[:4]), time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        costs.append(Cost(seconds, sum(os.times()[:4]) - processor, peak_memory() - memory))
        del result
    return Cost(*(median(values) for values in zip(*costs, strict=True)))


def measure_apart(module: str, number: int, folder: Path) -> Cost:
    """Measure a row, by module and number, in a new process."""
    command = [sys.executable, "-m", "benchmarks.row", module, str(number), str(folder)]
    root = Path(__file__).resolve().parent.parent
    stdout = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    return Cost(*json.loads(stdout.splitlines()[-1]))


def peak_memory(*, reset: bool = False) -> float:
    """Return the peak memory of this process in MB since the last reset (Linux only)."""
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
