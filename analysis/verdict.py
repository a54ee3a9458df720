"""The verdict of a confirmatory slice, and the sentence that says what it holds for."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING

from analysis.correlation import LEVEL
from analysis.naming import SESOI, with_count
from analysis.slice_results import MIN_CONDITIONS
from analysis.utility import MIN_ABOVE_BASELINE
from stats.multiple_testing import holm

if TYPE_CHECKING:
    from analysis.correlation import Correlation
    from analysis.slice_results import SliceResult

POSITIVE, NEGATIVE, NEGLIGIBLE, INCONCLUSIVE = VERDICTS = (
    "positive",
    "negative",
    "negligible",
    "inconclusive",
)
THESE, OTHERS, MODELS = "these conditions", "other conditions", "other models"
MIN_DF = 8
MAX_LOST = 0.1
RULES = f"""\
Verdicts are about r_rm, the repeated-measures correlation of score and gap within parents: among
models made from the same unmodified one, does the gap rise with the score?
positive:      p below {LEVEL}, r_rm above 0
negative:      p below {LEVEL}, r_rm below 0
negligible:    neither, and |r_rm| is below the smallest correlation of interest ({SESOI} where no
               other is declared), times the noise ceiling where reliabilities are known, by two
               one-sided tests at {LEVEL} (its 90% interval)
inconclusive:  everything else: fewer than {MIN_DF} degrees of freedom, more than a tenth of the
               models lost, a score or gap that is the same in most models, or of whose variance one
               model has two thirds, a task whose F1 is less than {MIN_ABOVE_BASELINE} above the
               majority baseline
p is adjusted over the tests declared before the run (Holm, 1979). All others are exploratory: they
carry r, interval and p of their own, and no verdict. A verdict holds for these conditions; for
other conditions too where the means of {MIN_CONDITIONS} conditions or more show it (p adjusted
likewise)."""


def judge(results: Sequence[SliceResult], sesoi: float = SESOI) -> list[SliceResult]:
    """Return the results; confirmatory ones with verdict, scope and sentence, by ``RULES``."""
    confirmatory = [index for index, result in enumerate(results) if result.confirmatory]
    tested = [index for index in confirmatory if isfinite(results[index].within.p)]
    adjusted = dict(zip(tested, holm([results[i].within.p for i in tested]), strict=True))
    over_conditions = [index for index in tested if isfinite(results[index].conditions.p)]
    p_wider = [max(results[i].within.p, results[i].conditions.p) for i in over_conditions]
    p_others = dict(zip(over_conditions, holm(p_wider), strict=True))
    judged = list(results)
    for index in confirmatory:
        result = results[index]._replace(
            tests=len(tested), p_holm=adjusted.get(index, results[index].within.p)
        )
        verdict, scope, why = _verdict(result, p_others.get(index, inf), sesoi)
        judged[index] = result._replace(verdict=verdict, scope=scope, why=why)
    return judged


def _verdict(result: SliceResult, p_others: float, sesoi: float) -> tuple[str, str, str]:
    if refusal := _refusal(result):
        return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {refusal}"
    within = result.within
    if result.p_holm < LEVEL:
        verdict = POSITIVE if within.r > 0 else NEGATIVE
        scope = _scope(result, p_others < LEVEL and result.conditions.r * within.r > 0)
        return verdict, scope, "; ".join([_claim(verdict, scope, result), *_provisos(result)])
    bound = sesoi * (result.noise_ceiling if isfinite(result.noise_ceiling) else 1.0)
    if _is_negligible(within, bound):
        scope = _scope(result, _is_negligible(result.conditions, bound))
        below = f"|r_rm| is below {sesoi:g}"
        below += " with noise allowed for" if isfinite(result.noise_ceiling) else ""
        claim = f"{NEGLIGIBLE} for {_population(scope, result)}: {below}"
        return NEGLIGIBLE, scope, "; ".join([claim, *_fixed_samples(result)])
    detectable = f"such a study finds |r| from about {result.mde:.2f} on"
    if within.p < LEVEL:
        p_values = f"p is {within.p:.2g} for this test alone, {result.p_holm:.2g} among"
        detectable = f"{p_values} {result.tests}; {detectable}"
    return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {detectable}"


def _refusal(result: SliceResult) -> str:
    within = result.within
    if result.refused or not isfinite(within.r):
        return result.refused or within.reason
    if within.df < MIN_DF:
        models = with_count(result.n, "model")
        models += f" of {with_count(result.n_parents, 'parent')}" if result.n_parents else ""
        degrees = f"{with_count(within.df, 'degree')} of freedom"
        return f"{models} leave {degrees}; a verdict takes {MIN_DF}"
    if result.lost > MAX_LOST * result.planned:
        return f"{result.lost} of {result.planned} models are lost, more than a tenth"
    return result.saturated


def _is_negligible(result: Correlation, bound: float) -> bool:
    """Test whether two one-sided tests at .05 put |r| below a bound."""
    return -bound < result.low_90 and result.high_90 < bound


def _scope(result: SliceResult, wider: bool) -> str:
    if not result.n_conditions:
        return MODELS
    return OTHERS if wider else THESE


def _population(scope: str, result: SliceResult) -> str:
    if scope == MODELS:
        return "models like these"
    conditions = f"these {with_count(result.n_conditions, 'condition')}"
    return f"{conditions} and others like them" if scope == OTHERS else conditions


def _claim(verdict: str, scope: str, result: SliceResult) -> str:
    claim = f"{verdict} for {_population(scope, result)}"
    if scope != THESE:
        return claim
    if result.n_conditions >= MIN_CONDITIONS:
        return f"{claim}; not shown for others"
    return f"{claim}; testing others needs {MIN_CONDITIONS} conditions"


def _provisos(result: SliceResult) -> list[str]:
    provisos = _fixed_samples(result)
    within, given_utility = result.within, result.given_utility
    if result.lost:
        provisos.append(f"{result.lost} of {result.planned} models are lost")
    if result.n_clusters == 1 < result.n_parents:
        provisos.append("all parents share one corpus or seed")
    elif result.n_parents and not isfinite(within.low_clusters):
        provisos.append("for these corpora or seeds")
    if within.low_clusters <= 0 <= within.high_clusters:
        provisos.append("for other corpora or seeds it may be 0")
    if given_utility.low <= 0 <= given_utility.high:
        provisos.append("given the task's utility it may be 0")
    return provisos


def _fixed_samples(result: SliceResult) -> list[str]:
    sampling = result.within.sampling
    fixed = [name for name in ("words", "items") if not isfinite(getattr(sampling, name))]
    return [f"for these {' and '.join(fixed)}"] if fixed else []
