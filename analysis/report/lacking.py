"""What could not be had: queries without a score with their missing words, gaps, and embeddings
that a verdict would take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.columns import numbers, text_rows, texts
from analysis.naming import SCORE, counted, gap_titles, row_names
from analysis.within import FEWEST_FREE

if TYPE_CHECKING:
    import pandas as pd

    from analysis.evidence import Evidence

NAMED = 6  # words named in one sentence


def scores_lacking(intrinsic: pd.DataFrame) -> list[str]:
    """For each query that has no score at some points: how many of its words have no vector, and
    which; where none is missing, the reason. ``weat7, at 2 of 9 points: 20 of its 32 words have no
    vector (math, algebra)``.
    """
    several = len({*texts(intrinsic, "metric")}) > 1
    names = row_names(intrinsic, SCORE if several else SCORE[2:], ", ")
    asked = Counter(names)
    absent = intrinsic.assign(title=names, lost=texts(intrinsic, "lost"))
    absent = absent[~np.isfinite(numbers(absent, "value"))]
    told = []
    for title, lost in dict.fromkeys(text_rows(absent, ("title", "lost"))):
        part = absent[(absent["title"] == title) & (absent["lost"] == lost)]
        some = f", at {len(part)} of {counted(asked[title], 'point')}"
        told.append(f"{title}{some if len(part) < asked[title] else ''}: {_why(part)}")
    return told


def _why(part: pd.DataFrame) -> str:
    """Why rows with the same lost words have no score."""
    words = list(filter(None, texts(part, "lost")[0].split(",")))
    if not words:
        return "; ".join(dict.fromkeys(filter(None, texts(part, "reason")))) or "no reason is known"
    number, found = (int(numbers(part, name)[0]) for name in ("n_lost", "n_found"))
    have = "has" if number == 1 else "have"
    return f"{number} of its {counted(number + found, 'word')} {have} no vector ({_few(words)})"


def _few(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(words[:NAMED]) + more


def gaps_lacking(gaps: pd.DataFrame) -> list[str]:
    """For each gap that is nowhere defined, why."""
    table = gaps.assign(title=gap_titles(gaps), reason=texts(gaps, "reason"))
    return [
        f"{title}: {'; '.join(dict.fromkeys(filter(None, texts(part, 'reason'))))}"
        for title, part in table.groupby("title", sort=False)
        if not np.isfinite(numbers(part, "value")).any()
    ]


def verdict_takes(found: Iterable[Evidence]) -> str:
    """How many embeddings a verdict takes, where there are too few for any; else nothing.

    So many that units - strata - 1 is ``FEWEST_FREE``. The strata are the bases, or training
    algorithms where no base has two units.
    """
    most = max(found, key=lambda each: (each.free, each.n_units), default=None)
    if most is None or most.free >= FEWEST_FREE:
        return ""
    modified = most.n_bases < most.n_units
    strata = most.n_units - 1 - most.free if most.free else max(1, most.n_bases * modified)
    number = strata + 1 + FEWEST_FREE
    if most.n_units >= number:  # something else stands in the way
        return ""
    of = f" made from {counted(strata, 'unmodified one')} as now" if modified else ""
    there = f"there {'is' if most.n_units == 1 else 'are'} {most.n_units}"
    return f"A verdict takes at least {number} embeddings with a score and a gap{of}; {there}."
