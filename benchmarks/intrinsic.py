"""Metrics beside their peers, WEFE 1.0.1 and mlxtend, in turns in one process; and a whole audit.

The ratios are of medians: each round times ours and the peer's once. They need ``pip install --no-deps -r tests/peers.txt``; without the
peers only our own times are told.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from files.vectors import open_mapped, save_mapped
from intrinsic import METRICS, exact_p
from intrinsic.audit import audit, choose_metrics
from intrinsic.wordsets import load_query, load_wordset

DIMENSION = 300
WORDS = 20_000
LARGE = 200_000
# Metric, WEFE's class, how many attribute sets it takes, its options, our settings, and the ratio to be reached.
PEERS: list[tuple[str, str, int, dict[str, Any], dict[str, Any], str]] = [
    ("weat", "WEAT", 2, {}, {"convention": "bsa", "min_found": 0.8}, ">= 200"),
    ("mac", "MAC", 2, {}, {}, ">= 20"),
    ("ripa", "RIPA", 1, {}, {}, ">= 20"),
    ("rnsb", "RNSB", 2, {}, {"convention": "wefe"}, ">= 8"),
    ("ect", "ECT", 1, {}, {}, ">= 3"),
    ("rnd", "RND", 1, {}, {}, "-"),
]


def interleaved(ours: Callable[[], object], peers: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The median seconds of both, timed in turns."""
    took = np.empty((rounds, 2))
    for row in took:
        for i, call in enumerate((ours, peers)):
            start = time.perf_counter()
            call()
            row[i] = time.perf_counter() - start
    return float(np.median(took[:, 0])), float(np.median(took[:, 1]))


def made_up(words: int, seed: int = 0) -> KeyedVectors:
    """Random vectors for all words of the built-in queries of an audit in English and for made-up words."""
    queries = {name: load_query(name) for kind in METRICS.values() for name in kind.usual(None, "en")}
    named = list(dict.fromkeys(word for query in queries.values() for wordset in query.sets.values() for word in wordset.words))
    fill = ["z" + "".join(letters) for letters in islice(product("abcdefghijklmnopqrstuvwxy", repeat=4), words - len(named))]
    vectors = KeyedVectors(vector_size=DIMENSION)
    vectors.add_vectors(named + fill, np.random.default_rng(seed).normal(size=(words, DIMENSION)).astype(np.float32))
    return vectors


def against_wefe(vectors: KeyedVectors) -> Iterator[dict[str, Any]]:
    """The example of WEFE's documentation, 8 words a set, as one call of each."""
    from wefe import metrics
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    model = WordEmbeddingModel(vectors, "made up")
    sets = load_query("weat6b")
    x, y, a, b = (list(sets[role].words) for role in "XYAB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.json"
        pairs = [list(pair) for pair in zip(x, y, strict=True)]
        path.write_text(f'{{"mine": {{"words": {a!r}, "pairs": {pairs!r}}}}}'.replace("'", '"'), encoding="utf-8")
        for name, peer, attributes, options, settings, target in PEERS:
            ours = METRICS[name](queries=("mine",), words=str(path)) if name == "ripa" else METRICS[name](queries=("weat6b",), **settings)
            query, measure = Query([x, y], [a, b][:attributes]), getattr(metrics, peer)()
            own, others = interleaved(
                lambda ours=ours: ours.score(vectors, seed=0),  # type: ignore[misc]
                lambda measure=measure, query=query, options=options: measure.run_query(query, model, **options),  # type: ignore[misc]
                rounds=50,
            )
            yield {
                "what": f"{name}, 8 words a set: ours {1000 * own:.3g} ms; WEFE's time over ours",
                "measured": others / own,
                "target": target,
                "unit": "times",
            }


def against_mlxtend() -> dict[str, Any]:
    """The exact p of 8 + 8 values."""
    from mlxtend.evaluate import permutation_test

    x, y = np.random.default_rng(0).normal(size=(2, 8))
    own, others = interleaved(lambda: exact_p(x, y), lambda: permutation_test(x, y, method="exact"), rounds=10)
    return {
        "what": f"exact p of 8 + 8: ours {1000 * own:.3g} ms; mlxtend's time over ours",
        "measured": others / own,
        "target": ">= 50",
        "unit": "times",
    }


def neighbourhood() -> dict[str, Any]:
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
    return {"what": what, "measured": float(np.median(took)), "target": "<= 0.3", "unit": "s"}


def whole_audit() -> dict[str, Any]:
    """Every metric on 200,000 words of 300 dimensions, mapped."""
    with tempfile.TemporaryDirectory() as folder:
        save_mapped(made_up(LARGE), Path(folder) / "vectors")
        vectors = open_mapped(Path(folder) / "vectors")
        start = time.perf_counter()
        rows = audit(vectors, choose_metrics())
        took = time.perf_counter() - start
    return {"what": f"whole audit of 200,000 x 300, {len(rows)} scores, once opened", "measured": took, "target": "<= 10", "unit": "s"}


def rows() -> Iterator[dict[str, Any]]:
    """What was measured, with its unit and target."""
    if find_spec("wefe"):
        yield from against_wefe(made_up(WORDS))
    if find_spec("mlxtend"):
        yield against_mlxtend()
    yield neighbourhood()
    yield whole_audit()
