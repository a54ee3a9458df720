"""How much of what is seen is not noise, and a correlation corrected for that noise."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.within import Estimate, without_each, z_interval

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.within import Residuals

FEWEST_RESAMPLES = 50  # of words or posts, for a standard error
RELIABLE = 0.5  # below, noise is most of what is seen, and a correction for it multiplies noise


class Reliability(NamedTuple):
    """A reliability, of all units and without each (n,); NaN where it is not known."""

    whole: float
    without_each: Floats


def reliability(side: Floats, resampled: Floats, of: Residuals) -> Reliability:
    """The share of the variance within bases that is not noise, in [0, 1].

    reliability = 1 - sum_u var_b(c_ub) / sum_u c_u^2

    c_u: the value of unit u freed of its base, c_ub: in resample b of the words or posts, drawn
    alike for all units. What a resample does to all units of a base alike attenuates nothing. What
    stretches all alike attenuates nothing either and is counted as noise: a reliability is rather
    too low. NaN below 50 resamples in which every unit has a value. Shapes: (units,), (units,
    resamples).
    """
    usable = resampled[:, np.isfinite(resampled).all(axis=0)]
    if usable.shape[1] < FEWEST_RESAMPLES:
        return Reliability(nan, np.full(len(of.told), nan))
    noise: Floats = of.freed(usable).var(axis=1, ddof=1)
    variance: Floats = of.freed(side) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        each: Floats = (noise.sum() - noise) / (variance.sum() - variance / (1 - of.leverage))
    whole = 1 - float(noise.sum()) / float(variance.sum())
    return Reliability(max(0.0, whole), np.clip(1 - each, 0, 1))


def ceiling(x: Reliability, y: Reliability) -> float:
    """The largest |r| that noise lets through, sqrt(x y); NaN where one is not known."""
    return sqrt(x.whole * y.whole)


def corrected(of: Residuals, x: Reliability, y: Reliability) -> Estimate:
    """r divided by its ceiling (Spearman, 1904), in [-1, 1], with its 90% interval; NaN where noise
    is most of either side.
    """
    if not (x.whole >= RELIABLE and y.whole >= RELIABLE):
        return Estimate()
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out: Floats = without_each(of) / np.sqrt(x.without_each * y.without_each)
    r = z_interval(of.r / ceiling(x, y), left_out, of.free, 0.9)
    return r._replace(value=max(-1.0, min(1.0, r.value)))
