"""What a correlation of models holds for: other parents, and other methods.

Whole groups of observations (all models of a parent, all conditions of a method) are left out in
turn, and the spread of what remains is the standard error:

    s_z^2 = (G - 1) / G sum_g (z_(-g) - mean z_(-g))^2,    z = atanh(r_rm),    likewise for b
    interval = tanh(z -+ t(E - 1) sqrt(s_z^2 + c^2)),      c: error of z from words and items
    E = 1 / sum_g w_g^2,    w_g: the share of group g in sum u^2

The groups are what r is a statement about; E of them, were all alike, would say as much (Carter,
Schnepel & Steigerwald, 2017). Doses of one method lie on one curve, so conditions alone would count
a method once for each dose.
"""

from __future__ import annotations

from math import atanh, hypot, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np
import scipy

from analysis.correlation import NEARLY_1, ROUNDING, Correlation
from analysis.sampling import sampling_error, slope_sampling_error
from stats.intervals import Estimate
from stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from analysis.residuals import Residuals
    from stats.arrays import Floats, Ints, Labels

MIN_PARENTS = 5  # below, delete-one intervals have no coverage, or are as wide as [-1, 1]
MIN_METHODS = 4


def over_groups(
    whole: Residuals,
    group: Labels,
    minimum: int,
    x_resampled: Floats | None = None,
    y_resampled: Floats | None = None,
) -> Correlation:
    """Compute r_rm with the interval that leaves out each group; labels as of all observations.

    Observations without a group (the unmodified models, which every method shares) always stay.
    NaN, with its reason, below ``minimum`` groups, and where r is undefined with or without one.
    ``n``: number of groups; ``s``: standard error of z.
    """
    label = group[whole.indices]
    names = np.unique(label[label != ""])
    if len(names) < minimum:
        return Correlation(n=len(names), reason=f"{len(names)} groups; at least {minimum}")
    undefined_or_1 = Correlation(
        n=len(names), reason="r_rm is undefined, or 1, with or without one"
    )
    if not whole.defined or abs(whole.r) >= NEARLY_1:
        return undefined_or_1
    uv, uu, vv, df = _without_groups(whole, np.where(label == "", -1, names.searchsorted(label)))
    if ((df < 1) | (uu < ROUNDING) | (vv < ROUNDING)).any():
        return undefined_or_1
    sampling = sampling_error(whole, x_resampled, y_resampled)
    slope_sampling = slope_sampling_error(whole, x_resampled, y_resampled)
    r = np.clip(uv / np.sqrt(uu * vv), -NEARLY_1, NEARLY_1)
    z, s = atanh(abs(whole.r)), delete_one_error(np.arctanh(r))
    error, outward = hypot(s, sqrt(sampling.variance)), hypot(s, sampling.outward)
    share = np.array([np.square(whole.u[label == name]).sum() for name in names])
    groups_df = max(1.0, float(share.sum() ** 2 / np.square(share).sum()) - 1)
    t = float(scipy.special.stdtrit(groups_df, 1 - LEVEL / 2))
    scale = sqrt(float(whole.v @ whole.v) / float(whole.u @ whole.u))
    slope_width = t * sqrt(delete_one_error(scale * uv / uu) ** 2 + slope_sampling.variance)
    near, far = tanh(z - t * error), tanh(z + t * outward)
    return Correlation(
        whole.r,
        *((near, far) if whole.r >= 0 else (-far, -near)),
        2 * float(scipy.special.stdtr(groups_df, -z / error)) if error > 0 else 0.0,
        n=len(names),
        df=groups_df,
        s=s,
        sampling=sampling,
        slope=Estimate(whole.slope, whole.slope - slope_width, whole.slope + slope_width),
    )


def _without_groups(residual: Residuals, group: Ints) -> tuple[Floats, Floats, Floats, Ints]:
    """Return sum u v, sum u^2, sum v^2 (u, v of length 1) and df without each group, exactly.

    A sum within strata loses the group's products and what the strata's means move by it.
    """
    u, v = residual.unit
    strata, groups = int(residual.stratum.max()) + 1, int(group.max()) + 1
    is_grouped = group >= 0
    cell = (group * strata + residual.stratum)[is_grouped]

    def by_cell(values: Floats | None = None) -> Floats:
        weights = None if values is None else values[is_grouped]
        sums = np.bincount(cell, weights, groups * strata).astype(np.float64)
        return sums.reshape(groups, strata)

    remaining = np.bincount(residual.stratum, minlength=strata) - by_cell()
    uv, uu, vv = (
        float(a @ b)
        - by_cell(a * b).sum(axis=1)
        - (by_cell(a) * by_cell(b) / np.maximum(remaining, 1)).sum(axis=1)
        for a, b in ((u, v), (u, u), (v, v))
    )
    df: Ints = (np.maximum(remaining - 1, 0).sum(axis=1) - 1).astype(np.intp)
    return uv, uu, vv, df


def delete_one_error(values: Floats) -> float:
    """Return the standard error of a statistic from its values without each of G groups."""
    count = len(values)
    return sqrt((count - 1) / count * float(np.square(values - values.mean()).sum()))


def widen(models: Correlation, parents: Correlation) -> Correlation:
    """Return r_rm of models with the wider interval, and the larger p, of models and parents."""
    if not parents.p >= 0:
        return models
    return models._replace(
        low=min(models.low, parents.low),
        high=max(models.high, parents.high),
        p=max(models.p, parents.p),
        slope=Estimate(
            models.slope.value,
            min(models.slope.low, parents.slope.low),
            max(models.slope.high, parents.slope.high),
        ),
    )
