"""Resamples of words, and of posts, that all embeddings share.

Scores of several embeddings share the words for the concepts, and their gaps the posts, so the
choice of words and posts moves them together. Shared resamples show that part of their noise: over
embeddings, the covariance of what was resampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import shake_128
from math import exp, factorial

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

RESAMPLES = 200
_ID_BLOCK = 8192
# Poisson(1) quantiles of 2^16 equally likely numbers
_POISSON: NDArray[np.intp] = np.searchsorted(
    np.cumsum([exp(-1) / factorial(k) for k in range(9)]), (np.arange(2**16) + 0.5) / 2**16
)


def times_drawn(names: Iterable[str]) -> NDArray[np.intp]:
    """Draw Poisson bootstrap counts of names, (names, 200), by a hash of the name alone."""
    hashes = b"".join(shake_128(name.encode()).digest(2 * RESAMPLES) for name in names)
    counts: NDArray[np.intp] = _POISSON[np.frombuffer(hashes, "<u2").reshape(-1, RESAMPLES)]
    return counts


def resampled_means(values: NDArray[np.float64], times: NDArray[np.intp]) -> list[float]:
    """Return the mean of values (n,) in each resample (n, 200); NaN in an empty one."""
    with np.errstate(invalid="ignore"):
        means: list[float] = (values @ times / times.sum(axis=0)).tolist()
    return means


def draw_items(role: str, words: Sequence[str]) -> NDArray[np.intp]:
    """Draw counts of the items in a role, whatever their case; a single item is drawn once."""
    if len(words) == 1:
        return np.ones((1, RESAMPLES), dtype=np.intp)
    return times_drawn(f"{role} {word.lower()}" for word in words)


def resample_counts(ids: Sequence[str], kinds: Counts, n_kinds: int) -> Counts:
    """Count the items of each kind (0, 1, ..., ``n_kinds`` - 1) in each resample: (200, n_kinds).

    Counts are those of :func:`times_drawn` by id, so neither other items nor their order change
    them. Kinds are resampled independently; items of one id go together.
    """
    counts = np.zeros((RESAMPLES, n_kinds), dtype=np.int64)
    for start in range(0, len(ids), _ID_BLOCK):
        block = slice(start, start + _ID_BLOCK)
        for resample, weights in zip(counts, times_drawn(ids[block]).T, strict=True):
            # Exact: whole numbers far below 2^53
            resample += np.bincount(kinds[block], weights, n_kinds).astype(np.int64)
    return counts
