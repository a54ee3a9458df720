"""The answer of a study in plain words, from the verdicts on its primary slices."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING

from analysis.verdict import CANNOT_TELL, CONTRADICTS, NEGLIGIBLE, ROLE_PRIMARY, SUPPORTS

if TYPE_CHECKING:
    from analysis.findings import Finding

ASKED = "the gap follows the score when an embedding is modified"
OF_ALL = {
    SUPPORTS: f"Yes: {ASKED}, in {{all}}.",
    CONTRADICTS: "The other way round: where the score says less bias the gap is larger, in {all}.",
    NEGLIGIBLE: f"No: if {ASKED}, it is by less than the study set out to find, in {{all}}.",
    CANNOT_TELL: f"Undecided: these runs cannot tell whether {ASKED}, in {{none}}.",
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
    every = {
        "all": f"all {number} primary slices" if number > 1 else "the primary slice",
        "none": f"any of {number} primary slices" if number > 1 else "the primary slice",
    }
    if len(set(verdicts)) == 1:
        told = OF_ALL[verdicts[0]].format(**every)
    else:
        told = (
            f"It depends: of {number} primary slices {verdicts.count(SUPPORTS)} support that"
            f" {ASKED}, {verdicts.count(CONTRADICTS)} contradict it,"
            f" {verdicts.count(NEGLIGIBLE)} find it negligible and"
            f" {verdicts.count(CANNOT_TELL)} cannot tell."
        )
    return [told, _behind(slices), *_choice(slices)]


def _behind(slices: Iterable[Finding]) -> str:
    units = max(each.evidence.n_units for each in slices)
    bases = max(each.evidence.n_bases for each in slices)
    return (
        f"A slice is a query and a gap, over at most {units} embeddings made from {bases}"
        " unmodified ones."
    )


def _choice(slices: Iterable[Finding]) -> list[str]:
    right = [each.evidence.accuracy for each in slices if isfinite(each.evidence.accuracy)]
    if not right:
        return []
    least, most = (f"{100 * value:.0f}" for value in (min(right), max(right)))
    share = f"{least}%" if least == most else f"{least} to {most}%"
    return [
        "Of two embeddings, the one with the less biased score had the smaller gap in"
        f" {share} of pairs; a coin has 50%."
    ]
