"""Stability of a verdict over the seeds of a study."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.studies.certificate.measures import measure
from biasbridge.studies.certificate.verdict import judge

if TYPE_CHECKING:
    from biasbridge.studies.certificate.strength_scores import StrengthScores

STUDIES = 200


def share_with_verdict(
    verdict: str, scores: StrengthScores, random: StrengthScores | None, resamples: int
) -> float:
    """Return the share of studies of resampled seeds, at most 200, that reach the verdict."""
    n_studies = min(STUDIES, resamples)
    rng = np.random.default_rng(1)
    verdicts = [
        judge(measure(_resample(scores, rng), random and _resample(random, rng), n_studies // 2))[0]
        for _ in range(n_studies)
    ]
    return verdicts.count(verdict) / n_studies if n_studies else nan


def _resample(scores: StrengthScores, rng: np.random.Generator) -> StrengthScores:
    draws = rng.integers(0, len(scores.seeds), len(scores.seeds))
    names = ("seeds", "scores", "p", "excludes_unbiased", "off_target")
    return replace(scores, **{name: getattr(scores, name)[draws] for name in names})
