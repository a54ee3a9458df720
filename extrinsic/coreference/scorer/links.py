"""Metrics that count mentions (their detection, and B-cubed) or links between them (MUC, LEA and
BLANC).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biasbridge.extrinsic.coreference.scorer.overlap import Count, Counts, Overlap


def detection(table: Overlap) -> Count:
    """Count mentions with both ends in key and response, and mentions of key and of response."""
    common = float(np.sum(table.shared))
    return Count(common, float(np.sum(table.keys)), common, float(np.sum(table.responses)))


def b_cubed(table: Overlap) -> Count:
    """Compute B-cubed (Bagga & Baldwin, 1998) for any response, as Cai & Strube (2010) and the
    reference scorer: a mention missing on one side counts 0 on the other.

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


def muc(table: Overlap) -> Count:
    """Compute MUC (Vilain et al., 1995): minimal links within clusters.

    A cluster of n mentions has n - 1 links; if the other side splits it into p parts, n - p of them
    are common. Cells of s shared mentions add s - 1 to both sides. Singletons count 0.
    """
    common = float(np.sum(table.shared - 1))
    return Count(common, float(np.sum(table.keys - 1)), common, float(np.sum(table.responses - 1)))


def lea(table: Overlap) -> Count:
    """Compute LEA (Moosavi & Strube, 2016): resolved links of each entity, weighted by its size.

    Recall is sum_k |k| sum_r links(k & r) / links(k) over sum_k |k|, links(n) = n (n - 1) / 2;
    precision likewise with sides exchanged. A singleton has one link, to itself, resolved if it is
    a singleton on the other side too.
    """
    of_key, of_response = table.keys[table.rows], table.responses[table.columns]
    return Count(
        _resolved(table.shared, of_key, of_response),
        float(np.sum(table.keys)),
        _resolved(table.shared, of_response, of_key),
        float(np.sum(table.responses)),
    )


def _resolved(shared: Counts, sizes: Counts, matched_sizes: Counts) -> float:
    """Sum |k| links(shared) / links(k) = shared (shared - 1) / (|k| - 1) over cells."""
    weighted = shared * (shared - 1) / np.maximum(sizes - 1, 1)
    return float(np.sum(np.where(sizes == 1, matched_sizes == 1, weighted)))


def coreferent(table: Overlap) -> Count:
    """Count pairs of mentions of one cluster, for BLANC (Recasens & Hovy, 2011; for any response
    Luo et al., 2014).
    """
    common = _pairs(table.shared)
    return Count(common, _pairs(table.keys), common, _pairs(table.responses))


def not_coreferent(table: Overlap) -> Count:
    """Count pairs of mentions of two clusters, for BLANC."""
    by_key = np.bincount(table.rows, table.shared, len(table.keys))
    by_response = np.bincount(table.columns, table.shared, len(table.responses))
    together = _pairs(by_key) + _pairs(by_response) - _pairs(table.shared)
    common = _all_pairs(table.shared) - together
    return Count(
        common,
        _all_pairs(table.keys) - _pairs(table.keys),
        common,
        _all_pairs(table.responses) - _pairs(table.responses),
    )


def _pairs(sizes: Counts | npt.NDArray[np.float64]) -> float:
    """Count pairs within sets of these sizes."""
    return float(np.sum(sizes * (sizes - 1)) / 2)


def _all_pairs(sizes: Counts) -> float:
    """Count pairs within the union of sets of these sizes."""
    total = float(np.sum(sizes))
    return total * (total - 1) / 2
