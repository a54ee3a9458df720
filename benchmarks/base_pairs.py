"""Kappas of a bootstrap over words, against a loop over peer libraries, interleaved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from analysis.agreement import cohen_kappa, fleiss_kappa
from benchmarks.row import Row

if TYPE_CHECKING:
    from analysis.arrays import Floats

WORDS, PAIRS, RESAMPLES, TURNS = 320, 10, 1_000, 3
PEER = 50  # resamples that the peer is asked for in a turn


def rows() -> Iterator[Row]:
    """Seconds of ours, and how many times as long the peer takes."""
    rng = np.random.default_rng(0)
    lean = rng.normal(size=(WORDS, 1))
    ratings = (lean + rng.normal(size=(WORDS, PAIRS)) > 0).astype(int)
    weights = rng.multinomial(WORDS, np.full(WORDS, 1 / WORDS), size=RESAMPLES)
    drawn = [np.repeat(ratings, times, axis=0) for times in weights[:PEER]]
    x, y = ratings[:, 0], ratings[:, 1]
    compared: list[tuple[str, Callable[[], Floats], Callable[[], list[float]]]] = [
        (
            "Fleiss's kappa, statsmodels",
            lambda: fleiss_kappa(ratings, weights),
            lambda: [peer_fleiss(aggregate_raters(each)[0]) for each in drawn],
        ),
        (
            "Cohen's kappa, scikit-learn",
            lambda: cohen_kappa(x, y, weights),
            lambda: [cohen_kappa_score(each[:, 0], each[:, 1]) for each in drawn],
        ),
    ]
    for name, ours, peer in compared:
        assert np.allclose(ours()[:PEER], peer())
        turns = [(_seconds(ours), _seconds(peer) * RESAMPLES / PEER) for _ in range(TURNS)]
        mine, theirs = (median(each) for each in zip(*turns, strict=True))
        what = f"{name}: {RESAMPLES:,} resamples of {WORDS} words, {PAIRS} pairs"
        yield Row(what, mine, "s")
        yield Row("  a loop over the peer takes", theirs / mine, "times as long", ">= 10")


def _seconds(compute: Callable[[], object]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start
