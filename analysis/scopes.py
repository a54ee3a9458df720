"""What a change of the gap holds for: these runs, and what else could have been run.

    these runs        models within parents
    other doses       means of each condition over parents, from ten conditions on
    other word lists  the same means, whole lists left out, from four on
    other methods     the same means, whole families of methods left out, from four on
    other seeds       models within parents, whole parents left out, from five on
    other corpora     whole corpora left out, from five on

Where G groups are left out in turn, the spread of what remains is the standard error:

    s^2      = (G - 1) / G sum_g (b_(-g) - mean b_(-g))^2      likewise for z = atanh(r_rm)
    interval = b -+ t(E - 1) sqrt(s^2 + c^2),                  c: error from words and items
    E        = 1 / sum_g w_g^2,                                w_g: share of group g in sum u^2

E groups of equal weight would say as much (Carter, Schnepel & Steigerwald, 2017). Doses of one
method lie on one curve, lists and methods have slopes of their own: so conditions alone would count
a list once for each dose.
"""

from __future__ import annotations

from math import atanh, hypot, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np
import scipy

from biasbridge.analysis.correlation import (
    NEARLY_1,
    ROUNDING,
    Correlation,
    sampling_error,
    slope_sampling_error,
)
from biasbridge.analysis.naming import CONTROL
from biasbridge.analysis.observations import WORLD
from biasbridge.stats.intervals import ALPHA, Estimate, jackknife_error, t_interval

if TYPE_CHECKING:
    from biasbridge.analysis.correlation import Residuals
    from biasbridge.analysis.observations import Observations
    from biasbridge.stats.arrays import Floats, Ints, Labels

RUNS, DOSES, LISTS, METHODS, SEEDS, CORPORA = SCOPES = (
    "these runs",
    "other doses",
    "other word lists",
    "other methods",
    "other seeds",
    "other corpora",
)
# What each scope takes: degrees of freedom, conditions, lists, families, parents, corpora. With
# fewer groups, delete-one intervals have no coverage, or are as wide as the scale
MINIMUM = {RUNS: 8, DOSES: 10, LISTS: 4, METHODS: 4, SEEDS: 5, CORPORA: 5}
UNNAMED = "method and dose of the conditions are not named"


def measure_scopes(
    models: Observations, permutations: int, *, full: bool
) -> dict[str, Correlation]:
    """Correlate models under each scope; ``full``: under others than these runs too.

    ``n`` of a scope: the groups that it counts; a scope with fewer than its minimum has a reason in
    place of r. Studies without conditions have no scope over these.
    """
    independent = models.average_over_clusters()
    scopes = {RUNS: independent.within_models(permutations)}
    if not full:
        return scopes
    siblings = models.with_siblings()
    conditions = set(siblings.condition.tolist()) - {""}
    if len(conditions) > 1:
        scopes |= _over_conditions(independent.condition_means(), permutations)
    clusters = independent.with_siblings().cluster
    is_world = np.char.startswith(clusters, WORLD).all()
    scopes[SEEDS] = (
        _leave_out(independent, independent.cluster, SEEDS)
        if is_world
        else _leave_out(siblings, siblings.parent, SEEDS)
    )
    corpus = np.full(len(independent.x), "one world") if is_world else independent.cluster
    scopes[CORPORA] = _leave_out(independent, corpus, CORPORA)
    return scopes


def _over_conditions(means: Observations, permutations: int) -> dict[str, Correlation]:
    """Correlate the means of conditions; other methods takes the widest of what they vary in."""
    n = len(means.x)
    modified = means.method[means.method != CONTROL]
    if not (modified != "").all():
        return {DOSES: Correlation(n=n, reason=UNNAMED)}
    doses = Correlation(n=n, reason=_shortage(n, DOSES))
    if n >= MINIMUM[DOSES]:
        doses = means.within_models(permutations)
    lists = _leave_out(means, means.word_list, LISTS)
    methods = _leave_out(means, means.family, METHODS)
    # Methods share the lists: a slope that belongs to a list would look like one of every method
    if lists.n > 1:
        methods = _widen(methods, _leave_out(means, means.word_list, LISTS, minimum=2))
    return {DOSES: doses, LISTS: lists, METHODS: methods}


def _leave_out(
    models: Observations, group: Labels, scope: str, minimum: int | None = None
) -> Correlation:
    """Compute r_rm and slope with the interval that leaves out each group.

    Observations without a group (the unmodified models, which every method shares) always stay.
    NaN, with its reason, below the ``minimum`` of groups, and where r is undefined with or without
    one. ``n``: number of groups; ``df``: of E groups; ``s``: standard error of z.
    """
    whole = models.residuals()
    label = group[whole.indices]
    names = np.unique(label[label != ""])
    if len(names) < (minimum or MINIMUM[scope]):
        return Correlation(n=len(names), reason=_shortage(len(names), scope))
    undefined_or_1 = Correlation(
        n=len(names), reason="r_rm is undefined, or 1, with or without one"
    )
    if not whole.defined or abs(whole.r) >= NEARLY_1:
        return undefined_or_1
    uv, uu, vv, df = _without_groups(whole, np.where(label == "", -1, names.searchsorted(label)))
    if ((df < 1) | (uu < ROUNDING) | (vv < ROUNDING)).any():
        return undefined_or_1
    resampled = models.x_resampled, models.y_resampled
    sampling = sampling_error(whole, *resampled)
    slope_sampling = slope_sampling_error(whole, *resampled)
    r = np.clip(uv / np.sqrt(uu * vv), -NEARLY_1, NEARLY_1)
    z, s = atanh(abs(whole.r)), jackknife_error(np.arctanh(r))
    error, outward = hypot(s, sqrt(sampling.variance)), hypot(s, sampling.outward)
    share = np.array([np.square(whole.u[label == name]).sum() for name in names])
    groups_df = max(1.0, float(share.sum() ** 2 / np.square(share).sum()) - 1)
    t = float(scipy.special.stdtrit(groups_df, 1 - ALPHA / 2))
    scale = sqrt(float(whole.v @ whole.v) / float(whole.u @ whole.u))
    slope_error = sqrt(jackknife_error(scale * uv / uu) ** 2 + slope_sampling.variance)
    near, far = tanh(z - t * error), tanh(z + t * outward)
    return Correlation(
        whole.r,
        *((near, far) if whole.r >= 0 else (-far, -near)),
        2 * float(scipy.special.stdtr(groups_df, -z / error)) if error > 0 else 0.0,
        n=len(names),
        df=groups_df,
        s=s,
        sampling=sampling,
        slope=t_interval(whole.slope, slope_error, groups_df),
        slope_df=groups_df,
    )


def _shortage(n: int, scope: str) -> str:
    return f"{n} of {MINIMUM[scope]}"


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


def _widen(correlation: Correlation, other: Correlation) -> Correlation:
    """Return r_rm with the wider interval, and the larger p, of two scopes; the first where either
    has none.
    """
    if not (correlation.p >= 0 and other.p >= 0):
        return correlation
    return correlation._replace(
        low=min(correlation.low, other.low),
        high=max(correlation.high, other.high),
        p=max(correlation.p, other.p),
        df=min(correlation.df, other.df),
        slope=Estimate(
            correlation.slope.value,
            min(correlation.slope.low, other.slope.low),
            max(correlation.slope.high, other.slope.high),
        ),
    )
