"""Forecast of a certificate: what its number of seeds will leave open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.results import Tables
from biasbridge.files import InputError
from biasbridge.stats.formatting import format_number
from biasbridge.studies.certificate import SYNTHETIC
from biasbridge.studies.certificate.measures import measure
from biasbridge.studies.certificate.strength_scores import default_setting, read_scores
from biasbridge.studies.certificate.table import random_models
from biasbridge.studies.certificate.verdict import ALARM_RATE, CANNOT_TELL, judge

if TYPE_CHECKING:
    from biasbridge.studies.certificate.strength_scores import StrengthScores

SLOPE = 12.0  # sd from no bias to the whole: more than one score needs, as WEAT and likelihoods
STUDIES = 100
NOT_EXCLUDED = " not excluded"  # of the figure of a fault


def forecast(facts: Sequence[Mapping[str, object]], planted: str) -> list[str]:
    """Say how often a metric without a fault will get "cannot tell" from the planned models.

    Its scores are drawn for every model and judged by the rule. Empty if no bias is planted.
    """
    points = pd.DataFrame(facts)
    names = dict.fromkeys(("metric", "convention", "query", "part", "subset", "p_method"), "")
    numbers = {"value": 0.0, "low": -1.0, "high": 1.0, "p_value": 0.5, "unbiased": 0.0}
    points = points.assign(point=range(len(points)), status="done")
    rows = points[["point"]].assign(kind="gap", measure="", scale_max=1.0, **names, **numbers)
    try:
        all_scores = read_scores(Tables(points, rows, rows), planted)
    except InputError:
        return []
    kinds = [_describe(scores, all_scores) for scores in default_setting(all_scores)]
    return [f"A metric without a fault will get {CANNOT_TELL!r} in {'; in '.join(kinds)}"]


def _describe(scores: StrengthScores, all_scores: Sequence[StrengthScores]) -> str:
    random = random_models(scores, [other for other in all_scores if other.names == scores.names])
    rng = np.random.default_rng(0)
    reasons: Counter[str] = Counter()
    for _ in range(STUDIES):
        drawn = draw_scores(scores, rng), random and draw_scores(random, rng)
        verdict, figure = judge(measure(*drawn, STUDIES))
        if verdict == CANNOT_TELL:
            fault, is_fault, _ = figure.partition(NOT_EXCLUDED)
            reasons[fault + is_fault if is_fault else "slope not sure"] += 1
    material, subject = scores.names["material"], scores.names["subject"]
    kind = subject or "models"
    kind += f" ({material})" * (material != SYNTHETIC)
    mostly = f": mostly {reasons.most_common(1)[0][0]}" if reasons else ""
    share = format_number(reasons.total() / STUDIES)
    return f"{share} of studies with {len(scores.seeds)} seeds of {kind}{mostly}"


def draw_scores(scores: StrengthScores, rng: np.random.Generator) -> StrengthScores:
    """Draw scores of a metric without a fault for the same models, with claims in 5%."""
    claims = np.where(rng.random(scores.scores.shape) < ALARM_RATE, 1.0, 0.0)
    return replace(
        scores,
        scores=SLOPE * scores.strengths + rng.normal(size=claims.shape) + 0 * scores.scores,
        p=np.where(claims == 1, 0.01, 0.5) + 0 * scores.p,
        excludes_unbiased=claims + 0 * scores.excludes_unbiased,
        off_target=rng.normal(size=len(scores.seeds)) + 0 * scores.off_target,
    )
