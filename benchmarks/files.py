"""Word vectors of 200,000 words x 300 dimensions: why pyarrow reads text in chunks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.row import Row, Work
from biasbridge.files.vectors import keyed, read_vectors, save_vectors

WORDS, DIM = 200_000, 300


def saved(path: Path) -> Path:
    """Return the path of a vector file; write the file if it is missing."""
    if not path.exists():
        matrix = np.random.default_rng(0).normal(0, 0.3, (WORDS, DIM)).astype(np.float32)
        save_vectors(keyed([f"w{i}" for i in range(WORDS)], matrix), path)
    return path


def read_text(folder: Path) -> Work:
    """Time reading text vectors into memory."""
    return partial(read_vectors, saved(folder / "v.vec"))


def read_binary(folder: Path) -> Work:
    """Time reading word2vec's binary format into memory."""
    return partial(read_vectors, saved(folder / "v.bin"))


ROWS = [
    Row("read text vectors, 200,000 x 300", read_text, 5, 600),
    Row("read binary vectors, 200,000 x 300", read_binary, 2, 600),
]
