"""WEAT: one effect size, and exact p-values of the usual and of the largest size."""

from __future__ import annotations

import subprocess
import sys
import timeit
from collections.abc import Callable

import numpy as np

from benchmarks.row import Row
from intrinsic import effect_size, exact_p

DIMENSION = 300
# The first call in a process pays for what NumPy loads lazily, so it needs a process of its own.
COLD = """
import time
import numpy as np
from intrinsic import exact_p
x, y = np.random.default_rng(1).normal(size=(2, 8))
start = time.perf_counter()
exact_p(x, y)
print(time.perf_counter() - start)
"""


def milliseconds(call: Callable[[], object], *, repeat: int) -> float:
    """The median of ``repeat`` timed calls."""
    return 1000 * float(np.median(timeit.repeat(call, number=1, repeat=repeat)))


def rows() -> list[Row]:
    """What was measured, with its unit and target."""
    rng = np.random.default_rng(1)
    query = [rng.normal(size=(8, DIMENSION)).astype(np.float32) for _ in range(4)]
    x, y = rng.normal(size=18), rng.normal(size=18)
    cold = [
        float(
            subprocess.run(
                [sys.executable, "-c", COLD], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(5)
    ]
    return [
        Row(
            "WEAT effect size, 8x8x8x8 words of 300 dimensions",
            milliseconds(lambda: effect_size(*query), repeat=500),
            "ms",
            "<= 0.3",
        ),
        Row(
            "exact p, 8+8 words (12,870 partitions), first call of a process",
            1000 * float(np.median(cold)),
            "ms",
            "<= 5",
        ),
        Row(
            "exact p, 18+18 words (9,075,135,300 partitions)",
            milliseconds(lambda: exact_p(x, y), repeat=5),
            "ms",
            "<= 500",
        ),
    ]
