"""What a study lacks: scores and gaps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.frame import text_rows
from biasbridge.analysis.naming import SCORE, gap_titles, row_names, with_count

if TYPE_CHECKING:
    import pandas as pd

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
