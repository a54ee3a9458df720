"""Tests whether a straight line, the same for all methods, describes how a gap follows a score."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np
import scipy

from analysis.correlation import ROUNDING
from analysis.naming import CONTROL
from analysis.residuals import demeaned, factorize, indicators
from stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from analysis.observations import Observations
    from analysis.residuals import Residuals
    from stats.arrays import Floats


def nonlinearity_reason(models: Observations) -> str:
    """Return why r does not describe the relation: a partial F test, at .05 each, that the squared
    score, or a slope for each method, explains more of the gap. Empty where neither does. The
    unmodified models are of no method.
    """
    residual = models.residuals()
    method = models.method[residual.indices]
    is_modified = (method != CONTROL)[:, None]
    by_method = indicators(factorize(np.where(is_modified[:, 0], method, ""))) * is_modified
    by_method = by_method[:, by_method.any(axis=0)][:, 1:]
    interactions = by_method * residual.u[:, None]
    tests = (
        ("the gap is no straight line of the score", residual.u[:, None] ** 2),
        ("the slope differs between methods", interactions),
    )
    for reason, columns in tests:
        p = partial_f(residual, columns)
        if p < LEVEL:
            return f"{reason} (p {p:.2g})"
    return ""


def partial_f(residual: Residuals, columns: Floats) -> float:
    """Return p of the F test that columns explain v beyond u, all within parents; NaN where they
    cannot. Shape (n, k).
    """
    columns = demeaned(columns, residual.stratum)
    u, v = residual.unit
    basis = np.linalg.svd(columns - np.outer(u, u @ columns), full_matrices=False)
    independent = basis.U[
        :, ROUNDING * max(1e-300, float(np.abs(columns).max(initial=0))) < basis.S
    ]
    k = independent.shape[1]
    rest = v - u * float(u @ v)
    unexplained = rest - independent @ (independent.T @ rest)
    df = residual.df - k
    if k == 0 or df < 1 or float(unexplained @ unexplained) < ROUNDING:
        return nan
    f = (float(rest @ rest) / float(unexplained @ unexplained) - 1) * df / k
    return float(scipy.special.fdtrc(k, df, max(0.0, f)))
