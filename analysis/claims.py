"""What a study claims of each declared gap: what is known of every change, against x.

No claim knows a medium: ``biasbridge.analysis.answer`` puts claims into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasbridge.analysis.slices import gap_and_score
from biasbridge.analysis.verdicts import judge_change
from biasbridge.files.choice import METRICS, choice_classes
from biasbridge.files.paths import HOME
from biasbridge.stats.intervals import UNDEFINED, Estimate

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

_DIRECTION_NAMES = {"debias": "debiasing", "overbias": "overbiasing"}


class Claim(NamedTuple):
    """What is known of one change of a gap, against ``x``, the smallest change of interest.

    ``subject``: a modification, ``debiasing (inlp)``, all of them, or a score, ``WEAT 6b``.
    ``ends``: of a modification the gap before and after; of a score the range that is told of.
    ``bound``: the most that modifications may change the gap by. ``result``: what it rests on.
    """

    kind: Literal["modification", "all", "score"]
    subject: str
    ends: tuple[float, float]
    change: Estimate
    bound: float
    x: float
    verdict: str
    reason: str
    result: SliceResult


class GapClaims(NamedTuple):
    """The claims on a gap: each method at full dose, all modifications together, each score."""

    gap: str
    modifications: Sequence[Claim]
    overall: Claim
    scores: Sequence[Claim]


def study_claims(results: Sequence[SliceResult]) -> list[GapClaims]:
    """Return the claims on each gap of declared slices, in the order of these."""
    by_gap: dict[str, list[tuple[str, SliceResult]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        by_gap.setdefault(gap, []).append((score, result))
    return [_claims_on(gap, titled) for gap, titled in by_gap.items()]


def _claims_on(gap: str, titled: Sequence[tuple[str, SliceResult]]) -> GapClaims:
    largest = max((result for _, result in titled), key=lambda result: result.n)
    x, effects, before = largest.x, largest.effects, largest.gap_unmodified
    modifications = []
    for effect in effects.full:
        direction = _DIRECTION_NAMES.get(effect.direction, effect.direction or "modification")
        change, ends = effect.change, (before, before + effect.change.value)
        about = f"{direction} ({effect.method})", ends, change.interval, change.bound, x
        verdict = judge_change(change, effect.p_holm, x)
        modifications.append(Claim("modification", *about, verdict, "", largest))
    subject = f"all {len(effects.conditions)} modifications"
    verdict, why = largest.gap_verdict, largest.gap_why
    overall = Claim("all", subject, (nan, nan), UNDEFINED, effects.bound, x, verdict, why, largest)
    scores = []
    for score, result in titled:
        low, high = sorted((result.sign * result.score_low, result.sign * result.score_high))
        about = score, (low, high), result.change, nan, x
        scores.append(Claim("score", *about, result.verdict, result.why, result))
    return GapClaims(gap, modifications, overall, scores)


def declared(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the slices that were declared before the run, those of a user's own metrics first:
    where few are shown, these are.
    """
    known = {each.name for each in choice_classes(HOME, METRICS)}
    tests = [result for result in results if result.confirmatory]
    return sorted(tests, key=lambda result: result.names["metric"] in known)
