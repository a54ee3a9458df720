"""Metrics on word vectors and on language models by family and name, for audits and documentation.

Families order the documentation. A metric of the packages that none of them lists is one of its
own, a further metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from biasbridge.files.choice import present_classes
from biasbridge.intrinsic.metrics import (
    direct,
    neighbours,
    sentiment,
    separability,
    set_distances,
    utility,
    weat,
)
from biasbridge.intrinsic.models import pairs, probe, sentences, slot_metrics, stereoset
from biasbridge.intrinsic.models import utility as model_utility

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.score import ByConvention

_M = TypeVar("_M", bound="ByConvention")

FAMILIES: dict[str, tuple[type[Metric], ...]] = {
    "Associations": (weat.Weat, weat.Association, weat.FactualAssociation, weat.GeneralisedWeat),
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
        utility.UnrelatedAnalogies,
        utility.GeneratedAnalogies,
    ),
}
MODEL_FAMILIES: dict[str, tuple[type[ItemMetric], ...]] = {
    "Pairs of sentences": (
        pairs.CrowsPairs,
        pairs.PseudoLogLikelihood,
        pairs.Aul,
        pairs.Aula,
        stereoset.StereoSet,
    ),
    "Sentences as vectors": (sentences.Seat, sentences.Ceat, probe.LinearProbe, model_utility.StsB),
    "Words in a slot": (
        slot_metrics.LogProbabilityBias,
        slot_metrics.NextWord,
        slot_metrics.DisCo,
        slot_metrics.PlantedBias,
    ),
    "Plain lines": (model_utility.NeutralLoss,),
}


def _by_name(families: dict[str, tuple[type[_M], ...]], package: str) -> dict[str, type[_M]]:
    """Return the metrics by name, after adding the family of further ones of the package."""
    metrics = {metric.about.name: metric for family in families.values() for metric in family}
    present = sorted(present_classes("intrinsic", package).items())
    if further := {name: metric for name, metric in present if name not in metrics}:
        families["Further metrics"] = tuple(further.values())
    return metrics | further


METRICS = _by_name(FAMILIES, "biasbridge.intrinsic.metrics.")
MODEL_METRICS = _by_name(MODEL_FAMILIES, "biasbridge.intrinsic.models.")
