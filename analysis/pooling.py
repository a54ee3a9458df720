"""Slices taken together without lying: random-effects meta-analysis, a mixed model, and sign
reversals between the whole and its parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import nan, sqrt, tanh
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from analysis.clusters import Pairs, jackknife_error, leave_one_out, weighted_pearson
from analysis.clusters import moments as unit_moments

FEWEST_SLICES = 2
FEWEST_UNITS = 4
ROUNDS = 200
WITHIN_NOISE = "within the noise"


def meta_analysis(r: ArrayLike, z_error: ArrayLike) -> dict[str, Any]:
    """The random-effects mean of correlations, by Fisher's z, with heterogeneity.

    z_i = atanh(r_i) = zeta + u_i + e_i,   u_i ~ (0, tau^2),  e_i ~ (0, s_i^2)

    tau^2 after Paule and Mandel: it makes Q(tau^2) = sum w_i (z_i - zeta)^2 equal to its
    expectation m - 1, w_i = 1 / (s_i^2 + tau^2). The 95% interval of zeta is that of Hartung and
    Knapp, t of m - 1 degrees of freedom. I2 = max(0, (Q(0) - (m - 1)) / Q(0)) is the share of the
    variation of the z_i beyond their errors. It takes the slices as independent; slices that share
    embeddings or gaps are not, and then the interval is too short and I2 too low.

    Returns m, r (the pooled correlation), low, high, tau2 (on the scale of z), i2, q, q_p, and a
    reason where there is nothing to pool. Shapes: (m,), (m,): standard errors of z.
    """
    values, errors = np.asarray(r, dtype=float), np.asarray(z_error, dtype=float)
    kept = np.isfinite(values) & np.isfinite(errors) & (np.abs(values) < 1) & (errors > 0)
    z, variance = np.arctanh(values[kept]), errors[kept] ** 2
    m = len(z)
    row: dict[str, Any] = {
        "m": m,
        **dict.fromkeys(("r", "low", "high", "tau2", "i2", "q", "q_p"), nan),
        "reason": "",
    }
    if m < FEWEST_SLICES:
        return row | {"reason": f"{m} slices with an error, fewer than {FEWEST_SLICES}"}

    def excess(tau2: float) -> tuple[float, float]:
        w = 1 / (variance + tau2)
        zeta = float(w @ z / w.sum())
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
    reach = float(stats.t.ppf(0.975, m - 1)) * error
    row |= {"r": tanh(zeta), "low": tanh(zeta - reach), "high": tanh(zeta + reach), "tau2": tau2}
    return row | {
        "i2": max(0.0, (q - (m - 1)) / q) if q else 0.0,
        "q": q,
        "q_p": float(stats.chi2.sf(q, m - 1)),
    }


def z_error(x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[float, float]:
    """Pearson's r of a slice and the jackknife error of its z over units; NaN for fewer than 4
    units or a constant side.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    kept = np.isfinite(first) & np.isfinite(second)
    unit = np.unique(np.asarray(units, dtype=object)[kept].astype(str), return_inverse=True)[1]
    pairs = Pairs(first[kept], second[kept], unit)
    if pairs.units < FEWEST_UNITS or np.ptp(pairs.x) == 0 or np.ptp(pairs.y) == 0:
        return nan, nan
    r = float(weighted_pearson(np.ones((1, pairs.units)), unit_moments(pairs))[0][0])
    left_out = leave_one_out(pairs)
    if not np.isfinite(left_out).all() or (np.abs(left_out) > 1 - 1e-12).any():
        return r, nan
    return r, jackknife_error(left_out)


def mixed_model(x: ArrayLike, y: ArrayLike, groups: ArrayLike) -> dict[str, Any]:
    """The slope of y on x within groups: y = a + b x + u_group + e, both standardised, fitted by
    restricted maximum likelihood.

    ``groups``: the unmodified embedding that each row descends from, or another cluster. Returns
    slope, low, high (95%, normal), p, n_groups, group_share (the share of the residual variance
    that lies between groups) and a reason where the model cannot be fitted.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM  # loads for a second

    table = pd.DataFrame(
        {
            "x": np.asarray(x, dtype=float),
            "y": np.asarray(y, dtype=float),
            "group": np.asarray(groups, dtype=object).astype(str),
        }
    )
    table = table[np.isfinite(table["x"]) & np.isfinite(table["y"])]
    number = table["group"].nunique()
    row: dict[str, Any] = {
        "n_groups": number,
        **dict.fromkeys(("slope", "low", "high", "p", "group_share"), nan),
        "reason": "",
    }
    if number < FEWEST_SLICES or len(table) < number + 3:
        return row | {
            "reason": f"{len(table)} rows in {number} groups are too few for a mixed model"
        }
    if table["x"].std() == 0 or table["y"].std() == 0:
        return row | {"reason": "a side is constant"}
    scaled = table[["x", "y"]].apply(lambda column: (column - column.mean()) / column.std())
    with warnings.catch_warnings():
        # A variance at its boundary, 0, is an answer and no failure
        warnings.simplefilter("ignore")
        try:
            fit = MixedLM(
                scaled["y"],
                np.column_stack([np.ones(len(scaled)), scaled["x"]]),
                groups=table["group"],
            ).fit(reml=True)
        except (np.linalg.LinAlgError, ValueError) as failure:
            return row | {"reason": f"the mixed model cannot be fitted: {failure}"}
    slope, error = float(fit.params.iloc[1]), float(fit.bse.iloc[1])
    between = float(np.asarray(fit.cov_re)[0, 0])
    if not np.isfinite(error):
        return row | {"slope": slope, "reason": "the mixed model is singular"}
    reach = 1.959963984540054 * error
    row |= {
        "slope": slope,
        "low": slope - reach,
        "high": slope + reach,
        "p": float(fit.pvalues.iloc[1]),
    }
    return row | {"group_share": between / (between + float(fit.scale))}


def reversal(pooled: Mapping[str, float], parts: Sequence[Mapping[str, float]]) -> str:
    """What is to be said where a pooled correlation and those of its parts differ in sign, as in
    Simpson's paradox; else nothing.

    Each has ``r``, ``low``, ``high``. ``parts disagree``: one part's interval lies above 0 and
    another's below. ``reversed``: every part's r has the other sign than the pooled one; ``within
    the noise`` where no interval excludes 0. ``not within the parts``: the pooled interval excludes
    0, and the parts' r have the other sign on average.
    """
    known = [part for part in parts if np.isfinite(part["r"])]
    if len(known) < FEWEST_SLICES or not np.isfinite(pooled["r"]):
        return ""
    above, below = (
        sum(sign * part[bound] > 0 for part in known) for sign, bound in ((1, "low"), (-1, "high"))
    )
    if above and below:
        return f"parts disagree: {above} above 0, {below} below"
    sides = np.sign([part["r"] for part in known])
    side = np.sign(pooled["r"])
    excludes = pooled["low"] > 0 or pooled["high"] < 0
    if (sides == -side).all():
        beyond_noise = excludes or above or below
        return (
            "reversed: every part has the other sign than the whole"
            if beyond_noise
            else f"reversed {WITHIN_NOISE}"
        )
    if excludes and side * float(np.mean([part["r"] for part in known])) < 0:
        return "not within the parts: on average they have the other sign"
    return ""
