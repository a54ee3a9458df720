"""Scores of coreference: clusters of mentions (response) against the true ones (key).

``counts`` returns numerators and denominators of one document, to be summed over documents;
``rates`` converts such sums to recall, precision and F1. A bootstrap over documents is a weighted
sum of rows: ``rates(np.einsum("bd,dmc->bmc", weights, rows))``.
"""

from biasbridge.extrinsic.coreference.scorer.pairs import pair_documents
from biasbridge.extrinsic.coreference.scorer.scores import (
    COUNTERS,
    METRICS,
    Score,
    counts,
    rates,
    score,
)

__all__ = ["COUNTERS", "METRICS", "Score", "counts", "pair_documents", "rates", "score"]
