"""The answer of a study in plain words, from the verdicts on its primary slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from analysis.elsewhere import elsewhere, of_others
from analysis.naming import counted
from analysis.report.lacking import verdict_takes
from analysis.verdict import CANNOT_TELL, CONTRADICTS, NEGLIGIBLE, ROLE_PRIMARY, SUPPORTS

if TYPE_CHECKING:
    from analysis.findings import Finding

ASKED = "the gap follows the score"
MODIFIED = " when an embedding is modified"
OF_ALL = {
    SUPPORTS: "Yes: {asked}, in {all}.",
    CONTRADICTS: "The other way round: where the score says less bias the gap is larger, in {all}.",
    NEGLIGIBLE: "No: if {asked}, it is by less than the study set out to find, in {all}.",
    CANNOT_TELL: "Undecided: these runs cannot tell whether {asked}, in {none}.",
}


def answer(found: Iterable[Finding]) -> list[str]:
    """What a reader without statistics should know, a sentence each: the verdicts, what is behind
    them, and what the score is worth to somebody who has to choose between two embeddings.
    """
    slices = [each for each in found if each.judgement.role == ROLE_PRIMARY]
    if not slices:
        return ["Undecided: no slice was primary."]
    verdicts = [each.judgement.verdict for each in slices]
    number = len(slices)
    modified = any(each.evidence.n_bases < each.evidence.n_units for each in slices)
    every = {
        "asked": ASKED + MODIFIED * modified,
        "all": f"all {number} primary slices" if number > 1 else "the primary slice",
        "none": f"any of {number} primary slices" if number > 1 else "the primary slice",
    }
    if len(set(verdicts)) == 1:
        told = OF_ALL[verdicts[0]].format(**every)
    else:
        supports, contradicts, negligible, cannot_tell = (
            f"{count or 'none'} {verb if count > 1 else once}"
            for count, verb, once in (
                (verdicts.count(SUPPORTS), "support", "supports"),
                (verdicts.count(CONTRADICTS), "contradict", "contradicts"),
                (verdicts.count(NEGLIGIBLE), "find", "finds"),
                (verdicts.count(CANNOT_TELL), "cannot tell", "cannot tell"),
            )
        )
        told = (
            f"It depends: of {number} primary slices {supports} that {every['asked']},"
            f" {contradicts} it,"
            f" {negligible} it negligible and {cannot_tell}."
        )
    takes = verdict_takes(each.evidence for each in slices)
    return [told, *_limits(slices), _behind(slices), *([takes] if takes else []), *_choice(slices)]


def no_answer(scores: Sequence[str], gaps: Sequence[str]) -> list[str]:
    """What is said where no embedding has a score and a gap: which of these could not be had, and
    why (see ``analysis.report.lacking``).
    """
    told = [
        f"No {side} could be had: {'; '.join(why)}."
        for side, why in (("score", scores), ("gap", gaps))
        if why
    ]
    left = " The gaps below are what is left." if not gaps else ""
    return [*told, f"So there is nothing to compare.{left}"]


def _limits(slices: Iterable[Finding]) -> list[str]:
    """What verdicts do not answer for."""
    said = [
        elsewhere(each.evidence)
        for each in slices
        if each.judgement.verdict in (SUPPORTS, CONTRADICTS)
    ]
    found = [
        f"For other {name} than these it may be 0, in {number} of {len(said)}."
        for name in ("bases", "seeds", "modifications")
        if (number := sum(name in each.may for each in said))
    ]
    found += [
        f"Of others nothing is known: {few}."
        for few in dict.fromkeys(
            of_others(each, "are too few", "is too few") for each in said if each.unknown
        )
    ]
    return found


def _behind(slices: Iterable[Finding]) -> str:
    units = max(each.evidence.n_units for each in slices)
    bases = max(each.evidence.n_bases for each in slices)
    of = f"{counted(units, 'embedding')} made from {counted(bases, 'unmodified one')}"
    if bases >= units:
        shared = ", or corpora where algorithms share these" if units > 1 else ""
        of = counted(units, "unmodified embedding") + shared
    return f"A slice is a query and a gap, over at most {of}."


def _choice(slices: Iterable[Finding]) -> list[str]:
    right = [each.evidence.accuracy for each in slices if isfinite(each.evidence.accuracy)]
    if not right:
        return []
    least, most = (f"{100 * value:.0f}" for value in (min(right), max(right)))
    share = f"{least}%" if least == most else f"{least} to {most}%"
    return [
        "Of two embeddings, the one with the less biased score had the smaller gap in"
        f" {share} of pairs; a coin has 50%. That answers for these words and test items alone."
    ]
