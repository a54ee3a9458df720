"""The verdict of a confirmatory slice: on the change of the gap, and what it holds for."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.correlation import NEARLY_1
from biasbridge.analysis.joined import MIN_ABOVE_BASELINE
from biasbridge.analysis.naming import SMALLEST_CHANGE, with_count
from biasbridge.analysis.scopes import (
    CORPORA,
    DOSES,
    LISTS,
    METHODS,
    MINIMUM,
    RUNS,
    SCOPES,
    SEEDS,
    UNNAMED,
)
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

RISES, FALLS, AT_MOST, CANNOT_TELL = VERDICTS = ("rises", "falls", "at most", "cannot tell")
YES, NO, TOO_FEW = "yes", "no", "too few"
_MAX_LOST = 0.1
# A scope counts only where these hold too
_TAKES = {DOSES: (RUNS,), LISTS: (RUNS, DOSES), METHODS: (RUNS, DOSES), SEEDS: (RUNS,)}
_TAKES |= {RUNS: (), CORPORA: (RUNS,)}
RULES = f"""\
A verdict is about the change of the gap. The change covers the range over which conditions moved the
score. It compares models that were made from the same unmodified one.

rises, falls:  p is below {ALPHA}, and the interval of the change excludes 0. Both hold for other doses
               of these methods.
at most x:     No rise or fall is shown, and the change is at most x in either direction. Both ends of
               its 90% interval are that small. Where slopes differ between methods, or a curve
               fits better than a line, their changes are that small too. x is the smallest change
               of interest: {SMALLEST_CHANGE} where no other is declared.
cannot tell:   Everything else, such as
               - fewer than {MINIMUM[RUNS]} degrees of freedom, or fewer than {MINIMUM[DOSES]} conditions
               - more than a tenth of the models lost
               - a score or gap that is the same in most models
               - a score or gap of whose variance one model has two thirds
               - a task whose F1 is less than {MIN_ABOVE_BASELINE} above the majority baseline

p is adjusted over the tests declared before the run (Holm, 1979). All other tests are exploratory:
they have r_rm with its interval, but no verdict.

Each scope is yes, no or too few (n of m). The scopes are these runs, other doses, other word lists
({MINIMUM[LISTS]} or more), other methods ({MINIMUM[METHODS]} families), other seeds ({MINIMUM[SEEDS]} parents) and other corpora ({MINIMUM[CORPORA]}).
The answer shows other doses and other seeds; scopes.csv has all."""  # noqa: E501


def judge(
    results: Sequence[SliceResult], smallest_change: float = SMALLEST_CHANGE
) -> list[SliceResult]:
    """Return the results; confirmatory ones with verdict and scopes, by ``RULES``."""
    p_adjusted = {scope: _adjust(results, scope) for scope in SCOPES}
    judged = list(results)
    for index, result in enumerate(results):
        if not result.confirmatory:
            continue
        own_p = result.scopes[result.claimed].p
        result = result._replace(
            tests=len(p_adjusted[RUNS]),
            p_holm=max(p_adjusted[result.claimed].get(index, own_p), own_p),
        )
        holds: dict[str, str] = {}
        for scope in result.scopes:  # narrow ones first
            p = p_adjusted[scope].get(index, 1.0)
            taken = {holds.get(part, YES) for part in _TAKES[scope]}
            own = _holds(result, scope, p)
            holds[scope] = next((word for word in (TOO_FEW, NO) if word in {own, *taken}), YES)
        result = result._replace(holds=holds)
        verdict, why = _verdict(result, smallest_change)
        judged[index] = result._replace(verdict=verdict, why=why)
    return judged


def _adjust(results: Sequence[SliceResult], scope: str) -> dict[int, float]:
    """Return p of each confirmatory slice that has one in a scope, the largest of what the scope
    takes, adjusted over the slices.
    """
    tested = {}
    for index, result in enumerate(results):
        parts = [result.scopes[part] for part in (*_TAKES[scope], scope) if part in result.scopes]
        p = float(np.max([part.p for part in parts]))
        if result.confirmatory and scope in result.scopes and isfinite(p):
            tested[index] = p
    return dict(zip(tested, holm(list(tested.values())), strict=True))


def _holds(result: SliceResult, scope: str, p: float) -> str:
    """Return whether the change is shown in a scope: adjusted p below .05, an interval of the
    change that excludes 0, and the sign of these runs.
    """
    correlation = result.scopes[scope]
    n = correlation.df if scope == RUNS else correlation.n
    if n < MINIMUM[scope] or correlation.reason == UNNAMED:
        return TOO_FEW
    _, low, high = result.change_in(scope)
    is_exact = abs(correlation.r) >= NEARLY_1  # the change has no interval then
    is_shown = p < ALPHA and (is_exact or low > 0 or high < 0)
    return YES if is_shown and correlation.r * result.within.r > 0 else NO


def _verdict(result: SliceResult, smallest_change: float) -> tuple[str, str]:
    if refusal := _refusal(result):
        return CANNOT_TELL, refusal
    if shortage := _too_few_conditions(result):
        is_shown = result.holds[RUNS] == YES
        moved = "score and gap moved together in these runs, but " if is_shown else ""
        return CANNOT_TELL, f"{moved}{shortage}"
    if result.holds[result.claimed] == YES:
        return (RISES if result.within.r > 0 else FALLS), result.nonlinear.reason
    _, low, high = result.change_at(1 - 2 * ALPHA)
    is_small = -smallest_change <= low and high <= smallest_change
    if is_small and result.nonlinear.change <= smallest_change:
        return AT_MOST, ""
    reasons = [_missed(result), result.nonlinear.reason]
    return CANNOT_TELL, "; ".join(filter(None, reasons))


def _missed(result: SliceResult) -> str:
    """Return which half of the rule is missed where the interval excludes 0; empty for both."""
    _, low, high = result.change
    if not (low > 0 or high < 0):
        return ""
    if result.p_holm >= ALPHA:
        return f"p is {result.p_holm:.2g} after adjustment over {with_count(result.tests, 'test')}"
    return "the change is not shown in these runs, or has another sign there"


def _too_few_conditions(result: SliceResult) -> str:
    """Return why other doses cannot be judged; empty where they can, or nothing was modified."""
    if result.holds.get(DOSES, YES) != TOO_FEW:
        return ""
    if result.scopes[DOSES].reason == UNNAMED:
        return "a verdict on other doses needs method and dose in columns of their own"
    n = result.scopes[DOSES].n
    return f"a verdict on other doses needs {MINIMUM[DOSES]} conditions, and there are {n}"


def _refusal(result: SliceResult) -> str:
    within = result.within
    if result.refused or not isfinite(within.r):
        return result.refused or within.reason
    if within.df < MINIMUM[RUNS]:
        models = f"{result.n}"
        models += f" of {with_count(result.n_parents, 'parent')}" if result.n_parents else ""
        if within.n < result.n:
            models += f", averaged over {result.n_clusters} clusters to {within.n}"
        degrees = f"{with_count(int(within.df), 'degree')} of freedom"
        needed = f"a verdict needs {MINIMUM[RUNS]}"
        return f"too few models ({models}). They leave {degrees}; {needed}"
    if result.lost > _MAX_LOST * result.planned:
        return f"{result.lost} of {result.planned} models are lost, more than a tenth"
    return result.saturated
