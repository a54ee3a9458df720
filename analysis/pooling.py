"""Independent slices taken together: a random-effects meta-analysis of correlations."""

from __future__ import annotations

from math import nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.coefficients import both_finite
from analysis.naming import counted

if TYPE_CHECKING:
    from analysis.arrays import Floats

FEWEST_SLICES = 4  # an interval over fewer is a guess at their spread
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


def meta_analysis(r: ArrayLike, z_error: ArrayLike) -> MetaAnalysis:
    """The random-effects mean of correlations, by Fisher's z, with heterogeneity.

    z_i = atanh(r_i) = zeta + u_i + e_i,   u_i ~ (0, tau^2),  e_i ~ (0, s_i^2)

    tau^2 after Paule and Mandel: it makes Q(tau^2) = sum w_i (z_i - zeta)^2 equal to its
    expectation m - 1, w_i = 1 / (s_i^2 + tau^2). The 95% interval of zeta is that of Hartung and
    Knapp, t of m - 1 degrees of freedom, its factor Q / (m - 1) not below 1 (Röver et al., 2015):
    slices that agree by chance do not narrow it. Nothing is pooled of fewer than 4 slices. I2 =
    max(0, (Q(0) - (m - 1)) / Q(0)) is the share of the variation of the z_i beyond their errors.
    It takes the slices as independent; slices that share
    embeddings or gaps are not, and then the interval is too short and I2 too low.
    ``z_error`` are the standard errors of z. Shapes: (m,), (m,).
    """
    values, errors = np.asarray(r, dtype=float), np.asarray(z_error, dtype=float)
    kept = both_finite(values, errors) & (np.abs(values) < 1) & (errors > 0)
    z: Floats = np.arctanh(values[kept])
    variance: Floats = errors[kept] ** 2
    m = len(z)
    if m < FEWEST_SLICES:
        return MetaAnalysis(
            m, reason=f"{counted(m, 'slice')} with an error, fewer than {FEWEST_SLICES}"
        )
    q, _ = _cochran(z, variance, 0.0)
    tau2 = _paule_mandel(z, variance)
    spread, zeta = _cochran(z, variance, tau2)
    error = sqrt(max(1.0, spread / (m - 1)) / float((1 / (variance + tau2)).sum()))
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


def _cochran(z: Floats, variance: Floats, tau2: float) -> tuple[float, float]:
    """Q and the weighted mean zeta at a tau^2."""
    w: Floats = 1 / (variance + tau2)
    zeta = float(w @ z) / float(w.sum())
    return float(w @ (z - zeta) ** 2), zeta


def _paule_mandel(z: Floats, variance: Floats) -> float:
    """The tau^2 at which Q is m - 1, by bisection; 0 where Q is no larger without one."""
    expected = len(z) - 1
    if _cochran(z, variance, 0.0)[0] <= expected:
        return 0.0
    tau2, low, high = 0.0, 0.0, 1.0
    while _cochran(z, variance, high)[0] > expected:
        high *= 2
    for _ in range(ROUNDS):
        tau2 = (low + high) / 2
        low, high = (tau2, high) if _cochran(z, variance, tau2)[0] > expected else (low, tau2)
    return tau2
