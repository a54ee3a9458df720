"""How fast the generated world is made."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from corpora.world import GeneratedCorpus, GeneratedPosts

SIZE = 100_000


def rows() -> list[dict[str, str | float]]:
    """Labelled posts and corpus sentences a minute."""
    start = time.perf_counter()
    GeneratedPosts(posts=SIZE).load(seed=0)
    posts = SIZE / (time.perf_counter() - start) * 60
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        GeneratedCorpus(sentences=SIZE).write(Path(folder) / "corpus.txt", seed=0)
        sentences = SIZE / (time.perf_counter() - start) * 60
    return [
        {"what": "generated posts", "measured": posts, "unit": "a minute", "target": ">= 200000"},
        {"what": "generated sentences", "measured": sentences, "unit": "a minute", "target": ""},
    ]
