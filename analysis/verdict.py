"""Words for an association, by rules that stand beside them."""

from __future__ import annotations

from math import atanh, ceil, isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.naming import SMALLEST, counted
from analysis.within import FEWEST_FREE, detectable, free_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.evidence import Evidence

LEVEL = 0.05
HETEROGENEOUS = 0.01
SUPPORTS, CONTRADICTS, NEGLIGIBLE, CANNOT_TELL = VERDICTS = (
    "supports",
    "contradicts",
    "negligible",
    "cannot tell",
)
ROLE_PRIMARY, ROLE_EXPLORATORY = "primary", "exploratory"
RULES = f"""\
All verdicts are about r within bases: does the gap follow the score when an embedding is modified?
In a sweep, scores of which less is more biased are turned around; measures of utility are
exploratory.
Where words and test items were resampled, they hold for other words and items too.
supports:     the 95% interval of r within bases lies above 0, and its adjusted p is below {LEVEL}
contradicts:  the same with the interval below 0
negligible:   neither; and r within bases, corrected for noise, differs from 0 by less than the
              smallest correlation of interest ({SMALLEST} where no other is declared) by its 90%
              interval: two one-sided tests at {LEVEL}. At least half of the variance of either side
              must be no noise of the choice of words and posts.
cannot tell:  everything else; how many embeddings would tell stands beside it
Primary slices are declared by the experiment before it runs; their p is adjusted over them (Holm,
1979). A slice that is part of a primary one is adjusted over the parts of that one, and never below
the p of that one; all others over one another. These two are exploratory: what they say is to be
tried again. Slices with fewer than {FEWEST_FREE} degrees of freedom (units - bases - 1) get no
verdict and are not counted. Nothing here says that another method would do the same."""


class Judgement(NamedTuple):
    """The verdict on a slice by ``RULES``, and why.

    ``role``: primary or exploratory; ``family``: how many slices are judged together;
    ``p_adjusted``: over these; ``detectable``: the smallest |r| that such a slice is told from 0
    by in 80% of studies.
    """

    role: str = ROLE_EXPLORATORY
    family: int = 0
    p_adjusted: float = nan
    detectable: float = nan
    verdict: str = CANNOT_TELL
    why: str = ""

    @property
    def told(self) -> str:
        """The verdict, in brackets where it is exploratory."""
        return self.verdict if self.role == ROLE_PRIMARY else f"({self.verdict})"


def judged(
    found: Evidence,
    role: str,
    family: int,
    p_adjusted: float,
    *,
    smallest: float = SMALLEST,
    refused: str = "",
) -> Judgement:
    """The judgement of a slice by ``RULES``; ``refused`` says why there can be no verdict."""
    reach = detectable(found.free, family, shared=found.shared) if may_claim(found) else nan
    verdict, why = _verdict(found, family, p_adjusted, reach, smallest)
    if refused:
        verdict, why = CANNOT_TELL, refused
    return Judgement(role, family, p_adjusted, reach, verdict, why)


def may_claim(found: Evidence) -> bool:
    """Whether a slice has enough units for a verdict."""
    return found.free >= FEWEST_FREE and isfinite(found.within_p)


def _verdict(
    found: Evidence, family: int, p: float, reach: float, smallest: float
) -> tuple[str, str]:
    if not may_claim(found):
        bases = f" of {counted(found.n_bases, 'base')}" if found.n_bases < found.n_units else ""
        are = "is" if found.n_units == 1 else "are"
        few = f"{counted(found.n_units, 'embedding')}{bases} {are} too few"
        return CANNOT_TELL, found.caution or f"{few}; {_enough(found, max(1, family), smallest)}"
    low, high = found.within_low, found.within_high
    elsewhere = ""
    if found.across_low <= 0 <= found.across_high:
        elsewhere = "; for bases other than these it may be 0"
    if low > 0 and p < LEVEL:
        return SUPPORTS, f"r within bases is above 0 (adjusted p {p:.2g}){elsewhere}"
    if high < 0 and p < LEVEL:
        return CONTRADICTS, f"r within bases is below 0 (adjusted p {p:.2g}){elsewhere}"
    if -smallest < found.corrected_low and found.corrected_high < smallest:
        return NEGLIGIBLE, f"|r|, corrected for noise, is below {smallest:g}"
    if not (isfinite(low) and isfinite(high)):
        return CANNOT_TELL, "r within bases has no interval"
    beyond = low > 0 or high < 0
    said = f"not beyond chance among {family} slices (adjusted p {p:.2g}); " if beyond else ""
    said += f"such a study finds |r| from {reach:.2f} on; "
    return CANNOT_TELL, said + _enough(found, family, smallest)


def _enough(found: Evidence, family: int, smallest: float) -> str:
    """How many embeddings would tell: of more seeds, so that bases have as many units as now."""
    if found.free < 1:
        return "each base needs modified embeddings"
    needed = free_needed(smallest, family, found.shared)
    if not isfinite(needed):
        of_words = found.words_error > found.shared / sqrt(2)  # more of it than the items' part
        more = "words" if of_words else "test items"
        return f"|r| = {smallest:g} takes more {more}, however many the embeddings"
    times = (needed + 1) / (found.free + 1)
    number = ceil(times * found.n_units)
    more = "the seeds" if found.n_bases < found.n_units else "as many"
    return f"|r| = {smallest:g} takes about {number} embeddings, {times:.1f} times {more}"


def over_units(text: str) -> str:
    """The rules, or a reason, where no bases are named: what is r within bases is r over units."""
    for within, over in (
        (
            "within bases: does the gap follow the score when an embedding is modified?",
            "over units.",
        ),
        ("within bases", "over units"),
        ("(units - bases - 1)", "(units - 2)"),
    ):
        text = text.replace(within, over)
    return text


def heterogeneity(parts: Sequence[Evidence]) -> str:
    """What is to be said where the parts of a slice disagree in sign beyond noise; else nothing.

    Cochran's Q of z = atanh(r within bases) over k parts, weighted by their errors: Q / (k - 1)
    against F of k - 1 and the fewest degrees of freedom of a part, for the errors are estimates.
    Said at p < .01 where the largest and the smallest r have different signs.
    """
    known = [
        each
        for each in parts
        if each.free >= FEWEST_FREE and each.within_error > 0 and abs(each.within) < 1
    ]
    if len(known) < 2:
        return ""
    z = np.array([atanh(each.within) for each in known])
    weight = np.array([each.within_error**-2 for each in known])
    q = float((weight * (z - float(weight @ z) / float(weight.sum())) ** 2).sum())
    k = len(known) - 1
    p = float(scipy.special.fdtrc(k, min(each.free for each in known), q / k))
    least, most = min(each.within for each in known), max(each.within for each in known)
    if p < HETEROGENEOUS and least < 0 < most:
        return f"parts disagree: r from {least:.2f} to {most:.2f} (p {p:.1g})"
    return ""
