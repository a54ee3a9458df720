"""What a study lacks: scores, gaps, and models enough for a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import text_rows
from analysis.naming import SCORE, gap_titles, row_names, with_count
from analysis.scopes import MINIMUM, RUNS

if TYPE_CHECKING:
    import pandas as pd

    from analysis.slice_results import SliceResult

MAX_WORDS = 6


def scores_lacking(intrinsic: pd.DataFrame) -> list[str]:
    """Explain for each query why it has no score at some points.

    ``weat7, at 2 of 9 points: 20 of its 32 words have no vector (math, algebra)``.
    """
    has_several_metrics = len({*intrinsic["metric"]}) > 1
    titles = row_names(intrinsic, SCORE if has_several_metrics else SCORE[2:], ", ")
    n_points = Counter(titles)
    missing = intrinsic.assign(title=titles)
    missing = missing[~np.isfinite(missing["value"])]
    lines = []
    for title, oov in dict.fromkeys(text_rows(missing, ("title", "oov"))):
        rows = missing[(missing["title"] == title) & (missing["oov"] == oov)]
        points = f", at {len(rows)} of {with_count(n_points[title], 'point')}"
        lines.append(f"{title}{points if len(rows) < n_points[title] else ''}: {_reason(rows)}")
    return lines


def _reason(rows: pd.DataFrame) -> str:
    words = list(filter(None, rows["oov"].iloc[0].split(",")))
    if not words:
        return "; ".join(dict.fromkeys(filter(None, rows["reason"]))) or "reason unknown"
    n_oov, n_found = (int(rows[name].iloc[0]) for name in ("n_oov", "n_found"))
    verb = "has" if n_oov == 1 else "have"
    ending = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    listed = ", ".join(words[:MAX_WORDS]) + ending
    return f"{n_oov} of its {with_count(n_oov + n_found, 'word')} {verb} no vector ({listed})"


def gaps_lacking(gaps: pd.DataFrame) -> list[str]:
    """Explain for each gap without any value why it has none."""
    return [
        f"{title}: {'; '.join(dict.fromkeys(filter(None, rows['reason'])))}"
        for title, rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False)
        if not np.isfinite(rows["value"]).any()
    ]


def verdict_takes(slice_results: Iterable[SliceResult]) -> str:
    """Say how many models a verdict takes, if every slice has too few; else return an empty string.

    As many as give models - parents - 1 = ``MINIMUM[RUNS]`` degrees of freedom.
    """
    best = max(slice_results, key=lambda result: (result.within.df, result.n), default=None)
    if best is None or best.within.df >= MINIMUM[RUNS]:
        return ""
    n_parents = max(1, best.n_parents)
    n_needed = n_parents + 1 + MINIMUM[RUNS]
    if best.n >= n_needed:  # too few models is not the reason
        return ""
    models = f"{n_needed} models of {with_count(n_parents, 'parent')}"
    present = {0: "there are none", 1: "there is 1"}.get(best.n, f"there are {best.n}")
    return f"A verdict takes at least {models}, each with a score and a gap; {present}."
