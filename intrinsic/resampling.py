"""The same resamples of the words for every embedding that is asked about them.

Scores of several embeddings share the words that stand for the concepts, so the choice of words
moves them together. Resamples drawn alike for all show that part of their noise: over embeddings,
the covariance of their resampled scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import shake_128
from math import exp, factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from intrinsic.lookup import Found

RESAMPLES = 200
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
