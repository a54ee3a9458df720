"""Scores and gaps less what their parents, and whatever else is partialled out, explain."""

from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints

NO_SPREAD = 1e-12


class Residuals(NamedTuple):
    """x and y less what their parents, and further columns, explain.

    Shapes: u, v, stratum, h (n,); kept (n,), their places among all observations; columns (n, k),
    orthonormal, what is partialled out besides parents. ``df``: degrees of freedom of r;
    ``varies``: whether u, and v, differ by more than rounding.
    """

    u: Floats
    v: Floats
    stratum: Ints
    h: Floats
    kept: Ints
    columns: Floats
    df: int
    varies: tuple[bool, bool]

    @property
    def slope(self) -> float:
        """sum u v / sum u^2, the slope that all parents share; NaN where x does not vary."""
        return float(self.u @ self.v) / float(self.u @ self.u) if self.varies[0] else nan

    @property
    def defined(self) -> bool:
        """Whether both sides vary and there is a degree of freedom."""
        return self.df > 0 and all(self.varies)

    @property
    def unit(self) -> tuple[Floats, Floats]:
        """u and v, each of length 1."""
        return self.u / sqrt(float(self.u @ self.u)), self.v / sqrt(float(self.v @ self.v))

    @property
    def r(self) -> float:
        """r_rm; NaN where undefined."""
        if not self.defined:
            return nan
        spread = sqrt(float(self.u @ self.u) * float(self.v @ self.v))
        return max(-1.0, min(1.0, float(self.u @ self.v) / spread))

    def residual(self, values: Floats) -> Floats:
        """Other values of all observations, less the same: (all, ...) to (n, ...)."""
        return without(demeaned(values[self.kept], self.stratum), self.columns)


def residuals(x: Floats, y: Floats, stratum: Ints, given: ArrayLike | None = None) -> Residuals:
    """What parents, and further columns, leave of x and y. Shapes: (n,), (n,), (n,), (n, k).

    An observation that nothing else of its parent (or condition) stands beside says nothing and is
    left out.
    """
    kept = np.arange(len(x))
    further = np.zeros((len(x), 0)) if given is None else np.asarray(given, dtype=float)
    further = further if further.ndim > 1 else further[:, None]
    while True:
        own = codes(stratum[kept])
        columns = _basis(demeaned(further[kept], own), further[kept])
        h: Floats = 1 / np.bincount(own)[own] + (columns * columns).sum(axis=1)
        alone = h > 1 - 1e-9
        if not alone.any():
            break
        kept = kept[~alone]
    u, v = (without(demeaned(side[kept], own), columns) for side in (x, y))
    df = len(kept) - int(own.max(initial=-1)) - 1 - columns.shape[1] - 1
    return Residuals(u, v, own, h, kept, columns, df, (_varies(u, x), _varies(v, y)))


def _varies(left: Floats, values: Floats) -> bool:
    largest = float(np.abs(values).max(initial=0))
    return float(left @ left) > NO_SPREAD * largest**2


def undefined(of: Residuals) -> str:
    """Why r is not defined."""
    if of.df < 1:
        return f"{len(of.u)} models that have another of their parent are too few"
    constant = [
        name for name, varies in zip(("score", "gap"), of.varies, strict=True) if not varies
    ]
    verb = "does" if len(constant) == 1 else "do"
    return f"the {' and the '.join(constant)} {verb} not vary within parents"


def codes(names: ArrayLike) -> Ints:
    """Labels as numbers from 0 on, in order of appearance."""
    _, first, own = np.unique(np.asarray(names), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[own]


def indicators(labels: Ints) -> Floats:
    """A column for each label from 0 on. Shape (n, labels)."""
    found: Floats = (labels[:, None] == np.arange(int(labels.max(initial=-1)) + 1)).astype(float)
    return found


def group_means(values: Floats, group: Ints) -> Floats:
    """The mean of each group. Shapes: (n, ...), (n,) -> (groups, ...)."""
    size = np.bincount(group)
    if not len(size):
        return np.zeros((0, *values.shape[1:]))
    order = np.argsort(group, kind="stable")
    sums = np.add.reduceat(values[order], np.cumsum(size) - size, axis=0)
    found: Floats = sums / size.reshape(-1, *[1] * (values.ndim - 1))
    return found


def demeaned(values: Floats, stratum: Ints) -> Floats:
    """Values less the means of their strata. Shapes: (n, ...), (n,)."""
    if not values.size:
        return values
    return values - group_means(values, stratum)[stratum]


def without(values: Floats, columns: Floats) -> Floats:
    """Values less what orthonormal columns explain. Shapes: (n, ...), (n, k)."""
    return values - columns @ (columns.T @ values) if columns.shape[1] else values


def _basis(left: Floats, columns: Floats) -> Floats:
    """Orthonormal columns that span what parents leave of some columns; of one that they explain
    but for rounding, nothing. Shapes: (n, k), (n, k) -> (n, rank).
    """
    size = np.sqrt(np.square(columns).sum(axis=0))
    left = left[:, np.sqrt(np.square(left).sum(axis=0)) > 1e-9 * size]
    if not left.size:
        return np.zeros((len(left), 0))
    basis, values, _ = np.linalg.svd(
        left / np.sqrt(np.square(left).sum(axis=0)), full_matrices=False
    )
    found: Floats = basis[:, values > 1e-9 * float(values.max())]
    return found
