"""The correlation of scores and gaps within parents: one statistic gives both p and interval.

x, y: score and gap of n observations (one per model), each made from a parent (the unmodified
embedding or model). u, v: x and y less their means over the observations of a parent; h = 1 /
(observations of the parent), or the leverage where more is partialled out.

    r_rm = sum u v / sqrt(sum u^2 sum v^2)      repeated measures (Bakdash & Marusich, 2017)
    z    = atanh(r_rm)
    s^2  = (df + 1) / n sum (z_i - mean z_i)^2  jackknife; z_i: without observation i, exactly
    c    : standard error of z from sampling words and items (``sampling_error``), another
           away from 0 than towards it
    t    = |z| / sqrt(s^2 + c^2)
    t*   : the same of v permuted within parents, with its own s*, without c
    p    = (1 + #{t* >= t}) / (1 + permutations)
    interval = tanh(z -+ q sqrt(s^2 + c^2)),    q: the quantile of t* that t must exceed for p < .05
    b    = sum u v / sum u^2                    slope: change of y per unit of x
    its interval: b -+ t(f) sqrt(HC2 + c_b^2),  f: Satterthwaite's; c_b: sampling error of b

So the interval of r excludes 0 exactly where p < .05; that of b may differ where p is near .05.
Beyond 500 observations t* is Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import asinh, atanh, hypot, inf, isfinite, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from biasbridge.stats.intervals import ALPHA, Estimate, t_interval

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints


NO_SPREAD = 1e-12
MIN_RESAMPLES = 50
_TINY_VARIANCE = 1e-12
# Evenly spread pairs of independent normal numbers, with all their signs: the fractional parts of
# i / g and i / g^2, g^3 = g + 1, fill the unit square
_SPREAD = (np.arange(1, 2049)[:, None] * 1.324717957244746 ** -np.array([1, 2])) % 1
_NORMAL_PAIRS = np.concatenate(
    [
        scipy.special.ndtri((1 + _SPREAD) / 2) * signs
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
)
PERMUTATIONS = 9_999
_MAX_PERMUTED = 500  # observations; beyond, Student's t replaces t*
_CELLS = 100_000  # numbers per batch of permutations: they stay in the cache
NEARLY_1 = 1 - 1e-9
_TIE = 1e-6  # closer values of t count as equal
_TINY = 1e-12
ROUNDING = 1e-9  # of a sum of squares
_SMALLEST = 1e-6  # an error below is rounding
# On arrays this small several BLAS threads only wait for each other.
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")


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
        return _project_out(demeaned(values[self.indices], self.stratum), self.columns)


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
    u, v = (_project_out(demeaned(side[indices], group), basis) for side in (x, y))
    df = len(indices) - int(group.max(initial=-1)) - 1 - basis.shape[1] - 1
    return Residuals(u, v, group, h, indices, basis, df, (_varies(u, x), _varies(v, y)))


def _varies(residual: Floats, values: Floats) -> bool:
    largest = float(np.abs(values).max(initial=0))
    return float(residual @ residual) > NO_SPREAD * largest**2


def _undefined_reason(residual: Residuals) -> str:
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
    labels = np.asarray(names)
    # Hashed as objects: sorting texts takes three times as long
    codes: Ints = pd.factorize(labels.astype(object) if labels.dtype.kind == "U" else labels)[0]
    return codes


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


def _project_out(values: Floats, columns: Floats) -> Floats:
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


# The error of a correlation that comes from measuring all models on the same words and items.


class Sampling(NamedTuple):
    """Standard errors, of z = atanh(r_rm) towards 0 or of b, from sampling the words behind scores
    and the items behind gaps (Clark, 1973), beyond the part in the jackknife; NaN where not
    estimated. ``outward``: the error of z away from 0, of words and items together.
    """

    words: float = nan
    items: float = nan
    outward: float = 0.0

    @property
    def variance(self) -> float:
        """Return the sum of both variances (independent draws); 0 for what is not estimated."""
        return sum(error**2 for error in (self.words, self.items) if isfinite(error))


def sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the part of the error of z that more models do not reduce.

    An item that models get wrong the more, the more biased they are, makes all gaps follow all
    scores: leaving out models does not show it. Items move the vector of gaps, v / |v| = r u / |u|
    + sqrt(1 - r^2) w, along u and across it, along w. With e_ib the effect of resample b of the
    items, drawn alike for all models, on the gap of model i, their shared covariance is

        C_jk = cov_b(sum_i g_ij e_ib, sum_i g_ik e_ib) - sum_i g_ij g_ik var_b(e_ib) / (1 - h_i)
        g_i1 = u_i / (|u| |v|) along,   g_i2 = w_i / |v| across

    z = asinh(along / |across|) is no straight line of them where across is short, near |r| = 1. Its
    errors are therefore the distances from z to its quantiles of .16 and .84 for normal moves of
    both lengths; for |r| above .9 the end away from 0 is somewhat too near. Likewise words with x
    for y. The second term is the effect of a resample on each model alone, which the jackknife
    contains (as Owen, 2007, for crossed data). Where the variance of z to first order is not above
    0 it is not estimated: NaN, as below 50 resamples in which every model has a value, and at |r| =
    1. Shapes: (all observations, resamples).
    """
    r, (u, v) = residual.r, residual.unit
    if not abs(r) < 1 - 1e-12:
        return Sampling()
    along, u = abs(r), u if r >= 0 else -u
    across_u, across_v = u - along * v, v - along * u
    across = sqrt(float(across_v @ across_v))
    x_gradients = np.stack([v, across_u / across]) / sqrt(float(residual.u @ residual.u))
    y_gradients = np.stack([u, across_v / across]) / sqrt(float(residual.v @ residual.v))
    words, words_outward = _errors_of_z(along, across, _shared(residual, x_resampled, x_gradients))
    items, items_outward = _errors_of_z(along, across, _shared(residual, y_resampled, y_gradients))
    return Sampling(words, items, hypot(words_outward, items_outward))


def _errors_of_z(along: float, across: float, covariance: Floats) -> tuple[float, float]:
    """Return the distances from z = asinh(along / across) to its quantiles of .16 and .84, for
    normal moves of both lengths; NaN and 0 where not estimated, and 0 away from 0 where nine of ten
    moves go towards it.

    An estimated covariance may be none: moves are scaled to its variance of z to first order.
    """
    gradient = np.array([1, -along / across])
    variance = float(gradient @ covariance @ gradient)  # of z, to first order
    if not variance > _TINY_VARIANCE:
        return nan, 0.0
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    root *= sqrt(variance / float(np.square(gradient @ root).sum()))
    z, moves = asinh(along / across), _NORMAL_PAIRS @ root.T
    moved = np.arcsinh(
        (along + moves[:, 0]) / np.maximum(np.abs(across + moves[:, 1]), _TINY_VARIANCE)
    )
    low, high = np.quantile(moved, scipy.special.ndtr([-1, 1])).tolist()
    return z - low if low < z else nan, max(high - z, 0.0)


def slope_sampling_error(
    residual: Residuals, x_resampled: Floats | None, y_resampled: Floats | None
) -> Sampling:
    """Estimate the same part of the error of b = sum u v / sum u^2.

    With db / dy_i = u_i / sum u^2 and db / dx_i = (v_i - b u_i) / sum u^2: b per standard deviation
    of the score, for words also set the scale of the score, which is no error of the gap's change.
    """
    u, v, b = residual.u, residual.v, residual.slope
    sides = ((x_resampled, v - b * u), (y_resampled, u))
    variances = [
        float(_shared(residual, resampled, side[None] / float(u @ u))[0, 0])
        for resampled, side in sides
    ]
    return Sampling(*(sqrt(variance) if variance > 0 else nan for variance in variances))


def _shared(residual: Residuals, resampled: Floats | None, gradients: Floats) -> Floats:
    """Return the covariances of statistics with these gradients that models share; NaN below
    ``MIN_RESAMPLES`` in which every model has a value.

    Shapes: (all observations, resamples), (statistics, n) -> (statistics, statistics).
    """
    usable = usable_resamples(resampled, residual.indices)
    if usable is None:
        return np.full((len(gradients), len(gradients)), nan)
    effects = residual.residual(usable)
    proper: Floats = effects.var(axis=1, ddof=1) / (1 - residual.h)
    together = np.atleast_2d(np.cov(gradients @ effects))
    shared: Floats = together - (gradients * proper) @ gradients.T
    return shared


def usable_resamples(resampled: Floats | None, rows: Ints | slice = slice(None)) -> Floats | None:
    """Return the resamples in which all ``rows`` have a value; None below ``MIN_RESAMPLES``."""
    if resampled is None:
        return None
    usable: Floats = resampled[:, np.isfinite(resampled[rows]).all(axis=0)]
    return usable if usable.shape[1] >= MIN_RESAMPLES else None


class Correlation(NamedTuple):
    """r_rm with its 95% interval and p.

    ``n``: observations that have another of their parent; ``df``: observations - parents - 1, less
    what else is partialled out; ``s``: jackknife standard error of z; ``sampling``: that from
    sampling words and items; ``influential``: the index of the observation without which r changes
    most, ``r_without_influential``: r without it; ``slope``: b, in units of y per unit of x,
    without ends where |r| = 1, ``slope_df``: its degrees of freedom; ``null``: the distribution of
    t under no relation; ``reason``: why r is NaN.
    """

    r: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    n: int = 0
    df: float = 0
    s: float = nan
    sampling: Sampling = Sampling()
    influential: int = -1
    r_without_influential: float = nan
    slope: Estimate = Estimate()
    slope_df: float = nan
    null: NullDistribution | None = None
    reason: str = ""

    @property
    def interval(self) -> Estimate:
        """r with its interval."""
        return Estimate(self.r, self.low, self.high)


def correlation(
    x: ArrayLike,
    y: ArrayLike,
    parent: ArrayLike | None = None,
    *,
    given: ArrayLike | None = None,
    x_resampled: Floats | None = None,
    y_resampled: Floats | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Correlation:
    """Compute r_rm of score and gap within parents, with p, interval and slope.

    Parameters
    ----------
    x, y : array of shape (n,)
        Score and gap of each observation.
    parent : array of shape (n,), optional
        Label of the parent of each observation; by default all share one.
    given : array of shape (n,) or (n, k), optional
        Columns that are partialled out (utility, indicators of conditions).
    x_resampled, y_resampled : array of shape (n, resamples), optional
        Scores over resampled words and gaps over resampled items, drawn alike for all observations.
    permutations : int, default=9999
        Permutations of the gaps within parents.
    seed : int, default=0
        Seed of the permutations.

    Returns
    -------
    Correlation
        r in [-1, 1]; above 0: the gap rises with the score. NaN, with its ``reason``, below 3
        observations and where a side does not vary within parents. At |r| = 1 the interval is
        one-sided, to the |r| that one in twenty permutations reaches.

    Examples
    --------
    >>> result = correlation([1, 2, 3, 1, 2, 4], [1, 2, 2, 3, 5, 5], [0, 0, 0, 1, 1, 1])
    >>> round(result.r, 2), result.df
    (0.78, 3)
    """
    x_values, y_values = (np.asarray(side, dtype=float) for side in (x, y))
    strata = factorize(np.zeros(len(x_values)) if parent is None else np.asarray(parent))
    residual = residuals(x_values, y_values, strata, given)
    if not residual.defined:
        reason = _undefined_reason(residual)
        return Correlation(n=len(residual.u), df=max(0, residual.df), reason=reason)
    r_jackknife = _leave_one_out_r(residual)
    z = np.arctanh(r_jackknife)
    s = sqrt((residual.df + 1) / len(z) * float(np.square(z - float(z.mean())).sum()))
    sampling = sampling_error(residual, x_resampled, y_resampled)
    slope_sampling = slope_sampling_error(residual, x_resampled, y_resampled)
    error = hypot(s, sqrt(sampling.variance))
    t = abs(atanh(residual.r)) / error if abs(residual.r) < NEARLY_1 and error > _SMALLEST else inf
    null = NullDistribution.draw(residual, permutations, seed)
    low, high = null.interval(residual.r, t, hypot(s, sampling.outward), ALPHA)
    influence = np.abs(r_jackknife - residual.r)
    slope, slope_df = slope_estimate(residual, slope_sampling.variance)
    return Correlation(
        residual.r,
        low,
        high,
        null.p(t),
        n=len(residual.u),
        df=residual.df,
        s=s,
        sampling=sampling,
        influential=int(residual.indices[int(np.argmax(influence))]),
        r_without_influential=float(r_jackknife[int(np.argmax(influence))]),
        slope=slope,
        slope_df=slope_df,
        null=null,
    )


def _leave_one_out_r(residual: Residuals) -> Floats:
    """Return r without each observation in turn, clipped just inside [-1, 1]; 0 where a sum of
    squares vanishes. Shape (n,).

    Leaving out i changes sum u v by -u_i v_i / (1 - h_i), and the other sums likewise, exactly.
    """
    u, v = residual.unit
    uv, uu, vv = (float(a @ b) - a * b / (1 - residual.h) for a, b in ((u, v), (u, u), (v, v)))
    degenerate = (uu < ROUNDING) | (vv < ROUNDING)
    cosine = np.where(degenerate, 0, uv) / np.sqrt(np.where(degenerate, 1, uu * vv))
    clipped: Floats = np.clip(cosine, -NEARLY_1, NEARLY_1)
    return clipped


def slope_estimate(
    residual: Residuals, sampling_variance: float, reliability: float = 1.0
) -> tuple[Estimate, float]:
    """Return b -+ t(df) sqrt(HC2 + sampling variance), and df.

        HC2 = sum u_i^2 e_i^2 / (1 - g_i) / (sum u^2)^2,    e = v - b u

    g: leverage; df: Satterthwaite's for errors of equal variance (Bell & McCaffrey, 2002), with few
    doses far out hardly above 1. With a ``reliability`` of the scores below 1, b is that on scores
    without their noise: b / reliability (Fuller, 1987).
    """
    if not residual.varies[0] or reliability <= 0:
        return Estimate(), nan
    u, b = residual.u, residual.slope
    uu = float(u @ u)
    if abs(residual.r) >= NEARLY_1:
        return Estimate(b / reliability), residual.df
    free = np.maximum(1 - residual.h - u * u / uu, ROUNDING)
    squares = np.square(u * (residual.v - b * u)) / free
    variance = float(squares.sum()) / uu**2
    df = _satterthwaite(residual, u / np.sqrt(free))
    error = sqrt(variance + sampling_variance) / reliability
    return t_interval(b / reliability, error, df), df


def _satterthwaite(residual: Residuals, weights: Floats) -> float:
    """Return (tr M)^2 / tr M^2, M = W (I - H) W: degrees of freedom of sum (w_i e_i)^2; ``residual
    .df`` beyond 500 observations.
    """
    n = len(weights)
    if n > _MAX_PERMUTED:
        return float(residual.df)
    unit = residual.unit[0]
    columns = np.column_stack([residual.columns, unit])
    size = np.bincount(residual.stratum)[residual.stratum]
    same = residual.stratum[:, None] == residual.stratum[None]
    remaining = np.eye(n) - same / size - columns @ columns.T
    m = weights[:, None] * remaining * weights
    return max(1.0, float(np.trace(m)) ** 2 / float(np.square(m).sum()))


class NullDistribution(NamedTuple):
    """t* and |r*| of permutations, the same in studies of one shape; none where t* is Student's t
    of ``df``.
    """

    t: Floats
    r: Floats
    df: float

    @classmethod
    def draw(cls, residual: Residuals, permutations: int, seed: int) -> NullDistribution:
        """Permute v within parents."""
        u, v = residual.unit
        if len(u) > _MAX_PERMUTED:
            return cls(np.zeros(0), np.zeros(0), residual.df)
        order = np.argsort(residual.stratum, kind="stable")
        sizes = tuple(np.bincount(residual.stratum).tolist())
        inputs = u[order], v[order], residual.h[order], residual.columns[order]
        r, t = zip(*_permuted(*inputs, residual.df, sizes, permutations, seed), strict=True)
        return cls(np.concatenate(t), np.abs(np.concatenate(r)), residual.df)

    def p(self, t: float) -> float:
        """Return the share of t* that reach t."""
        if not len(self.t):
            return 2 * float(scipy.special.stdtr(self.df, -t))
        beyond = int((self.t >= t - _TIE * max(1.0, min(t, 1e9))).sum())
        return (1 + beyond) / (1 + len(self.t))

    def quantile(self, values: Floats, level: float) -> float:
        """Return the value to exceed for p < level; infinity where there is none."""
        n_beyond = int(np.ceil(level * (1 + len(values)) - 1e-9)) - 2
        return float(np.sort(values)[-1 - n_beyond]) if n_beyond >= 0 else inf

    def q(self, level: float) -> float:
        """Return the t to exceed for p < level."""
        if len(self.t):
            return self.quantile(self.t, level)
        return float(scipy.special.stdtrit(self.df, 1 - level / 2))

    def interval(self, r: float, t: float, outward: float, level: float) -> tuple[float, float]:
        """Return the ends from the distance of t to q: p < level where they exclude 0.

        ``outward``: the standard error of z away from 0; that towards 0 is |z| / t.
        """
        q = self.q(level)
        excludes = self.p(t) < level
        if isfinite(t) and isfinite(q):
            beyond = max(t - q, _TINY) if excludes else min(t - q, 0.0)
            z = abs(atanh(r))
            near, far = tanh(z / t * beyond if t > 0 else -q * outward), tanh(z + q * outward)
        else:
            normal = tanh(float(scipy.special.ndtri(1 - level / 2)) / sqrt(self.df))
            quantile = self.quantile(self.r, level) if len(self.r) else normal
            near, far = (min(quantile, abs(r)) if excludes else -1.0), 1.0
        return (near, far) if r >= 0 else (-far, -near)


def _permuted(
    u: Floats,
    v: Floats,
    h: Floats,
    columns: Floats,
    df: int,
    sizes: tuple[int, ...],
    permutations: int,
    seed: int,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield r* and t* of v permuted within strata, in batches; u, v, h, columns by stratum."""
    positions, starts = (
        _orders(sizes, permutations, seed),
        np.repeat(np.cumsum((0, *sizes))[:-1], sizes),
    )
    step = max(1, _CELLS // len(u))
    for start in range(0, permutations, step):
        permuted_v = v[positions[start : start + step] + starts]
        if columns.shape[1]:
            permuted_v = _project_out(permuted_v.T, columns).T
            length = np.sqrt(np.square(permuted_v).sum(axis=1, keepdims=True))
            permuted_v /= np.maximum(length, 1e-150)
        yield _studentised(u, permuted_v, h, df)


def _studentised(u: Floats, v: Floats, h: Floats, df: int) -> tuple[Floats, Floats]:
    """Return r and t = |z| / s of many v of length 1; u, h (n,), v (b, n) -> (b,), (b,)."""
    r = np.clip(v @ u, -1, 1)
    complement = 1 - h
    uu_without = 1 - u * u / complement
    product = r[:, None] - v * (u / complement)
    vv_without = 1 - v * v / complement
    degenerate = (uu_without < ROUNDING) | (vv_without < ROUNDING)  # r undefined: z is 0
    spread = np.sqrt(np.where(degenerate, 1, uu_without * vv_without))
    product[degenerate] = 0
    np.clip(product, -NEARLY_1 * spread, NEARLY_1 * spread, out=product)
    z = np.log((spread + product) / (spread - product))  # twice z
    s = np.sqrt((df + 1) / len(u) * np.square(z - z.mean(axis=1, keepdims=True)).sum(axis=1)) / 2
    exact = (np.abs(r) >= NEARLY_1) | (s < _SMALLEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        return r, np.where(exact, inf, np.abs(np.arctanh(np.where(exact, 0, r))) / s)


@lru_cache(maxsize=4)
def _orders(sizes: tuple[int, ...], permutations: int, seed: int) -> NDArray[np.unsignedinteger]:
    """Draw random orders within strata of these sizes. Shape (permutations, n)."""
    rng = np.random.default_rng(seed)
    start = np.cumsum((0, *sizes)).tolist()
    positions = np.empty((permutations, start[-1]), dtype=np.min_scalar_type(max(sizes, default=0)))
    for size, offset in zip(sizes, start, strict=False):
        stratum = np.tile(np.arange(size, dtype=positions.dtype), (permutations, 1))
        positions[:, offset : offset + size] = rng.permuted(stratum, axis=1)
    return positions


def minimum_detectable(df: float, tests: int = 1) -> float:
    """Return the |r| that about four of five studies detect at p < .05 / tests, with normal noise.

        tanh((q + .84) sqrt(1 / (df - 1))),    q: the normal quantile of 1 - .05 / (2 tests)

    NaN below 2 degrees of freedom.

    >>> round(minimum_detectable(30), 2)
    0.48
    """
    if df < 2 or tests < 1:
        return nan
    reach = float(scipy.special.ndtri(1 - ALPHA / (2 * tests)) + scipy.special.ndtri(0.8))
    return tanh(reach * sqrt(1 / (df - 1)))
