r"""The association of two measurements within strata, one row a unit.

Units that descend from one unmodified embedding share what that embedding is, so a correlation over
all units mixes two questions: do embeddings that differ in x differ in y, of which there are as
many witnesses as unmodified embeddings; and does y follow x when one embedding is modified. The
second is asked here: x and y are freed of everything that the columns of a design explain (an
indicator of each base; for the partial correlation the method and the dose too), and

    r = sum u v / sqrt(sum u^2 sum v^2),     u, v: the residuals of x and y,  h: their leverage

Leaving unit i out changes sum u v by -u_i v_i / (1 - h_i), and the other sums likewise, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import asinh, atanh, ceil, hypot, inf, nan, sinh, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints

NORMAL_80 = 0.8416212335729143
FEWEST_FREE = 8  # degrees of freedom below which simulated intervals and tests do not hold
NO_SPREAD = 1e-12
NEARLY_1 = 1 - 1e-12
MORE_SKEWED = 1.8  # times as skewed as a sample is taken to be what it comes from
# Times as far lies one end as the other: farther, a large r of few units lacks a sign
FARTHEST = 1.75
LEAST_SHARE = 0.3  # of the error that leaving out units shows
MOST_FREE = 10**7


class Estimate(NamedTuple):
    """A statistic with its 95% interval; NaN where undefined."""

    value: float = nan
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class Residuals:
    """What is left of x and y: shapes (n,) each, of the units ``told`` (their places), which no
    column of the design singles out. ``strata`` are theirs, ``leverage`` is h, ``free`` the degrees
    of freedom left for a correlation, all units - rank - 1; ``basis`` spans the columns of the
    design (all units, rank).
    """

    u: Floats
    v: Floats
    strata: Ints
    leverage: Floats
    told: Ints
    free: int
    basis: Floats

    def freed(self, values: Floats) -> Floats:
        """Other values of all units, freed of the design: (all units, ...) -> (n, ...)."""
        return _freed(values, self.basis)[self.told]

    @property
    def defined(self) -> bool:
        """Whether both sides vary and there is a degree of freedom."""
        return self.free > 0 and min(float(self.u @ self.u), float(self.v @ self.v)) > NO_SPREAD

    @property
    def r(self) -> float:
        """Their correlation; NaN where undefined."""
        if not self.defined:
            return nan
        spread = sqrt(float(self.u @ self.u) * float(self.v @ self.v))
        return max(-1.0, min(1.0, float(self.u @ self.v) / spread))


def residuals(x: Floats, y: Floats, strata: Ints, also: Floats | None = None) -> Residuals:
    """The residuals of least squares on indicators of strata and other columns. Shapes: (n,), (n,),
    (n,), (n, columns).

    Units that a column singles out, such as the only one of a base, say nothing and are left out.
    """
    design = indicators(strata)
    if also is not None:
        design = np.hstack([design, also])
    basis = _basis(design.shape, design.tobytes())
    leverage: Floats = np.einsum("ij,ij->i", basis, basis)
    told = np.flatnonzero(leverage < 1 - 1e-9)
    u, v = (_freed(_scaled(side), basis)[told] for side in (x, y))
    free = len(x) - basis.shape[1] - 1
    return Residuals(u, v, strata[told], leverage[told], told, free, basis)


@lru_cache(maxsize=8)
def _basis(shape: tuple[int, int], design: bytes) -> Floats:
    """Orthonormal columns that span those of a design. It is kept: slices of the same units have
    the same design, and most of their time would go into this.
    """
    columns = np.frombuffer(design).reshape(shape)
    basis, values, _ = np.linalg.svd(columns, full_matrices=False)
    found: Floats = basis[:, values > 1e-9 * max(float(values.max(initial=0)), 1e-300)]
    return found


def _freed(values: Floats, basis: Floats) -> Floats:
    left: Floats = values - basis @ (basis.T @ values)
    return left


def indicators(labels: Ints) -> Floats:
    """A column for each label. Shape (n, labels)."""
    found: Floats = (labels[:, None] == np.arange(int(labels.max(initial=-1)) + 1)).astype(float)
    return found


def _scaled(values: Floats) -> Floats:
    """Centred, and divided by the largest magnitude, so that rounding is told from spread."""
    largest = float(np.abs(values).max(initial=0))
    centred: Floats = values / largest if largest else values
    return centred - float(centred.mean())


def without_each(of: Residuals) -> Floats:
    """r without each unit in turn. Shape (n,); NaN where nothing is left."""
    kept = 1 - of.leverage
    uv, uu, vv = (
        float(a @ b) - a * b / kept for a, b in ((of.u, of.v), (of.u, of.u), (of.v, of.v))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(np.minimum(uu, vv) > NO_SPREAD, uv / np.sqrt(uu * vv), nan)
    return np.clip(found, -1, 1)


def without_groups(of: Residuals, group: Ints) -> Floats:
    """r without each group of units in turn, of a design of strata alone. Shapes: (n,) ->
    (groups,); NaN where nothing is left.

    Leaving out k of the m units of a stratum changes sum u v by -(sum u v + sum u sum v / (m - k)),
    sums over those k; all of them, by -sum u v.
    """
    _, groups = np.unique(group, return_inverse=True)
    _, strata, m = np.unique(of.strata, return_inverse=True, return_counts=True)
    cells, cell, k = np.unique(groups * len(m) + strata, return_inverse=True, return_counts=True)
    left = m[cells % len(m)] - k

    def without(a: Floats, b: Floats) -> Floats:
        sums = np.bincount(cell, a) * np.bincount(cell, b)
        lost = np.bincount(cell, a * b) + np.where(left > 0, sums / np.maximum(left, 1), 0)
        kept: Floats = np.subtract(float(a @ b), np.bincount(cells // len(m), lost), dtype=float)
        return kept

    uv, uu, vv = without(of.u, of.v), without(of.u, of.u), without(of.v, of.v)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(np.minimum(uu, vv) > NO_SPREAD, uv / np.sqrt(uu * vv), nan)
    return np.clip(found, -1, 1)


class ZError(NamedTuple):
    """The standard error s of z = atanh(r), the degrees of freedom that it is known with, and g, by
    how much the errors are skewed towards larger z. NaN where leaving out a unit leaves nothing or
    a perfect line.
    """

    size: float = nan
    free: float = nan
    skewness: float = nan


def z_interval(value: float, error: ZError, level: float = 0.95, shared: float = 0.0) -> Estimate:
    """The interval of a correlation: [tanh(z - s t_low), tanh(z + s t_high)], z = atanh(value).

    t: Student's. The end to which errors are skewed lies farther out, at 3 (1 - (1 - G t)^(1/3)) /
    G, G = 1.8 |g|, from t to 7/4 t: the cubic transformation of Hall (1992). Of rare large errors
    few samples show as many as the population has, so the skewness is raised, which holds r in
    simulated studies (docs/inference.md). ``shared``: the standard error of sinh z that all units
    share and that leaving them out does not show (``analysis.shared_error``). With it the ends lie
    sqrt((s t)^2 + c^2) from z, c = |z - asinh(sinh z -+ q shared)|, q the normal quantile. NaN at
    |r| = 1 and where the error is.
    """
    if not error.size > 0 or not abs(value) < NEARLY_1:
        return Estimate(value)
    t = float(scipy.special.stdtrit(error.free, (1 + level) / 2))
    z, common = atanh(value), float(scipy.special.ndtri((1 + level) / 2)) * shared
    low = hypot(_reach(t, -error.skewness) * error.size, z - asinh(sinh(z) - common))
    high = hypot(_reach(t, error.skewness) * error.size, asinh(sinh(z) + common) - z)
    return Estimate(value, tanh(z - low), tanh(z + high))


def _reach(t: float, skewness: float) -> float:
    """How many standard errors from z an end lies, to which values have this skewness."""
    g = MORE_SKEWED * skewness
    if g <= NO_SPREAD:
        return t
    return min(max(t, 3 * (1 - float(np.cbrt(1 - g * t))) / g), FARTHEST * t)


def jackknife_reach(left_out: Floats, free: int, level: float = 0.95) -> float:
    """t s of a statistic, from its values without each unit, with s^2 = (n - 1) / n sum d^2 and the
    degrees of freedom of ``z_error``; NaN with none, and where a value is missing or all agree.
    """
    n = len(left_out)
    d: Floats = (left_out - float(left_out.mean())) ** 2
    total, spread = float(d.sum()), float(d.var(ddof=1)) if n > 1 else nan
    if free < 1 or not (total > NO_SPREAD and spread > 0):
        return nan
    told = max(1.0, min(free, 2 * total**2 / (n * spread)))
    return float(scipy.special.stdtrit(told, (1 + level) / 2)) * sqrt((n - 1) / n * total)


def z_error(left_out: Floats, free: int) -> ZError:
    """The error of z from values of r without each unit, or each group of them. Shape (n,).

    s^2 = min(free + 1, n - 1) / n sum d_i^2,  d_i = mean z - z_i,  z_i = atanh(value without i)
    g = sum d^3 / (sum d^2)^(3/2)

    Degrees of freedom: free or, where these are fewer, 2 (sum d^2)^2 / (n var d^2): few where a few
    units carry the error (it is n - 1 on average for normal values).
    """
    n = len(left_out)
    inside = np.isfinite(left_out) & (np.abs(left_out) < NEARLY_1)
    if n < 3 or free < 1 or not inside.all():
        return ZError()
    z: Floats = np.arctanh(left_out)
    d: Floats = float(z.mean()) - z
    total, spread = float(d @ d), float((d * d).var(ddof=1))
    told = 2 * total**2 / (n * spread) if spread > 0 else float(n)
    skewness = float((d**3).sum()) / total**1.5 if total > 0 else 0.0
    size = sqrt(max(0, min(free + 1, n - 1)) / n * total)
    return ZError(size, max(1.0, min(free, told)), skewness)


def unit_error(of: Residuals, left_out: Floats) -> ZError:
    """The error of z over units; ``left_out``: r, or what is made of it, ``without_each``.

    s^2 = c sum d_i^2, with d and g of ``z_error``. What units show by being left out is too much by
    their leverages, most of all where noisy ones move the mean of their stratum and with it their
    quiet neighbours. How much is known of the slope's error, so that c = V / J, from .3 to 1:

    J = sum u_i^2 e_i^2 / (1 - h_i - u_i^2)^2,    e = v - r u, u and v of length 1
    V = sum over strata of m / (m - 2) (sum u^2 s - sum u^2 sum s / (m (m - 1)))
    s_i = e_i^2 / (1 - (h_i - 1 / m) - u_i^2)

    J is what leaving out shows; V is that of ``analysis.permutation`` with e for v, almost without
    bias where each unit has noise of its own size; m: the units of a stratum, of m = 2 it is 2 sum
    u^2 s. Degrees of freedom: ``free`` / (n sum u^4), few
    where few units have most of the weight.
    """
    found = z_error(left_out, of.free)
    if not found.size > 0:
        return found
    u, v = (side / sqrt(float(side @ side)) for side in (of.u, of.v))
    n, weight, noise = len(u), u * u, (v - float(u @ v) * u) ** 2
    shown = float((weight * noise / np.maximum(1 - of.leverage - weight, NO_SPREAD) ** 2).sum())
    share = min(1.0, max(LEAST_SHARE, _own_noise(of, weight, noise) / shown))
    size = found.size * sqrt(share * n / min(of.free + 1, n - 1))
    told = of.free / (n * float((weight**2).sum()))
    return ZError(size, max(1.0, min(of.free, told)), found.skewness)


def _own_noise(of: Residuals, weight: Floats, noise: Floats) -> float:
    """V of ``unit_error``."""
    own = np.unique(of.strata, return_inverse=True)[1]
    m = np.bincount(own)
    beyond = np.maximum(0, of.leverage - 1 / m[own])
    noise = noise / np.maximum(1 - beyond - weight, NO_SPREAD)
    weights, noises, both = (np.bincount(own, each) for each in (weight, noise, weight * noise))
    several = np.maximum(m, 3)
    without = several / (several - 2) * (both - weights * noises / (several * (several - 1)))
    return float(np.where(m > 2, without, 2 * both).sum())


def interval(of: Residuals, level: float = 0.95, shared: float = 0.0) -> Estimate:
    """r with its interval, see ``z_interval``."""
    if not of.defined:
        return Estimate()
    return z_interval(of.r, unit_error(of, without_each(of)), level, shared)


def detectable(free: int, family: int, level: float = 0.05, shared: float = 0.0) -> float:
    """The smallest |r| that is told from 0 in about 80% of studies with so many degrees of freedom
    and that error shared by all units, at level / family, which Holm's procedure asks of the first
    of a family: where scores lie on a ladder of doses and noise is normal. With normal scores it is
    57 to 73% of studies, with noise that grows with the score or has heavy tails 32 to 41%
    (docs/inference.md).

    tanh((t + 0.84) sqrt(1 / free + shared^2)),  t: the quantile 1 - level / (2 family) of Student's
    """
    if free < 1 or family < 1:
        return nan
    t = float(scipy.special.stdtrit(free, 1 - level / (2 * family)))
    return tanh((t + NORMAL_80) * hypot(1 / sqrt(free), shared))


def free_needed(r: float, family: int, shared: float = 0.0) -> float:
    """How many degrees of freedom it takes until |r| is ``detectable``; infinity where no number
    does, because the error that all units share is too large.
    """
    free = FEWEST_FREE
    while detectable(free, family, shared=shared) > abs(r):
        if free >= MOST_FREE:
            return inf
        free = ceil(free * 1.02)
    return free
