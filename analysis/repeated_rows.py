"""Rows of a foreign table that cannot be models of their own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.rows import Rows

TIED = 3  # times as many ties as chance makes


def repeats(rows: Rows) -> str:
    """Why rows taken as models cannot be independent; empty where nothing speaks against it.

    The rows of one embedding share its gap beside several scores (then more than a fifth of all
    share their y with another x), or its score beside several gaps (then nearly all share their x).
    Gaps of few items have ties too, which are left where they may be by chance (``_by_chance``).
    """
    known = rows.at(np.flatnonzero(rows.known))
    x, y = known.x.tolist(), known.y.tolist()
    for name, other, side, least in (
        ("y", "x", list(zip(y, x, strict=True)), 0.2),
        ("x", "y", list(zip(x, y, strict=True)), 0.8),
    ):
        values = Counter(value for value, _ in set(side))
        times = sum(values[value] > 1 for value, _ in side)
        if times > least * len(side) and not _by_chance([value for value, _ in set(side)]):
            return (
                f"{times} of {len(side)} rows share their {name} with another {other}, as the rows"
                " of one embedding do; name what is one model with --observation (if each row is"
                " one, a column that numbers them)"
            )
    return ""


def _by_chance(values: Sequence[float]) -> bool:
    """Whether values may have their ties by chance, as differences of shares of few items do.

    Not where the times that values occur have a common divisor, as in a table that has every
    embedding three times; nor where, without the most frequent value, the share with ties is more
    than three times that of as many values drawn from a grid of their smallest step,
    1 - (1 - 1 / g)^(n - 1), g = (largest - smallest) / step + 1.
    """
    scale = max(map(abs, values)) or 1.0
    different, times = np.unique(np.round(np.array(values) / scale, 9), return_counts=True)
    if np.gcd.reduce(times) > 1 or len(different) < 3:
        return False
    rest = np.delete(times, times.argmax())
    tied = float(rest[rest > 1].sum() / rest.sum())
    grid = float(np.ptp(different) / np.diff(different).min()) + 1
    return tied <= TIED * (1 - (1 - 1 / grid) ** (int(rest.sum()) - 1))
