"""Where a method drives scores to the end of their scale, so that a larger dose shows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import text_rows, typed
from analysis.naming import CONTROL, row_names

if TYPE_CHECKING:
    from analysis.arrays import Truths
    from analysis.frame import Tables

NEAR = 0.025  # of the scale: 1.9 and more for WEAT's effect size
OFTEN = 0.25


def saturation(tables: Tables) -> str:
    """What a reader is to know of each method, direction and dose of which more than a quarter of a
    metric's scores lie within 2.5% of a biased end of its scale; empty where no scale is known.
    """
    tables = typed(tables)
    scores = tables.intrinsic.merge(tables.points, on="point", suffixes=("", "_of_point"))
    value, unbiased, least, most = (
        scores[name].to_numpy() for name in ("value", "unbiased", "least", "most")
    )
    near = NEAR * (most - least)
    known: Truths = np.isfinite(value) & np.isfinite(unbiased) & np.isfinite(near)
    known &= (scores["method"] != CONTROL).to_numpy()
    if not known.any():
        return ""
    near = np.where(known, near, np.nan)  # for inf - inf, of scales without ends, warns
    low: Truths = (least < unbiased) & (value <= least + near)
    high: Truths = (most > unbiased) & (value >= most - near)
    scores = scores.assign(title=row_names(scores, ("metric", "convention")))[known]
    conditions = text_rows(scores, ("method", "direction", "dose", "title"))
    ends: dict[tuple[str, ...], list[bool]] = {}
    for condition, end in zip(conditions, (low | high)[known].tolist(), strict=True):
        ends.setdefault(condition, []).append(end)
    said = [
        f"{sum(at)} of {len(at)} scores of {title} after {method}, {direction}, dose {dose}"
        for (method, direction, dose, title), at in ends.items()
        if sum(at) > OFTEN * len(at)
    ]
    if not said:
        return "No method drives more than a quarter of its scores to the end of their scale."
    return f"At the end of their scale, where a larger dose shows nothing: {'; '.join(said)}."
