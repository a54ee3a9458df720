"""Metrics by family and name, for audits and the documentation.

Families order the documentation. A metric in this package that none of them lists is one of its
own, a further metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from biasbridge.intrinsic.metrics import utility as unrelated
from biasbridge.intrinsic.metrics import weat as association
from biasbridge.intrinsic.models import pairs as aul
from biasbridge.intrinsic.models import pairs as crows_pairs
from biasbridge.intrinsic.models import pairs as pll
from biasbridge.intrinsic.models import probe, stereoset
from biasbridge.intrinsic.models import sentences as ceat
from biasbridge.intrinsic.models import sentences as seat
from biasbridge.intrinsic.models import slot_metrics as disco
from biasbridge.intrinsic.models import slot_metrics as lpbs
from biasbridge.intrinsic.models import slot_metrics as next_word
from biasbridge.intrinsic.models import slot_metrics as planted
from biasbridge.intrinsic.models import utility as neutral_loss
from biasbridge.intrinsic.models import utility as sts

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric


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


# Metrics on language models by family and name; those not listed are further metrics.

MODEL_FAMILIES: dict[str, tuple[type[ItemMetric], ...]] = {
    "Pairs of sentences": (
        crows_pairs.CrowsPairs,
        pll.PseudoLogLikelihood,
        aul.Aul,
        aul.Aula,
        stereoset.StereoSet,
    ),
    "Sentences as vectors": (seat.Seat, ceat.Ceat, probe.LinearProbe, sts.StsB),
    "Words in a slot": (
        lpbs.LogProbabilityBias,
        next_word.NextWord,
        disco.DisCo,
        planted.PlantedBias,
    ),
    "Plain lines": (neutral_loss.NeutralLoss,),
}
MODEL_METRICS: dict[str, type[ItemMetric]] = {
    metric.about.name: metric for family in MODEL_FAMILIES.values() for metric in family
}
PACKAGES = ("biasbridge.intrinsic.models.",)
if further_model_metrics := present_classes("intrinsic", *PACKAGES).items() - MODEL_METRICS.items():
    MODEL_METRICS |= dict(sorted(further_model_metrics))
    MODEL_FAMILIES["Further metrics"] = tuple(
        MODEL_METRICS[name] for name, _ in sorted(further_model_metrics)
    )
