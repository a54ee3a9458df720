"""Words for a correlation, by rules that stand beside them."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from analysis.coefficients import Coefficients
    from analysis.evidence import Evidence

LEVEL = 0.05
WEAK = 0.3
SUPPORTS, CONTRADICTS, CANNOT_TELL = VERDICTS = ("supports", "contradicts", "cannot tell")
WITHIN_NOISE = "within the noise"
RULES = f"""\
supports:     the 95% interval of r over units lies above 0, Holm's p over the slices shown is
              below {LEVEL}, no single unit decides the sign, and the interval over base embeddings,
              where there is one, does not lie below 0
contradicts:  the same with the sign reversed; or the interval lies within [-{WEAK}, {WEAK}]: any
              correlation is weak
cannot tell:  everything else; the smallest correlation that so many units could have detected
              stands beside it"""


class Judgement(NamedTuple):
    """The permutation p adjusted over the slices (Holm, 1979; Benjamini & Hochberg, 1995), and the
    verdict by ``RULES`` with its reason.
    """

    p_holm: float = nan
    p_bh: float = nan
    verdict: str = CANNOT_TELL
    why: str = ""


def judged(statistics: Coefficients, found: Evidence, p_holm: float, p_bh: float) -> Judgement:
    """The judgement of a slice by ``RULES``."""
    return Judgement(p_holm, p_bh, *_verdict(statistics, found, p_holm))


def _verdict(statistics: Coefficients, found: Evidence, p_holm: float) -> tuple[str, str]:
    low, high = found.r_low, found.r_high
    if not (isfinite(low) and isfinite(high)):
        return CANNOT_TELL, statistics.reason or found.caution or "no interval"
    if low >= -WEAK and high <= WEAK:
        return CONTRADICTS, f"|r| is below {WEAK}"
    if low <= 0 <= high:
        reach = f"{found.n_units} units detect |r| of {found.detectable:.2f} or more"
        return CANNOT_TELL, f"the interval holds 0; {reach}"
    sign = 1 if low > 0 else -1
    if not p_holm < LEVEL:
        return CANNOT_TELL, f"not beyond chance among the slices shown (Holm's p {p_holm:.2g})"
    if min(sign * found.influence_low, sign * found.influence_high) <= 0:
        return CANNOT_TELL, f"one unit decides the sign ({found.influential})"
    bases = (found.r_low_bases, found.r_high_bases)
    if all(map(isfinite, bases)) and max(sign * bases[0], sign * bases[1]) < 0:
        return CANNOT_TELL, "the interval over base embeddings has the other sign"
    return (SUPPORTS, "r > 0") if sign > 0 else (CONTRADICTS, "r < 0")
