"""How fast the generated world is made."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from corpora.world import GeneratedCorpus, GeneratedPosts

SIZE = 100_000


def rows() -> list[Row]:
    """Labelled posts and corpus sentences a minute."""
    start = time.perf_counter()
    GeneratedPosts(posts=SIZE).load(seed=0)
    posts = SIZE / (time.perf_counter() - start) * 60
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        GeneratedCorpus(sentences=SIZE).write(Path(folder) / "corpus.txt", seed=0)
        sentences = SIZE / (time.perf_counter() - start) * 60
    return [
        Row("generated posts", posts, "a minute", ">= 200000"),
        Row("generated sentences", sentences, "a minute"),
    ]
