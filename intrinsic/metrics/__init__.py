"""Every metric by name: those that an audit measures, and whose configurations and page are written
by ``python -m intrinsic.describe``. A new one is a class in a module here and a line in this table.
"""

from __future__ import annotations

from intrinsic.metric import Metric
from intrinsic.metrics.association import Association, FactualAssociation, GeneralisedWeat
from intrinsic.metrics.direct import (
    DirectBias,
    IndirectBias,
    PairBias,
    Projection,
    Ripa,
    Same,
    SemBias,
)
from intrinsic.metrics.neighbours import (
    IllicitProximity,
    MaleNeighbours,
    NeighbourhoodBias,
    ProfessionCorrelation,
    ProximityBias,
)
from intrinsic.metrics.sentiment import NegativeSentiment
from intrinsic.metrics.separability import Classification, Clustering, ImplicitBias
from intrinsic.metrics.set_distances import (
    BiasedAnalogies,
    EmbeddingCoherence,
    MeanAverageCosine,
    RelativeNormDistance,
)
from intrinsic.metrics.utility import Analogies, GeneratedAnalogies, SemanticQuality
from intrinsic.metrics.weat import Weat

METRICS: dict[str, type[Metric]] = {
    metric.about.name: metric
    for metric in (
        Weat,
        Association,
        FactualAssociation,
        GeneralisedWeat,
        RelativeNormDistance,
        NegativeSentiment,
        MeanAverageCosine,
        EmbeddingCoherence,
        BiasedAnalogies,
        DirectBias,
        PairBias,
        Projection,
        Ripa,
        Same,
        IndirectBias,
        SemBias,
        NeighbourhoodBias,
        MaleNeighbours,
        ProfessionCorrelation,
        ProximityBias,
        IllicitProximity,
        Clustering,
        Classification,
        ImplicitBias,
        SemanticQuality,
        Analogies,
        GeneratedAnalogies,
    )
}
