"""Fifty identity terms, each against the rest, by several queries: 1,200 slices. What all that is
concluded from them takes, each command a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from analysis.results import Tables, write_tables
from benchmarks.analysis import made_up_tables
from benchmarks.row import Row

POINTS, TERMS = 1_000, 50
CONCLUDE = """
import sys
from pathlib import Path
from rich.console import Console
from analysis.results import read_tables
from analysis.study import Correlation
folder = Path(sys.argv[1])
Correlation().conclude(read_tables(folder), folder, Console(quiet=True))
"""


def rows() -> Iterator[Row]:
    """Seconds and memory of the correlations alone, and of the whole study."""
    with tempfile.TemporaryDirectory() as name:
        write_tables(name, identity_terms())
        for what, command in (
            ("correlations", ("-m", "analysis.correlate", name)),
            ("correlations, figures and report", ("-c", CONCLUDE, name)),
        ):
            seconds, gigabytes = cost(command)
            yield Row(f"{what} of {TERMS} identity terms, 1,200 slices", seconds, "s", "<= 120")
            yield Row("the same, memory", gigabytes, "GB", "<= 1")


def identity_terms() -> Tables:
    """One method, two embeddings, three queries, and the recall gap of every term."""
    tables = made_up_tables(POINTS, measures=["recall"], groups=[f"t{i}" for i in range(TERMS)])
    method = tables.points["method"].replace("balance", "attract_repel")
    return tables._replace(points=tables.points.assign(method=method))


def cost(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Seconds by the clock and the most memory, in gigabytes, of a Python process."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, arguments
    return time.perf_counter() - start, used.ru_maxrss / 1e6
