"""Metrics that count mentions: their detection, and B-cubed."""

from __future__ import annotations

import numpy as np

from extrinsic.coreference.scorer.overlap import Count, Overlap


def detection(table: Overlap) -> Count:
    """Mentions of the key found with both ends, of those of the key and of the response."""
    found = float(np.sum(table.shared))
    return Count(found, float(np.sum(table.keys)), found, float(np.sum(table.responses)))


def b_cubed(table: Overlap) -> Count:
    """B-cubed (Bagga & Baldwin, 1998) for any response, as Cai & Strube (2010) and the reference
    scorer have it: a mention that one side lacks counts 0 on the other.

    Recall is the mean over the key's mentions m of |K(m) & R(m)| / |K(m)|, precision that over the
    response's of |K(m) & R(m)| / |R(m)|, where K(m) and R(m) are the clusters of m.
    """
    squares = np.square(table.shared)
    return Count(
        float(np.sum(squares / table.keys[table.rows])),
        float(np.sum(table.keys)),
        float(np.sum(squares / table.responses[table.columns])),
        float(np.sum(table.responses)),
    )
