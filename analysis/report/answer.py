"""The answer of a study in plain words, from the verdicts on its confirmatory slices, and what
could not be had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.frame import text_rows
from analysis.naming import SCORE, SLICE_COLUMNS, counted, gap_titles, query_titles, row_names
from analysis.show import answer_lines, short
from analysis.verdict import FEWEST_DF, INCONCLUSIVE, NEGATIVE, NEGLIGIBLE, POSITIVE

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
WORDS_NAMED = 6
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
    (``scores_lacking``, ``gaps_lacking``).
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
    said = _by_text(asked, [each.why for each in asked])
    lines = [f"{which}: {why}." for why, which in said.items()]
    more = f"And {len(lines) - SHOWN} more, in the table below."
    return [*lines[:SHOWN], *([more] if len(lines) > SHOWN else [])]


def _lost(asked: Sequence[Finding]) -> list[str]:
    said = _by_text(asked, [each.lost_models for each in asked])
    return [f"Lost, for want of a score or a gap: {lost} ({of})." for lost, of in said.items()]


def _by_text(asked: Sequence[Finding], texts: Sequence[str]) -> dict[str, str]:
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
    known = [value for value in values if isfinite(value)]
    return " to ".join(dict.fromkeys(map(short, (min(known), max(known))))) if known else ""


def scores_lacking(intrinsic: pd.DataFrame) -> list[str]:
    """For each query that has no score at some points: how many of its words have no vector, and
    which; where none is missing, the reason. ``weat7, at 2 of 9 points: 20 of its 32 words have no
    vector (math, algebra)``.
    """
    several = len({*intrinsic["metric"]}) > 1
    names = row_names(intrinsic, SCORE if several else SCORE[2:], ", ")
    asked = Counter(names)
    absent = intrinsic.assign(title=names)
    absent = absent[~np.isfinite(absent["value"])]
    lines = []
    for title, lost in dict.fromkeys(text_rows(absent, ("title", "lost"))):
        part = absent[(absent["title"] == title) & (absent["lost"] == lost)]
        some = f", at {len(part)} of {counted(asked[title], 'point')}"
        lines.append(f"{title}{some if len(part) < asked[title] else ''}: {_why(part)}")
    return lines


def _why(part: pd.DataFrame) -> str:
    words = list(filter(None, part["lost"].iloc[0].split(",")))
    if not words:
        return "; ".join(dict.fromkeys(filter(None, part["reason"]))) or "no reason is known"
    number, found = (int(part[name].iloc[0]) for name in ("n_lost", "n_found"))
    have = "has" if number == 1 else "have"
    return f"{number} of its {counted(number + found, 'word')} {have} no vector ({_first(words)})"


def _first(words: Sequence[str]) -> str:
    more = f" and {len(words) - WORDS_NAMED} more" if len(words) > WORDS_NAMED else ""
    return ", ".join(words[:WORDS_NAMED]) + more


def gaps_lacking(gaps: pd.DataFrame) -> list[str]:
    """For each gap that is nowhere defined, why."""
    return [
        f"{title}: {'; '.join(dict.fromkeys(filter(None, part['reason'])))}"
        for title, part in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False)
        if not np.isfinite(part["value"]).any()
    ]


def verdict_takes(found: Iterable[Finding]) -> str:
    """How many models a verdict takes, where all slices have too few; else nothing.

    So many that models - parents - 1 is ``FEWEST_DF``.
    """
    most = max(found, key=lambda each: (each.within.df, each.n), default=None)
    if most is None or most.within.df >= FEWEST_DF:
        return ""
    parents = max(1, most.n_parents)
    number = parents + 1 + FEWEST_DF
    if most.n >= number:  # something else is in the way
        return ""
    of = f"{number} models of {counted(parents, 'parent')}"
    there = {0: "there are none", 1: "there is 1"}.get(most.n, f"there are {most.n}")
    return f"A verdict takes at least {of}, each with a score and a gap; {there}."
