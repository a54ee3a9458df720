"""The same resamples of the posts for everybody who predicts them.

Gaps of several embeddings share the posts they are measured on, so the choice of posts moves them
together. Resamples drawn alike for all show that part of their noise: over embeddings, the
covariance of their resampled gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from intrinsic.resampling import RESAMPLES, times_drawn

if TYPE_CHECKING:
    from extrinsic.measures import Counts

BLOCK = 8192


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
        drawn = times_drawn(ids[here]).astype(np.float32)
        counts += (drawn.T @ of_kind[kinds[here]]).astype(np.int64)
    return counts
