"""Adjustment of p-values for several tests."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, log
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.stats.intervals import quantile

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
    from biasbridge.stats.intervals import Estimate

MAX_GAPS = 5

LEVEL = 0.05  # of tests


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's (1979) adjusted p-values of tests that are judged together."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    steps: Floats = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return list(map(float, adjusted))


def p_value(single: Estimate, level: float, simultaneous: Estimate, joint_level: float) -> float:
    """Compute the p-value of 0 that agrees with two intervals of one estimate.

        p = 2 (1 - Phi(z)),    z = z_1 (|value| / d_1)^(log(z_2 / z_1) / log(d_2 / d_1))

    d_1 and d_2: from the value to the end towards 0, of levels with normal quantiles z_1 and z_2.
    So p is below 1 - level exactly where the interval of that level excludes 0. Between and
    beyond the two it is interpolated, and so depends a little on the joint level.

    Parameters
    ----------
    single, simultaneous : Estimate
        The estimate with its interval of ``level``, and of ``joint_level``.
    level, joint_level : float
        Confidence levels, in (0, 1).

    Returns
    -------
    float
        p in [0, 1]; NaN where the estimate is.
    """
    value = single.value
    if isnan(value) or not value:
        return 1.0 if value == 0 else value
    arms = [abs(value - (end.low if value > 0 else end.high)) for end in (single, simultaneous)]
    z = [quantile(level), quantile(joint_level)]
    power = log(z[1] / z[0]) / log(arms[1] / arms[0]) if arms[1] > arms[0] else 1.0
    return 2 * NormalDist().cdf(-z[0] * (abs(value) / arms[0]) ** power)


def describe_adjusted(labels: Sequence[str], p: Sequence[float]) -> str:
    """Return a sentence on which gaps differ from 0 after Bonferroni's adjustment, as simultaneous
    intervals do.

    Parameters
    ----------
    labels : sequence of str
        Group, measure and gap of each comparison.
    p : sequence of float
        p-values of single tests; NaN where there is no gap, which is not counted.
    """
    n = sum(not isnan(single) for single in p)
    by_p = sorted(zip(p, labels, strict=True))
    significant = [label for single, label in by_p if single * n < LEVEL]
    number = f"{len(significant) or 'no'} gap{'s' if len(significant) > 1 else ''}"
    verb = "differ" if len(significant) > 1 else "differs"
    listed = "; ".join(significant[:MAX_GAPS])
    n_more = len(significant) - MAX_GAPS
    listed += f"; and {n_more} more" if n_more > 0 else ""
    sentence = f"After adjustment over {n} comparisons (Bonferroni), {number} {verb} from 0"
    return f"{sentence}: {listed}." if listed else f"{sentence}."
