"""Metrics by family and name, for audits and the documentation.

Families order the documentation. A metric in this package that none of them lists is one of its
own, a further metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasbridge.files.choice_classes import present_classes
from biasbridge.intrinsic.metrics import (
    association,
    direct,
    neighbours,
    sentiment,
    separability,
    set_distances,
    unrelated,
    utility,
    weat,
)

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric

FAMILIES: dict[str, tuple[type[Metric], ...]] = {
    "Associations": (
        weat.Weat,
        association.Association,
        association.FactualAssociation,
        association.GeneralisedWeat,
    ),
    "Two groups compared by attributes": (
        set_distances.RelativeNormDistance,
        sentiment.NegativeSentiment,
        set_distances.MeanAverageCosine,
        set_distances.EmbeddingCoherence,
        set_distances.BiasedAnalogies,
    ),
    "Words along a direction": (
        direct.DirectBias,
        direct.PairBias,
        direct.Projection,
        direct.Ripa,
        direct.Same,
        direct.IndirectBias,
        direct.SemBias,
    ),
    "Nearest neighbours": (
        neighbours.NeighbourhoodBias,
        neighbours.MaleNeighbours,
        neighbours.ProfessionCorrelation,
        neighbours.ProximityBias,
        neighbours.IllicitProximity,
    ),
    "Clusters and classifiers": (
        separability.Clustering,
        separability.Classification,
        separability.ImplicitBias,
    ),
    "Utility and analogies": (
        utility.SemanticQuality,
        utility.Analogies,
        unrelated.UnrelatedAnalogies,
        utility.GeneratedAnalogies,
    ),
}
METRICS: dict[str, type[Metric]] = {
    metric.about.name: metric for family in FAMILIES.values() for metric in family
}
if (
    further := present_classes("intrinsic", "biasbridge.intrinsic.metrics.").items()
    - METRICS.items()
):
    METRICS |= dict(sorted(further))
    FAMILIES["Further metrics"] = tuple(METRICS[name] for name, _ in sorted(further))
