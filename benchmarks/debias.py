"""Attract-repel on 200,000 words x 300 dimensions, and balancing of half a million lines: ``python
-m benchmarks debias``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from debias.balance import Balance
from debias.roles import words_by_role
from files.vectors import keyed, save_vectors
from intrinsic.wordsets import load_query

WORDS, DIM, LINES = 200_000, 300, 500_000
# A process of its own, so that its peak is that of this work; the vectors are memory-mapped and the
# imports are not counted in the time.
MEASURE = """
import re, sys, time
from itertools import product
from pathlib import Path
from debias.attract_repel import AttractRepel
from files.vectors import open_mapped
vectors = open_mapped(sys.argv[1])
m, f, a, b = (vectors.index_to_key[start : start + 50] for start in (0, 50, 100, 150))
attract, repel = [*product(m, b), *product(f, a)], [*product(m, a), *product(f, b)]
start = time.perf_counter()
moved = AttractRepel("debias").modify_pairs(vectors, attract, repel, seed=0)
seconds = time.perf_counter() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1e6
print(seconds, peak)
"""


def rows() -> list[Row]:
    """What was measured, with its unit and what it must reach."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_attract_repel(Path(folder)), _balance(Path(folder))]


def _attract_repel(folder: Path) -> list[Row]:
    """5 epochs over 5,000 + 5,000 pairs, the copy of the vectors included."""
    matrix = np.random.default_rng(0).standard_normal((WORDS, DIM), dtype=np.float32)
    save_vectors(keyed([f"w{number}" for number in range(WORDS)], matrix), folder / "mapped")
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder / "mapped")],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak = map(float, run.stdout.split())
    what = f"attract-repel, 10,000 pairs, {WORDS:,} x {DIM}"
    return [Row(what, seconds, "s", "<= 1.5"), Row(f"{what}, peak", peak, "GB", "<= 0.6")]


def _balance(folder: Path) -> Row:
    """Balancing lines of 12 tokens, of which one in 12 lines holds an attribute and one in 4 a
    target, as in tweets.
    """
    draw = np.random.default_rng(0)
    query = load_query("gender_union")
    words = words_by_role(query)
    filler = np.array([f"token{number}" for number in range(5000)])
    tokens = filler[draw.integers(len(filler), size=(LINES, 12))].astype(object)
    for position, listed, share in (
        (3, words["X"] + words["Y"], 1 / 4),
        (7, words["A"] + words["B"], 1 / 12),
    ):
        chosen = np.flatnonzero(draw.random(LINES) < share)
        tokens[chosen, position] = draw.choice(np.array(listed), size=len(chosen))
    lines: list[list[str]] = tokens.tolist()
    (folder / "corpus.txt").write_text(
        "".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8"
    )
    start = time.perf_counter()
    counts = Balance("debias").balance(
        folder / "corpus.txt", folder / "balanced.txt", query, seed=0
    )
    seconds = time.perf_counter() - start
    what = f"balance, {LINES:,} lines of 12 tokens, {counts['removed']:,} removed"
    return Row(what, LINES / seconds / 1e6, "M lines/s", ">= 0.5")
