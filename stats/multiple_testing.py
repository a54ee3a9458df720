"""Adjustment of p-values for several tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from stats.arrays import Floats


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's (1979) adjusted p-values of tests that are judged together."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    steps: Floats = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return list(map(float, adjusted))
