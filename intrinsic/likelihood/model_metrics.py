"""Metrics on language models by family and name; those not listed are further metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasbridge.files.choice_classes import present_classes
from biasbridge.intrinsic.likelihood import (
    aul,
    crows_pairs,
    disco,
    lpbs,
    neutral_loss,
    next_word,
    planted,
    pll,
    stereoset,
)
from biasbridge.intrinsic.sentences import ceat, probe, seat, sts

if TYPE_CHECKING:
    from biasbridge.intrinsic.item_metric import ItemMetric

FAMILIES: dict[str, tuple[type[ItemMetric], ...]] = {
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
    metric.about.name: metric for family in FAMILIES.values() for metric in family
}
PACKAGES = ("biasbridge.intrinsic.likelihood.", "biasbridge.intrinsic.sentences.")
if further := present_classes("intrinsic", *PACKAGES).items() - MODEL_METRICS.items():
    MODEL_METRICS |= dict(sorted(further))
    FAMILIES["Further metrics"] = tuple(MODEL_METRICS[name] for name, _ in sorted(further))
