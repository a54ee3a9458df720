"""The card on top of a page: how large the gaps are, whether they follow the score, and how far
that can be trusted, in plain words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.frame import text_rows, texts
from analysis.naming import (
    CONTROL,
    GROUPS,
    ORIGINAL,
    SCORE,
    SLICE_COLUMNS,
    UTILITY,
    capital,
    counted,
    gap_titles,
    query_titles,
    row_names,
)
from analysis.show import estimate, short
from analysis.summary import by_gap, join_scores, scores_by_way, verdicts_of
from analysis.utility import describe_task
from analysis.verdict import FEWEST_DF, INCONCLUSIVE, NEGATIVE, NEGLIGIBLE, POSITIVE

if TYPE_CHECKING:
    from analysis.findings import Finding
    from analysis.frame import Tables

MODIFIED = "when a model is modified, "
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
SIZES = "How large are the gaps without any modification?"
FOLLOWS = "Does the gap follow the score?"
TRUST = "How far can this be trusted?"
R_RM = (
    "the correlation of score and gap among models made from the same unmodified one, from -1 to 1;"
    " in brackets its 95% interval."
)
SYNTHETIC = "The data are synthetic: nothing here is evidence about the real world."
NAMED = 4  # tests named in one sentence
WORDS_NAMED = 6
SHOWN = 8  # lines of one kind; the tables below the card have all
Line = tuple[str, str]  # what it is about, and what is said


class Card(NamedTuple):
    """The ``headline``, and under each question its lines."""

    headline: str
    parts: dict[str, Sequence[Line]]


def answer(found: Sequence[Finding], tables: Tables) -> Card:
    """What was found, of every gap that was measured, declared or not; of typed tables."""
    asked = [each for each in found if each.confirmatory]
    headline = _headline(asked) if asked else "Undecided: no test was declared before the run."
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return Card(
        " ".join([headline, *_other_way(found)]),
        {
            SIZES: unmodified_gaps(tables),
            FOLLOWS: [*_shown(_following(found)), *_terms(gaps)],
            TRUST: _trust(asked, tables),
        },
    )


def no_answer(scores: Sequence[str], gaps: Sequence[str], tables: Tables) -> Card:
    """What is said where no model has a score and a gap: which of these could not be had, and why
    (``scores_lacking``, ``gaps_lacking``).
    """
    lines = [
        f"No {side} could be had: {'; '.join(why)}."
        for side, why in (("score", scores), ("gap", gaps))
        if why
    ]
    headline, *rest = [*lines, "So there is nothing to compare."]
    said = [("", each) for each in rest]
    return Card(headline, {SIZES: unmodified_gaps(tables), FOLLOWS: said})


def unmodified_gaps(tables: Tables) -> list[Line]:
    """For each gap its mean over the unmodified models, its range, and who is worse off:
    ``precision gap``, ``worse for female by .09 on average, from .01 to .17 in 10 models``; and how
    well the task is done.
    """
    points = tables.points
    plain = (points["status"] == "done") & points["label_method"].isin(["", CONTROL])
    points = points[plain & (points["method"] == CONTROL)]
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"].dropna(subset="value")
    gaps = gaps.assign(title=gap_titles(gaps)).merge(points[["point", "unit_key"]], on="point")
    model = gaps["unit_key"].where(gaps["unit_key"] != "", gaps["point"])
    several = len({*gaps["task"]}) > 1
    lines = []
    for (task, title), part in gaps.groupby(["task", "title"], sort=False):
        means = part.groupby(model, sort=False)["value"].mean()
        name = f"{task} {title}" if several else str(title)
        lines.append((capital(name), _size(means.tolist(), *text_rows(part, GROUPS)[0])))
    said = _shown(lines) or [("", "No unmodified model has a gap.")]
    return [*said, *(("", each) for each in describe_task(tables, UTILITY))]


def _size(values: Sequence[float], privileged: str, unprivileged: str) -> str:
    """``worse for female by .09 on average, from .01 to .17 in 10 models``."""

    def by(value: float) -> str:
        size = short(abs(value))
        worse = unprivileged if value > 0 else privileged
        return f"worse for {worse} by {size}" if float(size) else "no difference"

    if len(values) == 1:
        return f"{by(values[0])}, in 1 model"
    mean, low, high = sum(values) / len(values), min(values), max(values)
    if low < 0 < high:
        ends = f"{by(low)} to {by(high)}"
    else:
        ends = " to ".join(short(each) for each in sorted((abs(low), abs(high))))
    return f"{by(mean)} on average, from {ends} in {len(values)} models"


def _following(found: Sequence[Finding]) -> list[Line]:
    """``precision gap``, ``rises with WEAT 6b, 7: r_rm .94 to .96 [.89,.98] ...``."""
    lines = []
    for gap, scores in by_gap(found).items():
        said = [
            f"{way} {join_scores(names)}" + _r_rm([scores[name] for name in names])
            for way, names in scores_by_way(scores).items()
        ]
        verdicts = verdicts_of(scores)
        declared = f"declared before the run: {verdicts}" if verdicts else "not declared"
        lines.append((capital(gap), f"{'; '.join(said)} ({declared})"))
    return lines


def _terms(gaps: pd.DataFrame) -> list[Line]:
    """What r_rm is, and where there are two groups, whom a rising gap is worse for."""
    pairs = set(text_rows(gaps, GROUPS))
    if len(pairs) != 1:
        return [("r_rm", R_RM)]
    privileged, unprivileged = pairs.pop()
    rises = f"the larger the score, the worse for {unprivileged} compared with {privileged}"
    return [("Rises", f"{rises}; falls: the opposite."), ("r_rm", R_RM)]


def _r_rm(found: Sequence[Finding]) -> str:
    """r_rm with its interval; of several scores the least to the largest, and how far their
    intervals reach.
    """
    of = [each.within for each in found if isfinite(each.within.r)]
    if len(of) < 2:
        return f": r_rm {estimate(*of[0].interval)}" if of else ""
    least, most = (short(end(each.r for each in of)) for end in (min, max))
    low, high = min(each.low for each in of), max(each.high for each in of)
    r = least if least == most else f"{least} to {most}"
    return f": r_rm {r}" + (
        f", intervals within [{short(low)},{short(high)}]" if isfinite(low + high) else ""
    )


def _trust(asked: Sequence[Finding], tables: Tables) -> list[Line]:
    lines = [("", each) for each in _verdicts(asked)]
    if any(each.n_conditions for each in asked):
        lines.append(("Conditions", f"{'; '.join(_conditions(tables.points))}."))
    lines += [("", each) for each in filter(None, [verdict_takes(asked)])] if asked else []
    lost = _by_text(asked, [each.lost_models for each in asked])
    lines += [("Without a score or a gap", f"{some} ({of}).") for some, of in lost.items()]
    if asked and not lost:
        lines.append(("", "Nothing was lost: every model has a score and a gap."))
    if "True" in texts(tables.points, "generated"):
        lines.append(("", SYNTHETIC))
    return lines


def _conditions(points: pd.DataFrame) -> list[str]:
    done = points[points["status"] == "done"]
    rows = text_rows(done, ("method", "direction", "dose"))
    named = [
        ORIGINAL if method == CONTROL else f"{method} {direction} {float(dose or 'nan'):g}"
        for method, direction, dose in rows
    ]
    found = list(dict.fromkeys(named))
    more = len(found) - SHOWN
    lists = {
        name
        for (method, *_), name in zip(rows, texts(done, "wordset"), strict=True)
        if method != CONTROL
    }
    listed = [f"with {len(lists)} lists of words"] if len(lists) > 1 else []
    return [*found[:SHOWN], *([f"and {more} more"] if more > 0 else []), *listed]


def _other_way(found: Sequence[Finding]) -> list[str]:
    """The gaps that go the other way than the declared ones, which all go one way."""
    asked = {each.verdict for each in found if each.confirmatory}
    opposite = {POSITIVE: "falls with", NEGATIVE: "rises with"}.get(next(iter(asked), ""), "")
    if len(asked) != 1 or not opposite:
        return []
    gaps = [
        gap
        for gap, scores in by_gap(found).items()
        if not verdicts_of(scores) and opposite in scores_by_way(scores)
    ]
    goes = "goes" if len(gaps) == 1 else "go"
    return [f"The {' and the '.join(gaps)} {goes} the other way."] if gaps else []


def _headline(asked: Sequence[Finding]) -> str:
    number = len(asked)
    when = MODIFIED if any(each.n_conditions for each in asked) else ""
    verdicts = Counter(each.verdict for each in asked)
    gap = _gap_of(asked)
    tests = ("test" if number == 1 else "tests") + " declared before the run"
    if len(verdicts) > 1:
        ways = [f"{way} in {verdicts[name]}" for name, way in WAYS.items() if verdicts[name]]
        some = " and ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))
        left = verdicts[INCONCLUSIVE]
        rest = f"; {left} {'is' if left == 1 else 'are'} inconclusive" if left else ""
        return f"It depends: {when}{gap} {some} of {number} {tests}{rest}."
    verdict = asked[0].verdict
    which = f"all {number} {tests}" if number > 1 else f"the {tests}"
    if verdict == INCONCLUSIVE:
        said = f"whether {gap} rises with the score {when.rstrip(', ')}".rstrip()
        which = f"any of {number} {tests}" if number > 1 else which
        return f"{WORDS[verdict]}: these models cannot say {said}, in {which}."
    return f"{WORDS[verdict]}: {when}{gap} {WAYS[verdict]}, in {which}."


def _gap_of(asked: Sequence[Finding]) -> str:
    table = pd.DataFrame([each.names for each in asked], columns=list(SLICE_COLUMNS))
    gaps = set(gap_titles(table))
    return f"the {gaps.pop()}" if len(gaps) == 1 else "the gap"


def _verdicts(asked: Sequence[Finding]) -> list[str]:
    said = _by_text(asked, [each.why for each in asked])
    if len(said) == 1:
        return [f"{capital(next(iter(said)))}."]
    lines = [f"{which}: {why}." for why, which in said.items()]
    more = f"And {len(lines) - SHOWN} more, in the table below."
    return [*lines[:SHOWN], *([more] if len(lines) > SHOWN else [])]


def _by_text(asked: Sequence[Finding], said: Sequence[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, text in zip(_names(asked), said, strict=True):
        found.setdefault(text, []).append(name)
    return {text: _few(names) for text, names in found.items() if text}


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _shown(lines: Sequence[Line]) -> list[Line]:
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], *([("", f"And {more} more, in the tables below.")] if more > 0 else [])]


def _names(asked: Sequence[Finding]) -> list[str]:
    """For each test what sets it apart from the others: ``WEAT 6b, recall gap``."""
    table = pd.DataFrame([each.names for each in asked], columns=list(SLICE_COLUMNS))
    apart = ("task", "embedding", "metric", "convention", "method")
    vary = [name for name in apart if len({*table[name]}) > 1]
    parts = zip(
        *(table[name] for name in vary), query_titles(table), gap_titles(table), strict=True
    )
    return [", ".join(filter(None, each)) for each in parts]


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
