"""The rules (``RULES``) by which a study judges each declared gap: whether modifications moved it,
and whether it goes with a score, in which scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.condition_effects import MIN_UNITS, PARENTS
from biasbridge.analysis.correlation import NEARLY_1
from biasbridge.analysis.joined import MIN_SKILL
from biasbridge.analysis.naming import (
    SMALLEST_CHANGE,
    SmallestChange,
    smallest_change_of,
    with_count,
)
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
from biasbridge.analysis.slices import digits_of
from biasbridge.stats.formatting import format_estimate, format_number, format_p
from biasbridge.stats.intervals import ALPHA, holm, westfall_young

if TYPE_CHECKING:
    from biasbridge.analysis.condition_effects import GapEffects, MeanChange
    from biasbridge.analysis.slices import SliceResult

RISES, FALLS, UNTOLD, AT_MOST, CANNOT_TELL = VERDICTS = (
    *("rises", "falls", "does not tell", "at most", "cannot tell"),
)
MOVED = "moved"  # of a gap, beside AT_MOST and CANNOT_TELL
YES, NO, TOO_FEW = "yes", "no", "too few"
_MAX_LOST = 0.1
_MIN_EFFECTIVE = 3  # conditions
# A scope counts only where these hold too
_TAKES = {DOSES: (RUNS,), LISTS: (RUNS, DOSES), METHODS: (RUNS, DOSES), SEEDS: (RUNS,)}
_TAKES |= {RUNS: (), CORPORA: (RUNS,)}
RULES = f"""\
A verdict is about the change of the gap. The change covers the range over which conditions moved the
score. It compares models that were made from the same unmodified one.

rises, falls:   p is below {ALPHA}, and the interval of the change excludes 0. Both hold for other
                doses of these methods.
does not tell:  No rise or fall is shown. Two conditions whose scores differ by 5% of the range or less
                have gaps that differ by more than x / 2, p below {ALPHA} after Holm over such pairs.
at most x:      Neither, and the change is at most x in either direction: both ends of its 90% interval
                are that small, and so are the change of each method over its own scores and the rise
                of a curve. The study would have seen 2 x. x is the smallest change of interest:
                {SMALLEST_CHANGE} where no other is declared.
cannot tell:    Everything else, such as
                - fewer than {MINIMUM[RUNS]} degrees of freedom, or fewer than {MINIMUM[DOSES]} conditions
                - conditions that say as much as fewer than {_MIN_EFFECTIVE}, for most have nearly one score
                - more than a tenth of the models lost
                - a score or gap that is the same in most models
                - a score or gap of whose variance one model has two thirds
                - a task whose recall - FPR is not surely above {MIN_SKILL}

The gap itself has a verdict, too, whatever the score:

at most x:      Every modification changes it by at most x, each surely (|d| + t(.95) se).
moved:          Some modification changes it, p below {ALPHA} after Holm over the modifications.
cannot tell:    Neither.

p is adjusted over the tests declared before the run, by permutations that they share (Westfall &
Young, 1993), else after Holm. All others are exploratory: r_rm with its interval, no verdict.

Each scope is yes, no or too few (n of m). The scopes are these runs, other doses, other word lists
({MINIMUM[LISTS]} or more), other methods ({MINIMUM[METHODS]} families), other seeds ({MINIMUM[SEEDS]} parents) and other corpora ({MINIMUM[CORPORA]}).
The answer shows other doses and other seeds; scopes.csv has all."""  # noqa: E501


def judge(
    results: Sequence[SliceResult], smallest_change: SmallestChange = SMALLEST_CHANGE
) -> list[SliceResult]:
    """Return the results; confirmatory ones with verdict and scopes, by ``RULES``."""
    p_adjusted = {scope: _adjust(results, scope) for scope in SCOPES}
    judged = list(results)
    for index, result in enumerate(results):
        if not result.confirmatory:
            continue
        parts = (*_TAKES[result.claimed], result.claimed)
        p_parts = [p_adjusted[part].get(index, result.scopes[part].p) for part in parts]
        result = result._replace(tests=len(p_adjusted[RUNS]), p_holm=float(np.max(p_parts)))
        holds: dict[str, str] = {}
        for scope in result.scopes:  # narrow ones first
            p = p_adjusted[scope].get(index, 1.0)
            taken = {holds.get(part, YES) for part in _TAKES[scope]}
            own = _holds(result, scope, p)
            holds[scope] = next((word for word in (TOO_FEW, NO) if word in {own, *taken}), YES)
        result = result._replace(holds=holds)
        x = smallest_change_of(smallest_change, result.names.get("measure", ""))
        verdict, why = _verdict(result, x)
        gap_verdict, gap_why = judge_gap(result.effects, x)
        judged[index] = result._replace(
            x=x, verdict=verdict, why=why, gap_verdict=gap_verdict, gap_why=gap_why
        )
    return judged


def _adjust(results: Sequence[SliceResult], scope: str) -> dict[int, float]:
    """Return p of each confirmatory slice that has one in a scope, adjusted by shared permutations,
    after Holm where one has none. Parents of other sizes have independent ones: as by Sidak.
    """
    tested = {
        index: result.scopes[scope]
        for index, result in enumerate(results)
        if result.confirmatory and scope in result.scopes and isfinite(result.scopes[scope].p)
    }
    p = [test.p for test in tested.values()]
    drawn = [test.null.t if test.null else np.zeros(0) for test in tested.values()]
    are_drawn = min(map(len, drawn), default=0) > 0 and len({*map(len, drawn)}) == 1
    adjusted = westfall_young(p, np.stack(drawn)) if are_drawn else holm(p)
    return dict(zip(tested, adjusted, strict=True))


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


def _verdict(result: SliceResult, x: float) -> tuple[str, str]:
    if refusal := _refusal(result):
        return CANNOT_TELL, refusal
    if shortage := _too_few_conditions(result):
        is_shown = result.holds[RUNS] == YES
        moved = "score and gap moved together in these runs, but " if is_shown else ""
        return CANNOT_TELL, f"{moved}{shortage}"
    sign = 1 if result.within.r > 0 else -1
    if result.holds[result.claimed] == YES:
        reasons = [_damage(result), *_other_changes(result, x, -sign)]
        return (RISES if sign > 0 else FALLS), "; ".join(filter(None, reasons))
    if untold := _untold(result, x):
        return UNTOLD, untold
    _, low, high = result.change_at(1 - 2 * ALPHA)
    is_small = -x <= low and high <= x
    reasons = [_missed(result), *_other_changes(result, x)]
    if is_small and result.nonlinear.change <= x:
        seen = result.detectable_change
        if seen <= 2 * x:
            return AT_MOST, ""
        reasons.append(
            f"the study would miss changes below {format_number(seen, 3)}, over twice {x:g}"
        )
    return CANNOT_TELL, "; ".join(filter(None, reasons))


def judge_gap(effects: GapEffects, x: float) -> tuple[str, str]:
    """Return whether the conditions moved a gap, and why that cannot be told; empty where no
    condition has an unmodified model beside it.
    """
    if not effects.conditions:
        return "", ""
    units = effects.unit.replace(PARENTS, f"unmodified models ({PARENTS})")
    if effects.n_units < MIN_UNITS:
        return CANNOT_TELL, f"an effect takes {MIN_UNITS} {units}, not {effects.n_units}"
    if effects.bound <= x:
        return AT_MOST, ""
    if any(effect.p_holm < ALPHA for effect in effects.conditions):
        return MOVED, ""
    unknown = [effect for effect in effects.conditions if not isfinite(effect.change.bound)]
    few = sum(effect.change.n < MIN_UNITS for effect in unknown)
    if few:
        share = f"{few} of {with_count(len(effects.conditions), 'modification')}"
        return CANNOT_TELL, f"an interval takes {MIN_UNITS} {units}, too many for {share}"
    alike = "changed every model by the same, so its interval is unknown"
    return CANNOT_TELL, f"{unknown[0].condition} {alike}" if unknown else ""


def judge_change(change: MeanChange, p_adjusted: float, x: float) -> str:
    """Return whether a modification moved the gap."""
    if change.bound <= x:
        return AT_MOST
    return MOVED if p_adjusted < ALPHA else CANNOT_TELL


def _damage(result: SliceResult) -> str:
    """Return a warning where a rise or fall is not shown among models of equal utility."""
    given = result.given_utility
    if not isfinite(given.r) or (given.p < ALPHA and given.r * result.within.r > 0):
        return ""
    return "it may go with damage to the classifier: at equal utility it is not shown"


def _untold(result: SliceResult, x: float) -> str:
    """Return the surest pair of conditions of nearly one score whose gaps differ by over x / 2."""
    pairs = (each for each in result.equal_scores if each.p_holm < ALPHA)
    pair = next((each for each in pairs if abs(each.change.value) > x / 2), None)
    if pair is None:
        return ""
    scores = " and ".join(format_number(result.sign * score) for score in pair.scores)
    first, second = pair.conditions
    change = format_estimate(*pair.change.interval, digits=3, sign="+")
    p = f"adjusted p {format_p(pair.p_holm)} over {with_count(pair.n_pairs, 'pair')}"
    told = (
        f"{first} and {second} have nearly one mean score ({scores}). Their gaps are {change} apart"
    )
    share = result.share_explained
    explained = f". The score explains {share:.0%} of what the conditions did" if share >= 0 else ""
    return f"{told}, {p}{explained}"


def _other_changes(result: SliceResult, x: float, sign: int = 0) -> list[str]:
    """Return what one line does not show, where it exceeds x; in the direction of a ``sign``."""
    methods, curve = result.nonlinear
    reasons = []
    if any(abs(change) > x and change * sign >= 0 for change in methods.values()):
        digits = digits_of(max(map(abs, methods.values())))
        listed = ", ".join(
            f"{name} {format_number(change, digits, sign='+')}" for name, change in methods.items()
        )
        reasons.append(f"changes by method, each over its own scores: {listed}")
    if curve > x and not sign:
        reasons.append(f"a curve fits better than a line, and rises by {format_number(curve, 3)}")
    return reasons


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
    if DOSES not in result.holds:
        return ""
    effective = result.effective_conditions
    if result.holds[DOSES] != TOO_FEW and effective < _MIN_EFFECTIVE:
        return (
            f"the {result.n_conditions} conditions say as much as {effective:.1f}, for most have"
            f" nearly one score. A verdict takes {_MIN_EFFECTIVE}: spread the doses over the score"
        )
    if result.holds[DOSES] != TOO_FEW:
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
    if result.n_lost > _MAX_LOST * result.n_planned:
        return f"{result.n_lost} of {result.n_planned} models are lost, more than a tenth"
    return result.saturated
