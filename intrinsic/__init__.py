"""Bias metrics on word vectors, and the word sets they ask about. Light: importing the package
loads no metric.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Public name -> its module, imported at first use: the word sets alone must not cost the import of
# numpy.
_HOME = {
    "METRICS": "metrics",
    "About": "metric",
    "Convention": "metric",
    "Found": "lookup",
    "Metric": "metric",
    "PValue": "permutation",
    "Weat": "metrics.weat",
    "associations": "metrics.weat",
    "audit": "audit",
    "biased_analogies": "metrics.groups",
    "bounded_p": "permutation",
    "coherence": "metrics.groups",
    "direct_bias": "metrics.direct",
    "direction": "directions",
    "effect_size": "metrics.weat",
    "exact_p": "permutation",
    "find": "lookup",
    "generalised_weat": "metrics.association",
    "illicit_proximity": "metrics.neighbours",
    "indirect_bias": "metrics.direct",
    "mean_cosines": "metrics.groups",
    "negative_sentiment": "metrics.sentiment",
    "neighbourhood_bias": "metrics.neighbours",
    "permutation_p": "permutation",
    "proximity_bias": "metrics.neighbours",
    "relative_norm_distances": "metrics.groups",
    "ripa": "metrics.direct",
    "same_score": "metrics.direct",
    "sampled_p": "permutation",
    "standardised_associations": "metrics.association",
    "statistic": "metrics.weat",
    "word_similarity": "metrics.utility",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"intrinsic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'intrinsic' has no attribute {name!r}")
