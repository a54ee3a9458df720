"""A word for a confirmatory slice, and the sentence that says for what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING

from analysis.correlation import LEVEL, holm
from analysis.findings import FEWEST_CONDITIONS
from analysis.naming import SESOI, counted
from analysis.utility import LEAST_ABOVE

if TYPE_CHECKING:
    from analysis.correlation import Correlation
    from analysis.findings import Finding

POSITIVE, NEGATIVE, NEGLIGIBLE, INCONCLUSIVE = VERDICTS = (
    "positive",
    "negative",
    "negligible",
    "inconclusive",
)
THESE, OTHERS, MODELS = "these conditions", "other conditions", "other models"
FEWEST_DF = 8
MOST_LOST = 0.1
RULES = f"""\
Verdicts are about r_rm, the repeated-measures correlation of score and gap within parents: among
models made from the same unmodified one, does the gap rise with the score?
positive:      p below {LEVEL}, r_rm above 0
negative:      p below {LEVEL}, r_rm below 0
negligible:    neither, and |r_rm| is below the smallest correlation of interest ({SESOI} where no
               other is declared), times the noise ceiling where reliabilities are known, by two
               one-sided tests at {LEVEL} (its 90% interval)
inconclusive:  everything else: fewer than {FEWEST_DF} degrees of freedom, more than a tenth of the
               models lost, a score or gap that is the same in most models, or of whose variance one
               model has two thirds, a task done less than {LEAST_ABOVE} better (F1) than by calling
               all items the same
p is adjusted over the tests declared before the run (Holm, 1979). All others are exploratory: they
carry r, interval and p of their own, and no verdict. A verdict holds for these conditions; for
other conditions too where the means of {FEWEST_CONDITIONS} conditions or more show it (p adjusted
likewise)."""


def judge(found: Sequence[Finding], sesoi: float = SESOI) -> list[Finding]:
    """The findings, confirmatory ones with their verdict, scope and sentence, by ``RULES``."""
    asked = [place for place, each in enumerate(found) if each.confirmatory]
    tested = [place for place in asked if isfinite(found[place].within.p)]
    adjusted = dict(zip(tested, holm([found[i].within.p for i in tested]), strict=True))
    over = [place for place in tested if isfinite(found[place].conditions.p)]
    wider = [max(found[i].within.p, found[i].conditions.p) for i in over]
    others = dict(zip(over, holm(wider), strict=True))
    judged = list(found)
    for place in asked:
        each = found[place]._replace(
            tests=len(tested), p_holm=adjusted.get(place, found[place].within.p)
        )
        verdict, scope, why = _verdict(each, others.get(place, inf), sesoi)
        judged[place] = each._replace(verdict=verdict, scope=scope, why=why)
    return judged


def _verdict(found: Finding, p_others: float, sesoi: float) -> tuple[str, str, str]:
    if refusal := _refusal(found):
        return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {refusal}"
    within = found.within
    if found.p_holm < LEVEL:
        verdict = POSITIVE if within.r > 0 else NEGATIVE
        scope = _scope(found, p_others < LEVEL and found.conditions.r * within.r > 0)
        return verdict, scope, "; ".join([_claim(verdict, scope, found), *_provisos(found)])
    bound = sesoi * (found.noise_ceiling if isfinite(found.noise_ceiling) else 1.0)
    if _excluded(within, bound):
        scope = _scope(found, _excluded(found.conditions, bound))
        below = f"|r_rm| is below {sesoi:g}"
        below += " with noise allowed for" if isfinite(found.noise_ceiling) else ""
        said = f"{NEGLIGIBLE} for {_what(scope, found)}: {below}"
        return NEGLIGIBLE, scope, "; ".join([said, *_sampled(found)])
    found_from = f"such a study finds |r| from about {found.mde:.2f} on"
    if within.p < LEVEL:
        alone = f"p is {within.p:.2g} for this test alone, {found.p_holm:.2g} among {found.tests}"
        found_from = f"{alone}; {found_from}"
    return INCONCLUSIVE, "", f"{INCONCLUSIVE}: {found_from}"


def _refusal(found: Finding) -> str:
    within = found.within
    if found.refused or not isfinite(within.r):
        return found.refused or within.reason
    if within.df < FEWEST_DF:
        of = f" of {counted(found.n_parents, 'parent')}" if found.n_parents else ""
        return (
            f"{counted(found.n, 'model')}{of} leave {counted(within.df, 'degree')} of freedom;"
            f" a verdict takes {FEWEST_DF}"
        )
    if found.lost > MOST_LOST * found.planned:
        return f"{found.lost} of {found.planned} models are lost, more than a tenth"
    return found.saturated


def _excluded(of: Correlation, bound: float) -> bool:
    """Whether two one-sided tests at .05 put |r| below a bound."""
    return -bound < of.low_90 and of.high_90 < bound


def _scope(found: Finding, wider: bool) -> str:
    if not found.n_conditions:
        return MODELS
    return OTHERS if wider else THESE


def _what(scope: str, found: Finding) -> str:
    if scope == MODELS:
        return "models like these"
    these = f"these {counted(found.n_conditions, 'condition')}"
    return f"{these} and others like them" if scope == OTHERS else these


def _claim(verdict: str, scope: str, found: Finding) -> str:
    said = f"{verdict} for {_what(scope, found)}"
    if scope != THESE:
        return said
    if found.n_conditions >= FEWEST_CONDITIONS:
        return f"{said}; not shown for others"
    return f"{said}; testing others needs {FEWEST_CONDITIONS} conditions"


def _provisos(found: Finding) -> list[str]:
    said = _sampled(found)
    within, given = found.within, found.given_utility
    if found.lost:
        said.append(f"{found.lost} of {found.planned} models are lost")
    if found.n_clusters == 1 < found.n_parents:
        said.append("all parents share one corpus or seed")
    elif found.n_parents and not isfinite(within.low_clusters):
        said.append("for these corpora or seeds")
    if within.low_clusters <= 0 <= within.high_clusters:
        said.append("for other corpora or seeds it may be 0")
    if given.low <= 0 <= given.high:
        said.append("given the task's utility it may be 0")
    return said


def _sampled(found: Finding) -> list[str]:
    sampling = found.within.sampling
    alone = [name for name in ("words", "items") if not isfinite(getattr(sampling, name))]
    return [f"for these {' and '.join(alone)}"] if alone else []
