"""The values of a metric over nested subsets of its words.

Any metric is measured on every subset from its words. One that is a mean of what single words
contribute needs no more than sums over the subsets before: WEAT, RND, MAC, RIPA, pair bias and
Direct Bias; for ECT ranks are counted on, and for RNSB the classifiers start at those before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from intrinsic.directions import direction, pair_differences
from intrinsic.found_query import FoundQuery
from intrinsic.lookup import Floats
from intrinsic.metrics.direct import DirectBias, PairBias, Ripa
from intrinsic.metrics.sentiment import NegativeSentiment
from intrinsic.metrics.set_distances import (
    EmbeddingCoherence,
    MeanAverageCosine,
    RelativeNormDistance,
)
from intrinsic.metrics.weat import Weat
from studies.silhouettes.running_ranks import ect_of_attributes, ect_of_targets
from studies.silhouettes.running_scores import (
    mac_of_attributes,
    mac_of_targets,
    mean_of_single,
    rnd_of_attributes,
    rnd_of_targets,
    weat_of_attributes,
    weat_of_targets,
)
from studies.silhouettes.running_sentiment import rnsb_of_attributes, rnsb_of_targets
from studies.silhouettes.subsets import Subsets

if TYPE_CHECKING:
    from intrinsic.metric import Metric

Along = dict[str, Floats]


def along(metric: Metric, words: FoundQuery, subsets: Subsets, *, seed: int) -> Along:
    """Each part's value on every subset, (runs, steps); NaN where it has none.

    Raises ``InputError`` where a vector or base pair has no direction.
    """
    words.require_directions()
    found = SCORERS.get(type(metric), on_every_subset)(metric, words, subsets, seed)
    for role, fewest in metric.about.fewest.items():
        if role in subsets.counts:
            for values in found.values():
                values[:, subsets.counts[role] < fewest] = np.nan
    return found


def on_every_subset(metric: Metric, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    """The same, every subset on its own."""
    found = metric.on_each(subsets.drawn(words), seed)
    return {part: np.array(values).reshape(subsets.shape) for part, values in found.items()}


def _weat(metric: Weat, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    evaluate = weat_of_targets if "X" in subsets.orders else weat_of_attributes
    x, y, a, b = (words[role].matrix for role in "XYAB")
    return {"": evaluate(x, y, a, b, subsets, ddof=metric.ddof)}


def _rnd(metric: RelativeNormDistance, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    evaluate = rnd_of_targets if "X" in subsets.orders else rnd_of_attributes
    x, y, a = (words[role].rows(metric.normalize) for role in "XYA")
    return {"": evaluate(x, y, a, subsets, distance=metric.distance, total=metric.total)}


def _mac(metric: MeanAverageCosine, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    evaluate = mac_of_targets if "X" in subsets.orders else mac_of_attributes
    targets, attributes = (
        {role: each.matrix for role, each in sets.items()}
        for sets in (words.targets, words.attributes)
    )
    cosines = evaluate(targets, attributes, subsets)
    return {"": 1 - cosines if metric.form == "distance" else cosines}


def _ect(metric: EmbeddingCoherence, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    evaluate = ect_of_targets if "X" in subsets.orders else ect_of_attributes
    x, y = (words[role].rows(metric.normalize) for role in "XY")
    return {"": evaluate(x, y, words["A"].matrix, subsets)}


def _rnsb(metric: NegativeSentiment, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    if metric.held_out:
        return on_every_subset(metric, words, subsets, seed)
    evaluate = rnsb_of_targets if "X" in subsets.orders else rnsb_of_attributes
    return {"": evaluate(metric, words, subsets)}


def _direct_bias(metric: DirectBias, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    if "pairs" in subsets.orders:
        return on_every_subset(metric, words, subsets, seed)
    cosines: Floats = words["words"].matrix @ direction(words["pairs"].matrix, metric.along)
    return {"": mean_of_single(np.abs(cosines) ** metric.c, subsets, "words")}


def _ripa(metric: Ripa, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    of_words, pairs = words["words"].raw, words["pairs"].raw
    if metric.along == "pairs":
        differences, lengths = pair_differences(pairs)
        return _mean_of_products(of_words @ differences.T / lengths, subsets)
    if "pairs" in subsets.orders:
        return on_every_subset(metric, words, subsets, seed)
    return {"": mean_of_single(of_words @ direction(pairs, unit=False), subsets, "words")}


def _pair_bias(metric: PairBias, words: FoundQuery, subsets: Subsets, seed: int) -> Along:
    pairs = words["pairs"].matrix
    return _mean_of_products(words["words"].matrix @ (pairs[:, 0] - pairs[:, 1]).T, subsets)


def _mean_of_products(scores: Floats, subsets: Subsets) -> Along:
    """Of scores of words with pairs, (words, pairs), of which the ones or the others vary."""
    role = "pairs" if "pairs" in subsets.orders else "words"
    single: Floats = scores.mean(axis=0 if role == "pairs" else 1)
    return {"": mean_of_single(single, subsets, role)}


Scorer = Callable[[Any, FoundQuery, Subsets, int], Along]
# By class and not by its base: a subclass may measure something else
SCORERS: dict[type, Scorer] = {
    Weat: _weat,
    RelativeNormDistance: _rnd,
    MeanAverageCosine: _mac,
    EmbeddingCoherence: _ect,
    NegativeSentiment: _rnsb,
    DirectBias: _direct_bias,
    Ripa: _ripa,
    PairBias: _pair_bias,
}
