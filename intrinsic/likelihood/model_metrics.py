"""Every metric on language models by name, for the audit and the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from intrinsic.likelihood import (
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
from intrinsic.sentences import ceat, probe, seat, sts

if TYPE_CHECKING:
    from intrinsic.item_metric import ItemMetric

FAMILIES: Mapping[str, tuple[type[ItemMetric], ...]] = {
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
MODEL_METRICS = {kind.about.name: kind for kinds in FAMILIES.values() for kind in kinds}
