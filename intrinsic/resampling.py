"""The same resamples of words, and of posts, for every embedding that is asked about them.

Scores of several embeddings share the words that stand for the concepts, and their gaps the posts
that they are measured on, so the choice of words and posts moves them together. Resamples drawn
alike for all show that part of their noise: over embeddings, the covariance of what was resampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import shake_128
from math import exp, factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from intrinsic.lookup import Found

Counts = NDArray[np.int64]

RESAMPLES = 200
BLOCK = 8192
# Of 2^16 equally likely numbers, the Poisson(1) quantile of each
_POISSON: NDArray[np.intp] = np.searchsorted(
    np.cumsum([exp(-1) / factorial(k) for k in range(9)]), (np.arange(2**16) + 0.5) / 2**16
)


def times_drawn(names: Iterable[str]) -> NDArray[np.intp]:
    """How often each is drawn into each resample, (names, 200): the Poisson bootstrap (Hanley and
    MacGibbon, 2006).

    Poisson(1), decided by two bytes of a hash of the name alone, so that no other name changes it.
    """
    hashes = b"".join(shake_128(name.encode()).digest(2 * RESAMPLES) for name in names)
    drawn: NDArray[np.intp] = _POISSON[np.frombuffer(hashes, "<u2").reshape(-1, RESAMPLES)]
    return drawn


def draw_items(role: str, found: Found) -> NDArray[np.intp]:
    """As ``times_drawn`` for the items found in a role, whatever case they were found in; the only
    item of a role is drawn once.
    """
    if len(found.words) == 1:
        return np.ones((1, RESAMPLES), dtype=np.intp)
    return times_drawn(f"{role} {word.lower()}" for word in found.words)


def resample_counts(ids: Sequence[str], kinds: Counts, n_kinds: int) -> Counts:
    """Count the items of each kind (0, 1, ..., ``n_kinds`` - 1) in each resample: (200, n_kinds).

    The Poisson bootstrap (Hanley and MacGibbon, 2006): how often an item is drawn into a resample
    is Poisson(1), and a function of its id alone, so that neither the other items nor their order
    change it. Kinds are resampled independently; items of one id go together.
    """
    counts = np.zeros((RESAMPLES, n_kinds), dtype=np.int64)
    for start in range(0, len(ids), BLOCK):
        here = slice(start, start + BLOCK)
        for resample, weights in zip(counts, times_drawn(ids[here]).T, strict=True):
            # Exact: whole numbers far below 2^53
            resample += np.bincount(kinds[here], weights, n_kinds).astype(np.int64)
    return counts
