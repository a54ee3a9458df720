"""Registry of metrics by family and name, for audits and the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from intrinsic.metrics import (
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
    from intrinsic.metric import Metric

FAMILIES: Mapping[str, tuple[type[Metric], ...]] = {
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
METRICS = {metric.about.name: metric for family in FAMILIES.values() for metric in family}
