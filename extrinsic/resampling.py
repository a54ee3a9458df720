"""Resamples of items that are the same for everybody who predicts them.

Gaps of several embeddings share the posts they are measured on, so the choice of posts moves them
together. Resamples that are the same for everybody who predicts the posts show that part of their
noise: over embeddings, the covariance of their resampled gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from intrinsic.resampling import RESAMPLES, times_drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extrinsic.measures import Counts

BLOCK = 8192


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
