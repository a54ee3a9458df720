"""The verdict of a confirmatory slice, and the sentence that says what it holds for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from analysis.naming import SESOI, with_count
from analysis.scopes import MIN_METHODS, MIN_PARENTS
from analysis.slice_results import DOSES, METHODS, MIN_CONDITIONS, PARENTS, THESE
from analysis.utility import MIN_ABOVE_BASELINE
from stats.formatting import NOTHING, format_estimate, format_number
from stats.multiple_testing import LEVEL, holm

if TYPE_CHECKING:
    from analysis.correlation import Correlation
    from analysis.slice_results import SliceResult

POSITIVE, NEGATIVE, NEGLIGIBLE, INCONCLUSIVE = VERDICTS = (
    "positive",
    "negative",
    "negligible",
    "inconclusive",
)
MODELS = "other models"
MIN_DF = 8
MAX_LOST = 0.1
RULES = f"""\
Verdicts are about r_rm, the repeated-measures correlation of score and gap within parents: among
models made from the same unmodified one, does the gap rise with the score?
positive:      p below {LEVEL}, r_rm above 0
negative:      p below {LEVEL}, r_rm below 0
negligible:    neither, and |r_rm| is below the smallest correlation of interest ({SESOI} where no
               other is declared) times the noise ceiling, by two one-sided tests at {LEVEL}; takes
               known reliabilities, and a gap that is a straight line of the score, the same for
               all methods
inconclusive:  everything else: fewer than {MIN_DF} degrees of freedom, more than a tenth of the models
               lost, a score or gap that is the same in most models, or of whose variance one model
               has two thirds, a task whose F1 is less than {MIN_ABOVE_BASELINE} above the majority baseline
p is adjusted over the tests declared before the run (Holm, 1979). All others are exploratory: they
carry r, interval and p of their own, and no verdict. From {MIN_PARENTS} parents on, p is the larger and the
interval the wider of those over models and over parents; with fewer, or where p over parents is not
below {LEVEL} after adjustment, a verdict holds for these parents. It holds for these conditions; for
other doses and words of these methods where the means of {MIN_CONDITIONS} conditions or more show it; for
other methods where that stands without each of {MIN_METHODS} methods or more (p adjusted likewise)."""  # noqa: E501


def judge(results: Sequence[SliceResult], sesoi: float = SESOI) -> list[SliceResult]:
    """Return the results; confirmatory ones with verdict, scope and sentence, by ``RULES``."""
    confirmatory = [index for index, result in enumerate(results) if result.confirmatory]
    p_models = _adjust(results, lambda result: _models(result).p)
    p_parents = _adjust(results, lambda result: _largest_p(_models(result), result.parents))
    p_doses = _adjust(results, lambda result: _largest_p(_models(result), result.conditions))
    p_methods = _adjust(
        results, lambda result: _largest_p(_models(result), result.conditions, result.methods)
    )
    p_negligible = _adjust(results, lambda result: _p_negligible(result, sesoi))
    judged = list(results)
    for index in confirmatory:
        own_p = results[index].within.p
        result = results[index]._replace(
            tests=len(p_models), p_holm=max(p_models.get(index, own_p), own_p)
        )
        wider = {
            scope
            for scope, p in ((METHODS, p_methods), (DOSES, p_doses), (PARENTS, p_parents))
            if p.get(index, 1) < LEVEL
        }
        verdict, scope, why = _verdict(result, wider, p_negligible.get(index, 1), sesoi)
        judged[index] = result._replace(verdict=verdict, scope=scope, why=why)
    return judged


def _adjust(
    results: Sequence[SliceResult], p_value: Callable[[SliceResult], float]
) -> dict[int, float]:
    """Return p of each confirmatory slice that has one, adjusted over them."""
    tested = {
        index: p
        for index, result in enumerate(results)
        if result.confirmatory and isfinite(p := p_value(result))
    }
    return dict(zip(tested, holm(list(tested.values())), strict=True))


def _models(result: SliceResult) -> Correlation:
    """Return r_rm with the interval of models alone."""
    return result.models if result.models.n else result.within


def _largest_p(*correlations: Correlation) -> float:
    """Return the largest p; NaN where one is."""
    return float(np.max([part.p for part in correlations]))


def _p_negligible(result: SliceResult, sesoi: float) -> float:
    """Return p that |r_rm| is at least ``sesoi`` times the noise ceiling, over models and parents;
    NaN where the ceiling is unknown.
    """
    bound = sesoi * result.noise_ceiling
    over_parents = isfinite(result.parents.r)
    p = max(
        part.p_negligible(bound) for part in (result.within, result.parents)[: 1 + over_parents]
    )
    return p if isfinite(bound) and isfinite(result.within.r) else float("nan")


def _verdict(
    result: SliceResult, wider: set[str], p_negligible: float, sesoi: float
) -> tuple[str, str, str]:
    if refusal := _refusal(result):
        return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {refusal}"
    if result.p_holm < LEVEL:
        verdict = POSITIVE if result.within.r > 0 else NEGATIVE
        scope = _scope(result, wider)
        result = result._replace(scope=_column(scope, result, wider))
        claim = f"{verdict} for {_population(scope, result, wider)}: {describe_size(result)}"
        return verdict, result.scope, "; ".join([claim, *_provisos(scope, result, wider)])
    if p_negligible < LEVEL and not result.nonlinear:
        wider = {PARENTS} if isfinite(result.parents.r) else set()
        scope = _scope(result, wider)
        claim = f"{NEGLIGIBLE} for {_population(scope, result, wider)}"
        claim += f": |r_rm| is below {sesoi:g} with noise allowed for"
        column = _column(scope, result, wider)
        return NEGLIGIBLE, column, "; ".join([claim, *_fixed_samples(result)])
    return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {_shortfall(result, p_negligible, sesoi)}"


def _refusal(result: SliceResult) -> str:
    within = result.within
    if result.refused or not isfinite(within.r):
        return result.refused or within.reason
    if within.df < MIN_DF:
        models = with_count(result.n, "model")
        models += f" of {with_count(result.n_parents, 'parent')}" if result.n_parents else ""
        if within.n < result.n:
            models += f", averaged over {result.n_clusters} clusters to {within.n},"
        degrees = f"{with_count(int(within.df), 'degree')} of freedom"
        return f"{models} leave {degrees}; a verdict takes {MIN_DF}"
    if result.lost > MAX_LOST * result.planned:
        return f"{result.lost} of {result.planned} models are lost, more than a tenth"
    return result.saturated


def _shortfall(result: SliceResult, p_negligible: float, sesoi: float) -> str:
    """Return why there is neither a relation nor its absence."""
    detectable = f"such a study finds |r| from about {format_number(result.mde)} on"
    if result.models.p < LEVEL <= result.parents.p:
        seeds = with_count(result.parents.n, result.parent_noun)
        interval = format_estimate(*result.parents.interval)
        return f"p is {result.models.p:.2g} for these {seeds}; for others r_rm is {interval}"
    if result.within.p < LEVEL:
        p_values = f"p is {result.within.p:.2g} for this test alone, {result.p_holm:.2g} among"
        return f"{p_values} {result.tests}; {detectable}"
    if p_negligible < LEVEL:
        return f"r_rm is near 0, but {result.nonlinear}"
    if not isfinite(result.noise_ceiling) and abs(result.within.r) < sesoi:
        return f"{detectable}; negligible takes known reliabilities"
    return detectable


def _scope(result: SliceResult, wider: set[str]) -> str:
    """Return the widest scope over conditions that holds."""
    if not result.n_conditions:
        return MODELS
    if DOSES not in wider or result.conditions.r * result.within.r < 0:
        return THESE
    return METHODS if METHODS in wider else DOSES


def _column(scope: str, result: SliceResult, wider: set[str]) -> str:
    """Return ``these conditions, these seeds``; ``other methods, other clusters``."""
    if not result.n_parents:
        return scope
    return f"{scope}, {'other' if PARENTS in wider else 'these'} {result.parent_noun}s"


def _population(scope: str, result: SliceResult, wider: set[str]) -> str:
    conditions = {
        MODELS: "models like these",
        THESE: f"these {with_count(result.n_conditions, 'condition')}",
        DOSES: "other doses and words of "
        + (f"these {result.n_methods} methods" if result.n_methods > 1 else "this one method"),
        METHODS: f"other methods like these {result.n_methods}",
    }[scope]
    if scope == DOSES and not result.n_methods:
        conditions = "other conditions like these"
    if not result.n_parents:
        return conditions
    noun = result.parent_noun
    count = result.n_clusters if 1 < result.n_clusters < result.n_parents else result.n_parents
    if count == 1:
        return f"{conditions} of this one parent"
    if PARENTS in wider:
        return f"{conditions} in {noun}s like these {count}"
    return f"{conditions} in these {with_count(count, noun)}"


def describe_size(result: SliceResult) -> str:
    """Return how far the gap moves: per unit of the score, and over the range of scores."""
    slope = result.slope
    if not isfinite(slope.value):
        return "the slope is undefined"
    digits = 2 if abs(slope.value) >= 0.1 else 3
    score = "the reverse-scored score" if result.reverse_scored else "score"
    text = f"the gap changes by {_slope_text(result, digits)} per unit of {score}"
    corrected = result.slope_corrected
    without_noise = format_number(corrected.value, digits)
    if without_noise not in (NOTHING, format_number(slope.value, digits)):
        text += f" ({without_noise} corrected for its noise)"
    return f"{text}, by {format_number(result.gap_change, digits)} over the range of scores"


def _slope_text(result: SliceResult, digits: int) -> str:
    """Format the slope; an interval over conditions that holds 0 is said to be of others."""
    slope = result.slope
    is_of_conditions = isfinite(result.conditions.r) and not result.are_opposite
    if is_of_conditions and result.scope.startswith(THESE) and slope.low <= 0 <= slope.high:
        value, low, high = (format_number(part, digits) for part in slope)
        return f"{value} ({low} to {high} in other conditions)"
    return format_estimate(*slope, digits=digits)


def _provisos(scope: str, result: SliceResult, wider: set[str]) -> list[str]:
    provisos = []
    if scope == THESE and result.n_conditions < MIN_CONDITIONS:
        provisos.append(f"testing others needs {MIN_CONDITIONS} conditions")
    elif scope == THESE:
        provisos.append("not shown for other doses and words")
    elif scope == DOSES and result.n_methods < MIN_METHODS:
        provisos.append(f"testing other methods needs {MIN_METHODS}")
    elif scope == DOSES:
        provisos.append("not shown for other methods")
    if isfinite(result.parents.r) and PARENTS not in wider:
        provisos.append(f"not shown for other {result.parent_noun}s among {result.tests} tests")
    if _holds_zero(result.given_condition):
        provisos.append("not shown within a single condition")
    provisos += _fixed_samples(result)
    if result.lost:
        provisos.append(f"{result.lost} of {result.planned} models are lost")
    if result.n_clusters == 1 < result.n_parents:
        provisos.append("all parents share one corpus or seed")
    if _holds_zero(result.given_utility):
        provisos.append("given the task's utility it may be 0")
    return provisos


def _holds_zero(correlation: Correlation) -> bool:
    return correlation.low <= 0 <= correlation.high


def _fixed_samples(result: SliceResult) -> list[str]:
    sampling = result.within.sampling
    fixed = [name for name in ("words", "items") if not isfinite(getattr(sampling, name))]
    return [f"ignoring the sampling error of {' and '.join(fixed)}"] if fixed else []
