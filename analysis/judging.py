"""The verdicts on slices that are judged together: who is of one family, and Holm's adjustment of
their p-values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from analysis.columns import positions
from analysis.naming import SMALLEST
from analysis.verdict import ROLE_EXPLORATORY, ROLE_PRIMARY, judged, may_claim

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.findings import Finding


def judge(
    found: Sequence[Finding],
    parents: Sequence[tuple[str, ...] | None],
    *,
    smallest: float = SMALLEST,
    refused: Sequence[str] = (),
) -> list[Finding]:
    """The findings with their verdicts. ``parents``: () for a primary slice, the name of a primary
    slice for a part of it, None for one that is neither.
    """
    names = [tuple(each.names.values()) for each in found]
    claiming = [may_claim(each.evidence) for each in found]
    adjusted = np.full(len(found), np.nan)
    family = np.zeros(len(found), dtype=int)
    primary: dict[tuple[str, ...], float] = {}
    for parent, places in sorted(positions(parents).items(), key=lambda entry: entry[0] != ()):
        able = [int(place) for place in places if claiming[place]]
        holm = adjust([found[place].evidence.within_p for place in able])
        above = primary.get(parent, 1.0) if parent else 0.0
        for place, p in zip(able, holm.tolist(), strict=True):
            adjusted[place] = max(p, above)
        family[places] = len(able)
        if parent == ():
            primary = {names[place]: float(adjusted[place]) for place in able}
    return [
        each._replace(
            judgement=judged(
                each.evidence,
                ROLE_PRIMARY if parent == () else ROLE_EXPLORATORY,
                int(size),
                float(p),
                smallest=smallest,
                refused=reason,
            )
        )
        for each, parent, size, p, reason in zip(
            found, parents, family, adjusted, refused or [""] * len(found), strict=True
        )
    ]


def adjust(p: ArrayLike) -> Floats:
    """Holm's adjusted p-values over a family: of the i-th smallest of m the largest of (m - j + 1)
    p_j over j up to i, at most 1. Shapes: (m,) -> (m,).
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    steps: Floats = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted
