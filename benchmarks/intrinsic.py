"""Metrics: why p is exact up to 18 + 18 words, and why an audit computes every metric."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.row import Row, Work
from biasbridge.files.vectors import keyed, open_mapped, save_mapped
from biasbridge.intrinsic import METRICS, effect_size, exact_p
from biasbridge.intrinsic.audit import choose_metrics, score_metrics
from biasbridge.intrinsic.words import load_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

DIM, LETTERS = 300, "abcdefghijklmnopqrstuvwxy"


def audit_words() -> Iterator[str]:
    """Yield the words of an English audit."""
    for metric in METRICS.values():
        for name in metric.default_queries(None, "en"):
            for wordset in load_query(name).sets.values():
                yield from wordset.words


def random_vectors(size: int) -> KeyedVectors:
    """Return random vectors of the words of an audit and of invented words."""
    real_words = list(dict.fromkeys(audit_words()))
    endings = islice(product(LETTERS, repeat=4), size - len(real_words))
    words = [*real_words, *("z" + "".join(letters) for letters in endings)]
    matrix = np.random.default_rng(0).normal(size=(size, DIM)).astype(np.float32)
    return keyed(words, matrix)


def effect_sizes(folder: Path) -> Work:
    """Time 1,000 effect sizes of WEAT."""
    rng = np.random.default_rng(1)
    query = [rng.normal(size=(8, DIM)).astype(np.float32) for _ in range(4)]
    return lambda: [effect_size(*query) for _ in range(1000)]


def exact(size: int, folder: Path) -> Work:
    """Time the exact p of ``size`` + ``size`` words."""
    x, y = np.random.default_rng(1).normal(size=(2, size))
    return partial(exact_p, x, y)


def neighbourhood(folder: Path) -> Work:
    """Time NBM under ten base pairs with the neutral vocabulary cached."""
    vectors, metric = random_vectors(28_000), METRICS["nbm"](queries=("base_pairs",))
    metric.score(vectors, seed=0)
    return partial(metric.score, vectors, seed=0)


def whole_audit(folder: Path) -> Work:
    """Time every metric on memory-mapped vectors."""
    save_mapped(random_vectors(200_000), folder / "vectors")
    return partial(score_metrics, open_mapped(folder / "vectors"), choose_metrics())


ROWS = [
    Row("1,000 WEAT effect sizes, 8 words a set, 300-d", effect_sizes, 0.3, repeat=5),
    Row("exact p, 8 + 8 words, first call of a process", partial(exact, 8), 0.005),
    Row("exact p, 18 + 18 words (9,075,135,300 partitions)", partial(exact, 18), 0.5, repeat=3),
    Row("NBM, 320 words in 26,000 neutral ones, 10 pairs", neighbourhood, 0.3, repeat=5),
    Row("audit of 200,000 x 300 vectors, every metric", whole_audit, 10, 1000),
]
