"""Words for an association, by rules that stand beside them."""

from __future__ import annotations

from math import ceil, isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

from analysis.elsewhere import elsewhere, told
from analysis.naming import SMALLEST, counted
from analysis.shared_error import SharedError
from analysis.within import FEWEST_FREE, detectable, free_needed

if TYPE_CHECKING:
    from analysis.evidence import Evidence

LEVEL = 0.05
SUPPORTS, CONTRADICTS, NEGLIGIBLE, CANNOT_TELL = VERDICTS = (
    "supports",
    "contradicts",
    "negligible",
    "cannot tell",
)
ROLE_PRIMARY, ROLE_EXPLORATORY = "primary", "exploratory"
OTHERS = """ Beside a verdict stands whether r may be otherwise for
other bases, of which that takes five clusters, and for other modifications, of which it takes nine
with what is not modified."""
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
verdict and are not counted.{OTHERS}"""


class Judgement(NamedTuple):
    """The verdict on a slice by ``RULES``, and why.

    ``role``: primary or exploratory; ``family``: how many slices are judged together;
    ``p_adjusted``: over these; ``detectable``: the smallest |r| that such a slice is told from 0
    by in about 80% of studies.
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
    elif may_claim(found):
        why += for_these(found)
    return Judgement(role, family, p_adjusted, reach, verdict, why)


def may_claim(found: Evidence) -> bool:
    """Whether a slice has enough units for a verdict."""
    return found.free >= FEWEST_FREE and isfinite(found.within_p)


def for_these(found: Evidence) -> str:
    """What is to be said of a verdict where words, or test items, were not resampled."""
    alone = SharedError(found.words_error, found.items_error).not_known
    return f"; for these {alone} alone" if alone else ""


def _verdict(
    found: Evidence, family: int, p: float, reach: float, smallest: float
) -> tuple[str, str]:
    if not may_claim(found):
        bases = f" of {counted(found.n_bases, 'base')}" if found.n_bases < found.n_units else ""
        are = "is" if found.n_units == 1 else "are"
        few = f"{counted(found.n_units, 'embedding')}{bases} {are} too few"
        return CANNOT_TELL, found.caution or f"{few}; {_enough(found, max(1, family), smallest)}"
    low, high = found.within_low, found.within_high
    others = told(elsewhere(found))
    if low > 0 and p < LEVEL:
        return SUPPORTS, "; ".join([f"r within bases is above 0 (adjusted p {p:.2g})", *others])
    if high < 0 and p < LEVEL:
        return CONTRADICTS, "; ".join([f"r within bases is below 0 (adjusted p {p:.2g})", *others])
    if -smallest < found.corrected_low and found.corrected_high < smallest:
        others = told(elsewhere(found, smallest), smallest)
        below = f"|r|, corrected for noise, is below {smallest:g}"
        return NEGLIGIBLE, "; ".join([below, *_of_sizes(found), *others])
    if not (isfinite(low) and isfinite(high)):
        return CANNOT_TELL, "r within bases has no interval"
    beyond = low > 0 or high < 0
    said = f"not beyond chance among {family} slices (adjusted p {p:.2g}); " if beyond else ""
    said += f"such a study finds |r| from {reach:.2f} on; "
    return CANNOT_TELL, said + _enough(found, family, smallest)


def _of_sizes(found: Evidence) -> list[str]:
    """Whether a gap of either sign goes with bias of either sign, which r does not see."""
    r, low, high = found.absolute, found.absolute_low, found.absolute_high
    if not (low > 0 or high < 0):
        return []
    return [f"but |score| and |gap| are associated (r {r:.2f} [{low:.2f}, {high:.2f}])"]


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
        (OTHERS, ""),
    ):
        text = text.replace(within, over)
    return text
