"""Slices taken together, such as those of each training algorithm: whether they disagree beyond
their errors.

Slices of one study are measured on the same words and test items, so what they are off by goes
together. The covariance of their errors, of z = atanh(r within bases), is

    S = (1 - R^2) C + diag(max(s_i^2 + (1 - R^2) (c_i^2 - C_ii), s_i^2 / 10))

s: the error of z over units (``within_error``), c: that of q = r / sqrt(1 - r^2) by the choice of
words and items (``Evidence.shared``), C: the covariance of q over resamples of these
(``analysis.shared_error.shifts``), which has c and that part of s which is noise of words and
items. dz = sqrt(1 - r^2) dq, taken at the mean R of all, for an r that is off would be given
another error. The bound keeps S invertible. Errors of units that slices have in common are taken
as independent beyond C: slices of other queries about the same gaps are said to disagree too
rarely.
"""

from __future__ import annotations

from math import cosh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.within import FEWEST_FREE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.arrays import Floats
    from analysis.evidence import Evidence

HETEROGENEOUS = 0.01
LEAST_OWN = 0.1  # of the variance over units, that is no noise of words and items


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
    shared = np.array([each.evidence.shared for each in parts]) ** 2
    z: Floats = np.arctanh(r)
    scale = 1 / cosh(float(np.average(z, weights=1 / (of_units + shared)))) ** 2  # 1 - R^2
    moved = np.stack([each.shifts for each in parts])
    together = scale * moved @ moved.T
    own = of_units + scale * shared - together.diagonal()
    whole: Floats = together + np.diag(np.maximum(own, LEAST_OWN * of_units))
    return z, whole


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
