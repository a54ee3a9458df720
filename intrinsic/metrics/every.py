"""Every metric by name, for the audit and the documentation: a line for a new one."""

from __future__ import annotations

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

KINDS: tuple[type[Metric], ...] = (
    weat.Weat,
    association.Association,
    association.FactualAssociation,
    association.GeneralisedWeat,
    set_distances.RelativeNormDistance,
    sentiment.NegativeSentiment,
    set_distances.MeanAverageCosine,
    set_distances.EmbeddingCoherence,
    set_distances.BiasedAnalogies,
    direct.DirectBias,
    direct.PairBias,
    direct.Projection,
    direct.Ripa,
    direct.Same,
    direct.IndirectBias,
    direct.SemBias,
    neighbours.NeighbourhoodBias,
    neighbours.MaleNeighbours,
    neighbours.ProfessionCorrelation,
    neighbours.ProximityBias,
    neighbours.IllicitProximity,
    separability.Clustering,
    separability.Classification,
    separability.ImplicitBias,
    utility.SemanticQuality,
    utility.Analogies,
    unrelated.UnrelatedAnalogies,
    utility.GeneratedAnalogies,
)
METRICS = {kind.about.name: kind for kind in KINDS}
