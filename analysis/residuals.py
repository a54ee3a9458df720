"""Scores and gaps less the means of their parents, and less other partialled-out columns."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints

NO_SPREAD = 1e-12


class Residuals(NamedTuple):
    """x and y less the means of their parents, and less further columns.

    Shapes: u, v, stratum, h (n,); indices (n,) among all observations; columns (n, k), orthonormal,
    partialled out besides parents. ``df``: degrees of freedom of r; ``varies``: whether u, and v,
    differ by more than rounding.
    """

    u: Floats
    v: Floats
    stratum: Ints
    h: Floats
    indices: Ints
    columns: Floats
    df: int
    varies: tuple[bool, bool]

    @property
    def slope(self) -> float:
        """Return sum u v / sum u^2, the slope that all parents share; NaN where x is constant."""
        return float(self.u @ self.v) / float(self.u @ self.u) if self.varies[0] else nan

    @property
    def defined(self) -> bool:
        """Return whether both sides vary and there is a degree of freedom."""
        return self.df > 0 and all(self.varies)

    @property
    def unit(self) -> tuple[Floats, Floats]:
        """Return u and v, each of length 1."""
        return self.u / sqrt(float(self.u @ self.u)), self.v / sqrt(float(self.v @ self.v))

    @property
    def r(self) -> float:
        """Return r_rm; NaN where undefined."""
        if not self.defined:
            return nan
        spread = sqrt(float(self.u @ self.u) * float(self.v @ self.v))
        return max(-1.0, min(1.0, float(self.u @ self.v) / spread))

    def residual(self, values: Floats) -> Floats:
        """Return other values less the same means and columns: (all, ...) to (n, ...)."""
        return project_out(demeaned(values[self.indices], self.stratum), self.columns)


def residuals(x: Floats, y: Floats, stratum: Ints, given: ArrayLike | None = None) -> Residuals:
    """Return x and y less the means of their parents, and less further columns. Shapes: (n,), (n,),
    (n,), (n, k).

    An observation alone in its parent (or condition) carries no information and is left out.
    """
    indices = np.arange(len(x))
    given_columns = np.zeros((len(x), 0)) if given is None else np.asarray(given, dtype=float)
    given_columns = given_columns if given_columns.ndim > 1 else given_columns[:, None]
    while True:
        group = factorize(stratum[indices])
        basis = _basis(demeaned(given_columns[indices], group), given_columns[indices])
        h: Floats = 1 / np.bincount(group)[group] + (basis * basis).sum(axis=1)
        is_alone = h > 1 - 1e-9
        if not is_alone.any():
            break
        indices = indices[~is_alone]
    u, v = (project_out(demeaned(side[indices], group), basis) for side in (x, y))
    df = len(indices) - int(group.max(initial=-1)) - 1 - basis.shape[1] - 1
    return Residuals(u, v, group, h, indices, basis, df, (_varies(u, x), _varies(v, y)))


def _varies(residual: Floats, values: Floats) -> bool:
    largest = float(np.abs(values).max(initial=0))
    return float(residual @ residual) > NO_SPREAD * largest**2


def undefined_reason(residual: Residuals) -> str:
    """Return why r is undefined."""
    if residual.df < 1:
        return f"{len(residual.u)} models that have another of their parent are too few"
    constant = [
        name for name, varies in zip(("score", "gap"), residual.varies, strict=True) if not varies
    ]
    verb = "does" if len(constant) == 1 else "do"
    return f"the {' and the '.join(constant)} {verb} not vary within parents"


def factorize(names: ArrayLike) -> Ints:
    """Return labels as numbers from 0, in order of appearance."""
    _, first, code = np.unique(np.asarray(names), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]


def indicators(labels: Ints) -> Floats:
    """Return a column for each label from 0. Shape (n, labels)."""
    is_label: Floats = (labels[:, None] == np.arange(int(labels.max(initial=-1)) + 1)).astype(float)
    return is_label


def group_means(values: Floats, group: Ints) -> Floats:
    """Return the mean of each group. Shapes: (n, ...), (n,) -> (groups, ...)."""
    size = np.bincount(group)
    if not len(size):
        return np.zeros((0, *values.shape[1:]))
    order = np.argsort(group, kind="stable")
    sums = np.add.reduceat(values[order], np.cumsum(size) - size, axis=0)
    means: Floats = sums / size.reshape(-1, *[1] * (values.ndim - 1))
    return means


def demeaned(values: Floats, stratum: Ints) -> Floats:
    """Return values less the means of their strata. Shapes: (n, ...), (n,)."""
    if not values.size:
        return values
    return values - group_means(values, stratum)[stratum]


def project_out(values: Floats, columns: Floats) -> Floats:
    """Return values less their projection on orthonormal columns. Shapes: (n, ...), (n, k)."""
    return values - columns @ (columns.T @ values) if columns.shape[1] else values


def _basis(demeaned_columns: Floats, columns: Floats) -> Floats:
    """Return orthonormal columns that span the demeaned columns, without those that vanish but for
    rounding. Shapes: (n, k), (n, k) -> (n, rank).
    """
    size = np.sqrt(np.square(columns).sum(axis=0))
    demeaned_columns = demeaned_columns[
        :, np.sqrt(np.square(demeaned_columns).sum(axis=0)) > 1e-9 * size
    ]
    if not demeaned_columns.size:
        return np.zeros((len(demeaned_columns), 0))
    basis, values, _ = np.linalg.svd(
        demeaned_columns / np.sqrt(np.square(demeaned_columns).sum(axis=0)), full_matrices=False
    )
    orthonormal: Floats = basis[:, values > 1e-9 * float(values.max())]
    return orthonormal
