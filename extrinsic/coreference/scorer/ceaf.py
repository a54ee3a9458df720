"""CEAF (Luo, 2005): the similarity of the key to the response under the best one-to-one alignment
of their clusters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biasbridge.extrinsic.coreference.scorer.overlap import Count, Overlap

Similarities = npt.NDArray[np.float64]


def ceaf_m(table: Overlap) -> Count:
    """Compute CEAF by mentions: the similarity of clusters is the mentions they share (phi 3)."""
    best = _best_alignment(table, table.shared.astype(np.float64))
    return Count(best, float(np.sum(table.keys)), best, float(np.sum(table.responses)))


def ceaf_e(table: Overlap) -> Count:
    """Compute CEAF by entities: the similarity is 2 shared / (size + size) (phi 4), so that all
    clusters have equal weight.
    """
    sizes = table.keys[table.rows] + table.responses[table.columns]
    best = _best_alignment(table, 2 * table.shared / sizes)
    return Count(best, float(len(table.keys)), best, float(len(table.responses)))


def _best_alignment(table: Overlap, similarities: Similarities) -> float:
    """Return the largest sum of similarities of cells no two of which share a row or a column.

    Each connected component of the sparse table is solved separately, as clusters in different
    ones do not compete.
    """
    if not len(similarities):
        return 0.0
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    n_keys, n_responses = len(table.keys), len(table.responses)
    nodes = n_keys + n_responses
    edges = coo_array(
        (np.ones(len(similarities)), (table.rows, n_keys + table.columns)), shape=(nodes, nodes)
    )
    _, parts = connected_components(edges.tocsr(), directed=False)
    part = parts[table.rows]
    order = np.argsort(part, kind="stable")
    starts = np.flatnonzero(np.diff(part[order])) + 1
    return float(
        sum(
            _best_of_part(table.rows[cells], table.columns[cells], similarities[cells])
            for cells in np.split(order, starts)
        )
    )


def _best_of_part(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], similarities: Similarities
) -> float:
    own_rows, row = np.unique(rows, return_inverse=True)
    own_columns, column = np.unique(columns, return_inverse=True)
    if min(len(own_rows), len(own_columns)) == 1:
        return float(np.max(similarities))
    from scipy.optimize import linear_sum_assignment  # slow to import

    dense = np.zeros((len(own_rows), len(own_columns)))
    dense[row, column] = similarities
    return float(np.sum(dense[linear_sum_assignment(dense, maximize=True)]))
