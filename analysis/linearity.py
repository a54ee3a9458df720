"""Tests whether a straight line, the same for all methods, describes how a gap follows a score."""

from __future__ import annotations

from math import inf, isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from biasbridge.analysis.correlation import ROUNDING
from biasbridge.analysis.naming import CONTROL
from biasbridge.analysis.residuals import demeaned
from biasbridge.stats.formatting import format_number
from biasbridge.stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.analysis.residuals import Residuals
    from biasbridge.stats.arrays import Floats


SMALL = 0.0995  # changes below are given to three digits


class Nonlinearity(NamedTuple):
    """Why one line does not describe the relation, empty where it does; and the largest change of
    the gap over the range of the score by what does.
    """

    reason: str = ""
    change: float = 0.0


def find_nonlinearity(models: Observations, span: float) -> Nonlinearity:
    """Test, by a partial F test at .05 each, whether a slope for each method, or the squared score,
    explains more of the gap than one line, and name what has the lower p; ``span``: range of the
    score.

    The unmodified models are of no method.
    """
    residual = models.residuals()
    squares = demeaned(residual.u[:, None] ** 2, residual.stratum)
    p_curve = partial_f(residual, squares)
    method = models.method[residual.indices]
    names = [name for name in dict.fromkeys(method.tolist()) if name != CONTROL]
    if len(names) > 1:
        by_method = np.stack([method == name for name in names], axis=1) * residual.u[:, None]
        if partial_f(residual, by_method[:, 1:]) < min(LEVEL, p_curve if isfinite(p_curve) else 1):
            changes = {name: span * _slope(models, name) for name in names}
            changes = {name: change for name, change in changes.items() if isfinite(change)}
            digits = 3 if max(map(abs, changes.values()), default=0.0) < SMALL else 2
            texts = {
                name: format_number(change, digits, sign="+") for name, change in changes.items()
            }
            listed = ", ".join(f"{name} {text}" for name, text in texts.items())
            largest = max(map(abs, changes.values()), default=inf)
            return Nonlinearity(f"slopes differ between methods: {listed}", largest)
    if not p_curve < LEVEL:
        return Nonlinearity()
    columns = np.column_stack([residual.u, squares])
    fitted = columns @ np.linalg.lstsq(columns, residual.v, rcond=None)[0]
    return Nonlinearity(
        "the gap bends with the score; the change is that of the straight line",
        float(np.ptp(fitted)),
    )


def _slope(models: Observations, method: str) -> float:
    """Return the slope of the models of one method and the unmodified ones."""
    return models.at(np.flatnonzero(np.isin(models.method, [method, CONTROL]))).residuals().slope


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
