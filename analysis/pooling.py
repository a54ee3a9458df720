"""Slices taken together, such as those of each training algorithm: whether they disagree beyond
their errors, and a random-effects meta-analysis of them.

Slices of one study are measured on the same words and test items, so what they are off by goes
together. The covariance of their errors, of z = atanh(r within bases), is

    S_ii = s_i^2 + (1 - R^2) c_i^2,    S_ij = (1 - R^2) C_ij, at most (1 - R^2) c_i c_j

s: the error of z over units (``within_error``), c: that of q = r / sqrt(1 - r^2) by the choice of
words and items (``Evidence.shared``), C: the covariance of q over resamples of these
(``analysis.shared_error.shifts``). dz = sqrt(1 - r^2) dq, taken at the mean R of all, for an r that
is off would be given another error. Of what c and C say the nearest matrix is taken that can be a
covariance. Errors over units that slices have in common are taken as independent: slices of other
queries about the same gaps are said to disagree too rarely.
"""

from __future__ import annotations

from math import cosh, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.naming import counted
from analysis.within import FEWEST_FREE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.arrays import Floats
    from analysis.evidence import Evidence

HETEROGENEOUS = 0.01
FEWEST_SLICES = 4  # an interval over fewer is a guess at their spread
ROUNDS = 200


class Part(NamedTuple):
    """A slice, and what each resample of words and items does to its r (resamples,)."""

    evidence: Evidence
    shifts: Floats

    @property
    def usable(self) -> bool:
        """Whether its z has an error, and enough degrees of freedom for that."""
        found = self.evidence
        return found.free >= FEWEST_FREE and found.within_error > 0 and abs(found.within) < 1


def z_and_covariance(parts: Sequence[Part]) -> tuple[Floats, Floats]:
    """z of usable parts and the covariance of its errors. Shapes: (m,), (m, m)."""
    r = np.array([each.evidence.within for each in parts])
    of_units = np.array([each.evidence.within_error for each in parts]) ** 2
    z, covariance = np.arctanh(r), _shared_covariance(parts)
    mean = float(np.average(z, weights=1 / (of_units + covariance.diagonal())))
    whole: Floats = np.diag(of_units) + covariance / cosh(mean) ** 2
    return z, whole


def _shared_covariance(parts: Sequence[Part]) -> Floats:
    """Of q by the choice of words and items. Shape (m, m)."""
    error = np.array([each.evidence.shared for each in parts])
    most = np.outer(error, error)
    moved = np.stack([each.shifts for each in parts])
    found = np.clip(moved @ moved.T, -most, most)
    np.fill_diagonal(found, error**2)
    values, vectors = np.linalg.eigh(found)
    nearest: Floats = (vectors * np.maximum(values, 0)) @ vectors.T
    return nearest


def cochran(z: Floats, covariance: Floats) -> tuple[float, float, float]:
    """Cochran's Q = (z - zeta)' S^-1 (z - zeta), the mean of generalised least squares, zeta =
    1' S^-1 z / (1' S^-1 1), and its variance 1 / (1' S^-1 1). Shapes: (m,), (m, m).
    """
    weight = np.linalg.solve(covariance, np.ones(len(z)))
    total = float(weight.sum())
    zeta = float(weight @ z) / total
    left = z - zeta
    return float(left @ np.linalg.solve(covariance, left)), zeta, 1 / total


def disagreement(parts: Sequence[Part]) -> str:
    """What is to be said where the parts of a slice disagree in sign beyond noise; else nothing.

    Cochran's Q of their z over k parts: Q / (k - 1) against F of k - 1 and the fewest degrees of
    freedom of a part, for the errors are estimates. Said at p < .01 where the largest and the
    smallest r have different signs.
    """
    known = [each for each in parts if each.usable]
    if len(known) < 2:
        return ""
    q, _, _ = cochran(*z_and_covariance(known))
    k = len(known) - 1
    p = float(scipy.special.fdtrc(k, min(each.evidence.free for each in known), q / k))
    r = [each.evidence.within for each in known]
    if p < HETEROGENEOUS and min(r) < 0 < max(r):
        return f"parts disagree: r from {min(r):.2f} to {max(r):.2f} (p {p:.1g})"
    return ""


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


def pooled(parts: Sequence[Part]) -> MetaAnalysis:
    """The random-effects mean of those parts of a study that are usable."""
    known = [each for each in parts if each.usable]
    if len(known) < FEWEST_SLICES:
        few = f"{counted(len(known), 'slice')} with an error, fewer than {FEWEST_SLICES}"
        return MetaAnalysis(len(known), reason=few)
    return meta_analysis(*z_and_covariance(known))


def meta_analysis(z: Floats, covariance: Floats) -> MetaAnalysis:
    """The random-effects mean of correlations, by Fisher's z, with heterogeneity.

    z = zeta + u + e,   u_i ~ (0, tau^2) independent,  e ~ (0, S)

    by generalised least squares with V = S + tau^2 I for S. tau^2 after Paule and Mandel: it makes
    Q(tau^2) equal to its expectation m - 1. The 95% interval of zeta is that of Hartung and Knapp,
    t of m - 1 degrees of freedom, its factor Q / (m - 1) not below 1 (Röver et al., 2015): slices
    that agree by chance do not narrow it. I2 = max(0, (Q(0) - (m - 1)) / Q(0)) is the share of the
    variation of the z_i beyond their errors. Shapes: (m,), (m, m), m from 2 on.
    """
    m = len(z)
    q, _, _ = cochran(z, covariance)
    tau2 = _paule_mandel(z, covariance)
    spread, zeta, variance = cochran(z, covariance + tau2 * np.eye(m))
    error = sqrt(max(1.0, spread / (m - 1)) * variance)
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


def _paule_mandel(z: Floats, covariance: Floats) -> float:
    """The tau^2 at which Q is m - 1, by bisection; 0 where Q is no larger without one."""
    expected, same = len(z) - 1, np.eye(len(z))
    if cochran(z, covariance)[0] <= expected:
        return 0.0
    tau2, low, high = 0.0, 0.0, 1.0
    while cochran(z, covariance + high * same)[0] > expected:
        high *= 2
    for _ in range(ROUNDS):
        tau2 = (low + high) / 2
        above = cochran(z, covariance + tau2 * same)[0] > expected
        low, high = (tau2, high) if above else (low, tau2)
    return tau2
