"""The same resamples of the posts for everybody who predicts them.

Gaps of several embeddings share the posts they are measured on, so the choice of posts moves them
together. Resamples drawn alike for all show that part of their noise: over embeddings, the
covariance of their resampled gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_128
from math import exp, factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from extrinsic.measures import Counts

RESAMPLES = 200
BLOCK = 8192
# Of 2^16 equally likely numbers, the Poisson(1) quantile of each
_POISSON: NDArray[np.float32] = np.searchsorted(
    np.cumsum([exp(-1) / factorial(k) for k in range(9)]), (np.arange(2**16) + 0.5) / 2**16
).astype(np.float32)


def resampled_counts(ids: Sequence[str], kinds: Counts, n_kinds: int) -> Counts:
    """How many items of each kind (0, 1, ..., ``n_kinds`` - 1) each resample holds: (200, n_kinds).

    The Poisson bootstrap (Hanley and MacGibbon, 2006): how often an item is drawn into a resample
    is Poisson(1), and a function of its id alone, so that neither the other items nor their order
    change it. Kinds are resampled independently; items of one id go together.
    """
    counts = np.zeros((RESAMPLES, n_kinds), dtype=np.int64)
    of_kind = np.eye(n_kinds, dtype=np.float32)
    for start in range(0, len(ids), BLOCK):
        here = slice(start, start + BLOCK)
        # Exact: whole numbers far below 2^24
        counts += (_times_drawn(ids[here]).T @ of_kind[kinds[here]]).astype(np.int64)
    return counts


def _times_drawn(ids: Sequence[str]) -> NDArray[np.float32]:
    """(n, 200): two bytes of the id's hash decide each."""
    hashes = b"".join(shake_128(each.encode()).digest(2 * RESAMPLES) for each in ids)
    drawn: NDArray[np.float32] = _POISSON[np.frombuffer(hashes, "<u2").reshape(-1, RESAMPLES)]
    return drawn
