"""Opening word vectors of 200,000 words x 300 dimensions: ``python -m benchmarks files``.

Each figure comes from a fresh process, imports not counted in its time, that opens a file made in a
temporary folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from files.vectors import keyed, save_vectors

WORDS, DIM = 200_000, 300
MEASURE = """
import re, resource, sys, time
from pathlib import Path
from gensim.models import KeyedVectors
from files.vectors import open_vectors, read_vectors
text, binary, cache = (Path(argument) for argument in sys.argv[1:])
start = time.perf_counter()
vectors = {call}
seconds = time.perf_counter() - start
assert vectors.vectors.shape == ({words}, {dim}), vectors.vectors.shape
status = Path("/proc/self/status")  # ru_maxrss of a child starts at its parent's
peak = int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) / 2**10 if status.exists() else \\
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(seconds, peak)
"""
# What, call, rows, target in seconds, target in MiB; an empty target is only for comparison
CALLS = [
    ("read text into memory", "read_vectors(text)", WORDS, "5", "700"),
    ("open text for the first time", "open_vectors(text, cache=cache)", WORDS, "5", "500"),
    ("open text afterwards", "open_vectors(text, cache=cache)", WORDS, "0.2", "200"),
    (
        "read 1,000 of the words from text",
        "read_vectors(text, vocab=['w%d' % i for i in range(1000)])",
        1000,
        "5",
        "500",
    ),
    ("read binary into memory", "read_vectors(binary)", WORDS, "2", "700"),
    (
        "gensim reads the first 20,000 rows of text",
        "KeyedVectors.load_word2vec_format(text, limit=20_000)",
        20_000,
        "",
        "",
    ),
]


def rows() -> list[Row]:
    """Seconds and peak memory of each call."""
    table: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder) / "vectors.vec", Path(folder) / "vectors.bin"
        matrix = np.random.default_rng(0).normal(0, 0.3, (WORDS, DIM)).astype(np.float32)
        vectors = keyed([f"w{i}" for i in range(WORDS)], matrix)
        save_vectors(vectors, text)
        save_vectors(vectors, binary)
        for what, call, words, seconds, memory in CALLS:
            took, peak = _measure(call, [text, binary, Path(folder) / "cache"], words)
            table += [
                Row(what, took, "s", seconds and f"<= {seconds}"),
                Row(f"{what}: peak memory", peak, "MiB", memory and f"<= {memory}"),
            ]
    return table


def _measure(call: str, arguments: list[Path], words: int) -> tuple[float, float]:
    """Seconds and peak MiB of one call in a process of its own."""
    code = MEASURE.format(call=call, words=words, dim=DIM)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True
    )
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak
