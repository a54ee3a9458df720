"""Slices taken together without lying: random-effects meta-analysis, a mixed model, and sign
reversals between the whole and its parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isfinite, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.clusters import (
    Estimate,
    Pairs,
    jackknife_error,
    leave_one_out,
    moments,
    standardised,
    weighted_moments,
)
from analysis.coefficients import NORMAL_975, Floats, both_finite
from analysis.verdict import WITHIN_NOISE

FEWEST_SLICES = 2
FEWEST_UNITS = 4
ROUNDS = 200


class MetaAnalysis(NamedTuple):
    """The random-effects mean ``r`` of ``m`` correlations with its 95% interval and heterogeneity:
    ``tau2`` (on the scale of z), ``i2``, Cochran's ``q`` and its p; a reason where there is none.
    """

    m: int
    r: float = nan
    low: float = nan
    high: float = nan
    tau2: float = nan
    i2: float = nan
    q: float = nan
    q_p: float = nan
    reason: str = ""


class MixedModel(NamedTuple):
    """The slope within groups with its 95% interval (normal) and p; ``group_share``, the share of
    the residual variance that lies between groups; a reason where the model cannot be fitted.
    """

    n_groups: int
    slope: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    group_share: float = nan
    reason: str = ""


def meta_analysis(r: ArrayLike, z_error: ArrayLike) -> MetaAnalysis:
    """The random-effects mean of correlations, by Fisher's z, with heterogeneity.

    z_i = atanh(r_i) = zeta + u_i + e_i,   u_i ~ (0, tau^2),  e_i ~ (0, s_i^2)

    tau^2 after Paule and Mandel: it makes Q(tau^2) = sum w_i (z_i - zeta)^2 equal to its
    expectation m - 1, w_i = 1 / (s_i^2 + tau^2). The 95% interval of zeta is that of Hartung and
    Knapp, t of m - 1 degrees of freedom. I2 = max(0, (Q(0) - (m - 1)) / Q(0)) is the share of the
    variation of the z_i beyond their errors. It takes the slices as independent; slices that share
    embeddings or gaps are not, and then the interval is too short and I2 too low.
    ``z_error`` are the standard errors of z. Shapes: (m,), (m,).
    """
    values, errors = np.asarray(r, dtype=float), np.asarray(z_error, dtype=float)
    kept = both_finite(values, errors) & (np.abs(values) < 1) & (errors > 0)
    z: Floats = np.arctanh(values[kept])
    variance: Floats = errors[kept] ** 2
    m = len(z)
    if m < FEWEST_SLICES:
        return MetaAnalysis(m, reason=f"{m} slices with an error, fewer than {FEWEST_SLICES}")

    def excess(tau2: float) -> tuple[float, float]:
        w: Floats = 1 / (variance + tau2)
        zeta = float(w @ z) / float(w.sum())
        return float(w @ (z - zeta) ** 2), zeta

    q, _ = excess(0.0)
    tau2 = 0.0
    if q > m - 1:
        high = 1.0
        while excess(high)[0] > m - 1:
            high *= 2
        low = 0.0
        for _ in range(ROUNDS):
            tau2 = (low + high) / 2
            low, high = (tau2, high) if excess(tau2)[0] > m - 1 else (low, tau2)
    spread, zeta = excess(tau2)
    error = sqrt(spread / (m - 1) / float((1 / (variance + tau2)).sum()))
    reach = float(scipy.special.stdtrit(m - 1, 0.975)) * error
    return MetaAnalysis(
        m,
        r=tanh(zeta),
        low=tanh(zeta - reach),
        high=tanh(zeta + reach),
        tau2=tau2,
        i2=max(0.0, (q - (m - 1)) / q) if q else 0.0,
        q=q,
        q_p=float(scipy.special.chdtrc(m - 1, q)),
    )


def z_error(x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[float, float]:
    """Pearson's r of a slice and the jackknife error of its z over units; NaN for fewer than 4
    units or a constant side.
    """
    pairs, _ = Pairs.of(x, y, units)
    if pairs.units < FEWEST_UNITS or pairs.constant:
        return nan, nan
    r = float(weighted_moments(np.ones((1, pairs.units)), moments(pairs)).r[0])
    left_out = leave_one_out(pairs)
    if not np.isfinite(left_out).all() or (np.abs(left_out) > 1 - 1e-12).any():
        return r, nan
    return r, jackknife_error(left_out)


def mixed_model(x: ArrayLike, y: ArrayLike, groups: ArrayLike) -> MixedModel:
    """The slope of y on x within groups: y = a + b x + u_group + e, both standardised, fitted by
    restricted maximum likelihood.

    ``groups``: the unmodified embedding that each row descends from, or another cluster.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM  # loads for a second

    pairs, names = Pairs.of(x, y, groups)
    n = len(pairs.x)
    if len(names) < FEWEST_SLICES or n < len(names) + 3:
        reason = f"{n} rows in {len(names)} groups are too few for a mixed model"
        return MixedModel(len(names), reason=reason)
    if pairs.constant:
        return MixedModel(len(names), reason="a side is constant")
    first, second = standardised(pairs.x, ddof=1), standardised(pairs.y, ddof=1)
    with warnings.catch_warnings():
        # A variance at its boundary, 0, is an answer and no failure
        warnings.simplefilter("ignore")
        try:
            fit = MixedLM(second, np.column_stack([np.ones(n), first]), pairs.unit).fit(reml=True)
        except (np.linalg.LinAlgError, ValueError) as failure:
            reason = f"the mixed model cannot be fitted: {failure}"
            return MixedModel(len(names), reason=reason)
    slope, error = float(fit.params[1]), float(fit.bse[1])
    if not isfinite(error):
        return MixedModel(len(names), slope, reason="the mixed model is singular")
    between = float(np.asarray(fit.cov_re)[0, 0])
    return MixedModel(
        len(names),
        slope,
        low=slope - NORMAL_975 * error,
        high=slope + NORMAL_975 * error,
        p=float(fit.pvalues[1]),
        group_share=between / (between + float(fit.scale)),
    )


def reversal(pooled: Estimate, parts: Sequence[Estimate]) -> str:
    """What is to be said where a pooled correlation and those of its parts differ in sign, as in
    Simpson's paradox; else nothing.

    ``parts disagree``: one part's interval lies above 0 and another's below. ``reversed``: every
    part's r has the other sign than the pooled one; ``within the noise`` where no interval excludes
    0. ``not within the parts``: the pooled interval excludes 0, and the parts' r have the other
    sign on average.
    """
    known = [part for part in parts if isfinite(part.value)]
    if len(known) < FEWEST_SLICES or not isfinite(pooled.value):
        return ""
    above, below = sum(part.low > 0 for part in known), sum(part.high < 0 for part in known)
    if above and below:
        return f"parts disagree: {above} above 0, {below} below"
    side = _sign(pooled.value)
    excludes = pooled.low > 0 or pooled.high < 0
    if all(_sign(part.value) == -side for part in known):
        beyond_noise = excludes or above or below
        return (
            "reversed: every part has the other sign than the whole"
            if beyond_noise
            else f"reversed {WITHIN_NOISE}"
        )
    if excludes and side * sum(part.value for part in known) < 0:
        return "not within the parts: on average they have the other sign"
    return ""


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
