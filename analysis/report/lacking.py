"""What could not be had: queries without a score with their missing words, gaps, and models that a
verdict would take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import text_rows
from analysis.naming import SCORE, counted, gap_titles, row_names
from analysis.verdict import FEWEST_DF

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings import Finding

NAMED = 6  # words named in one sentence


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
    """Why rows with the same lost words have no score."""
    words = list(filter(None, part["lost"].iloc[0].split(",")))
    if not words:
        return "; ".join(dict.fromkeys(filter(None, part["reason"]))) or "no reason is known"
    number, found = (int(part[name].iloc[0]) for name in ("n_lost", "n_found"))
    have = "has" if number == 1 else "have"
    return f"{number} of its {counted(number + found, 'word')} {have} no vector ({_few(words)})"


def _few(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(words[:NAMED]) + more


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
