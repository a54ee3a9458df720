"""The answer of a study in plain words, from the verdicts on its confirmatory slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from analysis.naming import SLICE_COLUMNS, gap_titles, query_titles
from analysis.report.lacking import verdict_takes
from analysis.show import answer_lines, short
from analysis.verdict import INCONCLUSIVE, NEGATIVE, NEGLIGIBLE, POSITIVE

if TYPE_CHECKING:
    from analysis.findings import Finding

MODIFIED = "when an embedding is modified, "
WORDS = {
    POSITIVE: "Yes",
    NEGATIVE: "The other way round",
    NEGLIGIBLE: "No",
    INCONCLUSIVE: "Undecided",
}
WAYS = {
    POSITIVE: "rises with the score",
    NEGATIVE: "falls as the score rises",
    NEGLIGIBLE: "hardly follows the score",
}
NAMED = 4  # slices named in one sentence
SHOWN = 8  # sentences of verdicts; the table below the answer has all


class Answer(NamedTuple):
    """What a reader should know: the ``headline``; what each verdict says, and of which slices; how
    every gap that was measured goes with the scores; and what else is to be known, a sentence each.
    """

    headline: str
    verdicts: Sequence[str] = ()
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()


def answer(found: Sequence[Finding]) -> Answer:
    """The verdicts in words, and beside them the gaps that nobody declared."""
    asked = [each for each in found if each.confirmatory]
    if not asked:
        return Answer("Undecided: no slice was confirmatory.", gaps=answer_lines(found))
    notes = (verdict_takes(asked), *_lost(asked), *_pairwise(asked))
    return Answer(
        _headline(asked), _verdicts(asked), answer_lines(found), list(filter(None, notes))
    )


def no_answer(scores: Sequence[str], gaps: Sequence[str]) -> Answer:
    """What is said where no model has a score and a gap: which of these could not be had, and why
    (see ``analysis.report.lacking``).
    """
    lines = [
        f"No {side} could be had: {'; '.join(why)}."
        for side, why in (("score", scores), ("gap", gaps))
        if why
    ]
    left = " The gaps below are what is left." if not gaps else ""
    headline, *notes = [*lines, f"So there is nothing to compare.{left}"]
    return Answer(headline, notes=notes)


def _headline(asked: Sequence[Finding]) -> str:
    number = len(asked)
    when = MODIFIED if any(each.n_conditions for each in asked) else ""
    verdicts = Counter(each.verdict for each in asked)
    slices = "confirmatory slice" if number == 1 else "confirmatory slices"
    if len(verdicts) > 1:
        ways = [f"{way} in {verdicts[name]}" for name, way in WAYS.items() if verdicts[name]]
        some = " and ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))
        left = verdicts[INCONCLUSIVE]
        rest = f"; {left} {'is' if left == 1 else 'are'} inconclusive" if left else ""
        return f"It depends: {when}the gap {some} of {number} {slices}{rest}."
    verdict = asked[0].verdict
    which = f"all {number} {slices}" if number > 1 else f"the {slices}"
    if verdict == INCONCLUSIVE:
        said = f"whether the gap rises with the score {when.rstrip(', ')}".rstrip()
        which = f"any of {number} {slices}" if number > 1 else which
        return f"{WORDS[verdict]}: these models cannot say {said}, in {which}."
    return f"{WORDS[verdict]}: {when}the gap {WAYS[verdict]}, in {which}."


def _verdicts(asked: Sequence[Finding]) -> list[str]:
    """What the verdicts say, once for all slices that say the same."""
    said = _by_text(asked, [each.why for each in asked])
    lines = [f"{which}: {why}." for why, which in said.items()]
    more = f"And {len(lines) - SHOWN} more, in the table below."
    return [*lines[:SHOWN], *([more] if len(lines) > SHOWN else [])]


def _lost(asked: Sequence[Finding]) -> list[str]:
    said = _by_text(asked, [each.lost_models for each in asked])
    return [f"Lost, for want of a score or a gap: {lost} ({of})." for lost, of in said.items()]


def _by_text(asked: Sequence[Finding], texts: Sequence[str]) -> dict[str, str]:
    """For each text that is not empty the slices that it is said of."""
    said: dict[str, list[str]] = {}
    for name, text in zip(_names(asked), texts, strict=True):
        said.setdefault(text, []).append(name)
    return {text: _few(names) for text, names in said.items() if text}


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _names(asked: Sequence[Finding]) -> list[str]:
    """For each slice what sets it apart from the others: ``WEAT 6b, recall gap``."""
    table = pd.DataFrame([each.names for each in asked], columns=list(SLICE_COLUMNS))
    apart = ("task", "embedding", "metric", "convention", "method")
    vary = [name for name in apart if len({*table[name]}) > 1]
    parts = zip(
        *(table[name] for name in vary), query_titles(table), gap_titles(table), strict=True
    )
    return [", ".join(filter(None, each)) for each in parts]


def _pairwise(asked: Sequence[Finding]) -> list[str]:
    signed = _share(each.pairwise_signed for each in asked)
    magnitude = _share(each.pairwise_magnitude for each in asked)
    said = [
        f"the one with the larger score had the larger gap in {signed} of pairs" if signed else "",
        f"the one with the more biased score had the gap further from 0 in {magnitude}"
        if magnitude
        else "",
    ]
    if not any(said):
        return []
    accuracy = "; ".join(filter(None, said))
    return [
        f"Pairwise accuracy, of these models and items: of two models, {accuracy}. A coin has"
        f" {short(0.5, 1)}."
    ]


def _share(values: Iterable[float]) -> str:
    """The range of shares: ``.51 to .54``."""
    known = [value for value in values if isfinite(value)]
    return " to ".join(dict.fromkeys(map(short, (min(known), max(known))))) if known else ""
