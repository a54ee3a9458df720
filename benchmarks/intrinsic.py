"""Metrics beside their peers, WEFE 1.0.1 and mlxtend, in turns in one process; and a whole audit.

The ratios are of medians: each round times ours and the peer's once. They need ``pip install
--no-deps -r tests/peers.txt``; without the peers only our own times are told.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import accumulate, islice, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from benchmarks.row import Row
from files.vectors import open_mapped, save_mapped
from intrinsic import (
    METRICS,
    coherence,
    effect_size,
    exact_p,
    mean_cosines,
    negative_sentiment,
    relative_norm_distances,
    ripa,
)
from intrinsic.audit import audit, choose_metrics
from intrinsic.metrics.sentiment import divergence_from_uniform
from intrinsic.wordsets import load_query, load_wordset

Floats = NDArray[np.float32]

DIMENSION = 300
WORDS = 20_000
LARGE = 200_000
# Metric, WEFE's class, how many attribute sets it takes, our settings, our equation on the words'
# vectors, and the ratio to reach.
Equation = Callable[[Floats, Floats, Floats, Floats, Floats], object]
PEERS: list[tuple[str, str, int, dict[str, Any], Equation, str]] = [
    (
        "weat",
        "WEAT",
        2,
        {"convention": "bsa", "min_found": 0.8},
        lambda x, y, a, b, pairs: effect_size(x, y, a, b),
        ">= 200",
    ),
    ("mac", "MAC", 2, {}, lambda x, y, a, b, pairs: mean_cosines([x, y], [a, b]).mean(), ">= 20"),
    ("ripa", "RIPA", 1, {}, lambda x, y, a, b, pairs: ripa(a, pairs).mean(), ">= 20"),
    (
        "rnsb",
        "RNSB",
        2,
        {"convention": "wefe"},
        lambda x, y, a, b, pairs: divergence_from_uniform(
            negative_sentiment(a, b, np.concatenate([x, y]))
        ),
        ">= 8",
    ),
    ("ect", "ECT", 1, {}, lambda x, y, a, b, pairs: coherence(x, y, a), ">= 3"),
    ("rnd", "RND", 1, {}, lambda x, y, a, b, pairs: relative_norm_distances(x, y, a).mean(), ""),
]
SIZES = (8, 320)  # words in each attribute set; target sets have as many, but 25 at most
CALLS = 10  # in a row, so that neither always runs in the other's cache


def interleaved(*calls: Callable[[], object], rounds: int) -> list[float]:
    """The median seconds of each, timed in turns."""
    took = np.empty((rounds, len(calls)))
    for row in took:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            row[i] = (time.perf_counter() - start) / CALLS
    return [float(np.median(column)) for column in took.T]


def made_up(words: int, seed: int = 0) -> KeyedVectors:
    """Random vectors for all words of the built-in queries of an audit in English and for made-up
    words.
    """
    queries = {
        name: load_query(name) for kind in METRICS.values() for name in kind.usual(None, "en")
    }
    named = list(
        dict.fromkeys(
            word
            for query in queries.values()
            for wordset in query.sets.values()
            for word in wordset.words
        )
    )
    fill = [
        "z" + "".join(letters)
        for letters in islice(product("abcdefghijklmnopqrstuvwxy", repeat=4), words - len(named))
    ]
    vectors = KeyedVectors(vector_size=DIMENSION)
    vectors.add_vectors(
        named + fill, np.random.default_rng(seed).normal(size=(words, DIMENSION)).astype(np.float32)
    )
    return vectors


def against_wefe(vectors: KeyedVectors) -> Iterator[Row]:
    """Random words in sets of two sizes: WEFE's ``run_query`` against our equation on vectors
    looked up, and against our whole row.
    """
    from wefe import metrics
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    model = WordEmbeddingModel(vectors, "made up")
    drawn = [
        vectors.index_to_key[i] for i in np.random.default_rng(0).permutation(len(vectors)).flat
    ]
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            of_targets = min(size, 25)
            starts = accumulate([0, of_targets, of_targets, size, size])
            x, y, a, b = (drawn[start:stop] for start, stop in pairwise(starts))
            roles = {
                "X": x,
                "Y": y,
                "A": a,
                "B": b,
                "words": a,
                "pairs": list(zip(x, y, strict=True)),
            }
            path = Path(folder) / f"mine{size}.json"
            path.write_text(json.dumps({"mine": roles}), encoding="utf-8")
            for name, peer, attributes, settings, equation, target in PEERS:
                metric = METRICS[name].by(queries=("mine",), words=str(path), **settings)
                query, measure = Query([x, y], [a, b][:attributes]), getattr(metrics, peer)()
                found = [vectors[words] for words in (x, y, a, b)]
                found.append(np.stack(found[:2], axis=1))
                calls = (
                    partial(equation, *found),
                    partial(metric.score, vectors, seed=0),
                    partial(measure.run_query, query, model),
                )
                own, whole, others = interleaved(*calls, rounds=7)
                what = (
                    f"{name}, {of_targets} + {size} words: equation {1000 * own:.2g} ms, row"
                    f" {1000 * whole:.2g}, WEFE {1000 * others:.2g}"
                )
                yield Row(what, others / own, f"times; row {others / whole:.2g}", target)


def against_mlxtend() -> Row:
    """The exact p of 8 + 8 values."""
    from mlxtend.evaluate import permutation_test

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=8), rng.normal(size=8)
    own, others = interleaved(
        lambda: exact_p(x, y), lambda: permutation_test(x, y, method="exact"), rounds=3
    )
    what = f"exact p of 8 + 8: ours {1000 * own:.3g} ms, mlxtend {1000 * others:.3g} ms"
    return Row(what, others / own, "times", ">= 50")


def neighbourhood() -> Row:
    """NBM of 320 words in 26,000 neutral words under ten base pairs, the vocabulary once made."""
    vectors = made_up(28_000)
    metric = METRICS["nbm"](queries=("base_pairs",))
    metric.score(vectors, seed=0)
    took = []
    for _ in range(7):
        start = time.perf_counter()
        metric.score(vectors, seed=0)
        took.append(time.perf_counter() - start)
    what = f"NBM of {len(load_wordset('professions').words)} words, 26,000 neutral words, 10 pairs"
    return Row(what, float(np.median(took)), "s", "<= 0.3")


def whole_audit() -> Row:
    """Every metric on 200,000 words of 300 dimensions, mapped."""
    with tempfile.TemporaryDirectory() as folder:
        save_mapped(made_up(LARGE), Path(folder) / "vectors")
        vectors = open_mapped(Path(folder) / "vectors")
        start = time.perf_counter()
        rows = audit(vectors, choose_metrics())
        took = time.perf_counter() - start
    what = f"whole audit of 200,000 x 300, {len(rows)} scores, once opened"
    return Row(what, took, "s", "<= 10")


def rows() -> Iterator[Row]:
    """What was measured, with its unit and target."""
    if find_spec("wefe"):
        yield from against_wefe(made_up(WORDS))
    if find_spec("mlxtend"):
        yield against_mlxtend()
    yield neighbourhood()
    yield whole_audit()
