"""The correlation of scores and gaps within parents: one statistic gives both p and interval.

x, y: score and gap of n observations (one per model), each made from a parent (the unmodified
embedding or model). u, v: x and y less their means over the observations of a parent; h = 1 /
(observations of the parent), or the leverage where more is partialled out.

    r_rm = sum u v / sqrt(sum u^2 sum v^2)      repeated measures (Bakdash & Marusich, 2017)
    z    = atanh(r_rm)
    s^2  = (df + 1) / n sum (z_i - mean z_i)^2  jackknife; z_i: without observation i, exactly
    c    : standard error of z from sampling words and items (``biasbridge.analysis.sampling``):
    away from 0
           another than towards it
    t    = |z| / sqrt(s^2 + c^2)
    t*   : the same of v permuted within parents, with its own s*, without c
    p    = (1 + #{t* >= t}) / (1 + permutations)
    interval = tanh(z -+ q sqrt(s^2 + c^2)),    q: the quantile of t* that t must exceed for p < .05
    b    = sum u v / sum u^2                    slope: change of y per unit of x
    its interval: b -+ t(df) sqrt(s_b^2 + c_b^2), jackknife and sampling error of b

So the interval of r excludes 0 exactly where p < .05; that of b may differ where p is near .05.
Beyond 500 observations t* is Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import atanh, hypot, inf, isfinite, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from biasbridge.analysis.residuals import factorize, project_out, residuals, undefined_reason
from biasbridge.analysis.sampling import Sampling, sampling_error, slope_sampling_error
from biasbridge.stats.intervals import Estimate
from biasbridge.stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from biasbridge.analysis.residuals import Residuals
    from biasbridge.stats.arrays import Floats

PERMUTATIONS = 9_999
MAX_PERMUTED = 500  # observations; beyond, Student's t replaces t*
CELLS = 100_000  # numbers per batch of permutations: they stay in the cache
NEARLY_1 = 1 - 1e-9
TIE = 1e-6  # closer values of t count as equal
TINY = 1e-12
ROUNDING = 1e-9  # of a sum of squares
SMALLEST = 1e-6  # an error below is rounding
# On arrays this small several BLAS threads only wait for each other.
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")


class Correlation(NamedTuple):
    """r_rm with its 95% interval and p.

    ``n``: observations that have another of their parent; ``df``: observations - parents - 1, less
    what else is partialled out; ``s``: jackknife standard error of z; ``sampling``: that from
    sampling words and items; ``influential``: the index of the observation without which r changes
    most, ``r_without_influential``: r without it; ``slope``: b, in units of y per unit of x,
    without ends where |r| = 1; ``null``: the distribution of t under no relation; ``reason``: why r
    is NaN.
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
    null: Null | None = None
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
        reason = undefined_reason(residual)
        return Correlation(n=len(residual.u), df=max(0, residual.df), reason=reason)
    r_jackknife = leave_one_out_r(residual)
    s = _jackknife(np.arctanh(r_jackknife), residual.df)
    sampling = sampling_error(residual, x_resampled, y_resampled)
    slope_sampling = slope_sampling_error(residual, x_resampled, y_resampled)
    error = hypot(s, sqrt(sampling.variance))
    t = abs(atanh(residual.r)) / error if abs(residual.r) < NEARLY_1 and error > SMALLEST else inf
    null = Null.of(residual, permutations, seed)
    low, high = null.interval(residual.r, t, hypot(s, sampling.outward), LEVEL)
    influence = np.abs(r_jackknife - residual.r)
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
        slope=slope_estimate(residual, slope_sampling.variance),
        null=null,
    )


def leave_one_out_r(residual: Residuals) -> Floats:
    """Return r without each observation in turn, clipped just inside [-1, 1]. Shape (n,).

    Leaving out i changes sum u v by -u_i v_i / (1 - h_i), and the other sums likewise, exactly.
    """
    u, v = residual.unit
    return _cosine(*(float(a @ b) - a * b / (1 - residual.h) for a, b in ((u, v), (u, u), (v, v))))


def _cosine(uv: Floats, uu: Floats, vv: Floats) -> Floats:
    """Return uv / sqrt(uu vv), clipped just inside [-1, 1]; 0 where a sum of squares vanishes."""
    degenerate = (uu < ROUNDING) | (vv < ROUNDING)
    cosine = np.where(degenerate, 0, uv) / np.sqrt(np.where(degenerate, 1, uu * vv))
    clipped: Floats = np.clip(cosine, -NEARLY_1, NEARLY_1)
    return clipped


def _jackknife(values: Floats, df: int) -> float:
    return sqrt((df + 1) / len(values) * float(((values - float(values.mean())) ** 2).sum()))


def slope_estimate(
    residual: Residuals, sampling_variance: float, reliability: float = 1.0
) -> Estimate:
    """Return b -+ t(df) times its standard error, from leaving out each observation exactly.

    With a ``reliability`` of the scores below 1, b is that on scores without their noise N:
    sum u v / (sum u^2 - N), N = (1 - reliability) sum u^2 (Fuller, 1987).
    """
    u, v, n = residual.u, residual.v, len(residual.u)
    uu, uv = float(u @ u), float(u @ v)
    noise = (1 - reliability) * uu
    b = uv / (uu - noise) if reliability > 0 else nan
    if not isfinite(b) or abs(residual.r) >= NEARLY_1:
        return Estimate(b)
    uv_without, uu_without = uv - u * v / (1 - residual.h), uu - u * u / (1 - residual.h)
    true_variance = uu_without - noise * (n - 1) / n
    degenerate = true_variance < ROUNDING * uu
    jackknife = np.where(degenerate, b, uv_without / np.where(degenerate, 1, true_variance))
    error = sqrt(_jackknife(jackknife, residual.df) ** 2 + sampling_variance / reliability**2)
    half_width = float(scipy.special.stdtrit(residual.df, 1 - LEVEL / 2)) * error
    return Estimate(b, b - half_width, b + half_width)


class Null(NamedTuple):
    """t* and |r*| of permutations, ascending; none where t* is Student's t of ``df``."""

    t: Floats
    r: Floats
    df: float

    @classmethod
    def of(cls, residual: Residuals, permutations: int, seed: int) -> Null:
        """Permute v within parents."""
        u, v = residual.unit
        if len(u) > MAX_PERMUTED:
            return cls(np.zeros(0), np.zeros(0), residual.df)
        order = np.argsort(residual.stratum, kind="stable")
        sizes = tuple(np.bincount(residual.stratum).tolist())
        inputs = u[order], v[order], residual.h[order], residual.columns[order]
        r, t = zip(*permuted(*inputs, residual.df, sizes, permutations, seed), strict=True)
        return cls(np.sort(np.concatenate(t)), np.sort(np.abs(np.concatenate(r))), residual.df)

    def p(self, t: float) -> float:
        """Return the share of t* that reach t."""
        if not len(self.t):
            return 2 * float(scipy.special.stdtr(self.df, -t))
        beyond = len(self.t) - int(np.searchsorted(self.t, t - TIE * max(1.0, min(t, 1e9))))
        return (1 + beyond) / (1 + len(self.t))

    def quantile(self, values: Floats, level: float) -> float:
        """Return the value to exceed for p < level; infinity where there is none."""
        n_beyond = int(np.ceil(level * (1 + len(values)) - 1e-9)) - 2
        return float(values[-1 - n_beyond]) if n_beyond >= 0 else inf

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
            beyond = max(t - q, TINY) if excludes else min(t - q, 0.0)
            z = abs(atanh(r))
            near, far = tanh(z / t * beyond if t > 0 else -q * outward), tanh(z + q * outward)
        else:
            normal = tanh(float(scipy.special.ndtri(1 - level / 2)) / sqrt(self.df))
            quantile = self.quantile(self.r, level) if len(self.r) else normal
            near, far = (min(quantile, abs(r)) if excludes else -1.0), 1.0
        return (near, far) if r >= 0 else (-far, -near)


def permuted(
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
        orders(sizes, permutations, seed),
        np.repeat(np.cumsum((0, *sizes))[:-1], sizes),
    )
    step = max(1, CELLS // len(u))
    for start in range(0, permutations, step):
        permuted_v = v[positions[start : start + step] + starts]
        if columns.shape[1]:
            permuted_v = _normed(project_out(permuted_v.T, columns).T)
        yield studentised(u, permuted_v, h, df)


def studentised(u: Floats, v: Floats, h: Floats, df: int) -> tuple[Floats, Floats]:
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
    exact = (np.abs(r) >= NEARLY_1) | (s < SMALLEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        return r, np.where(exact, inf, np.abs(np.arctanh(np.where(exact, 0, r))) / s)


@lru_cache(maxsize=4)
def orders(sizes: tuple[int, ...], permutations: int, seed: int) -> NDArray[np.unsignedinteger]:
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
    reach = float(scipy.special.ndtri(1 - LEVEL / (2 * tests)) + scipy.special.ndtri(0.8))
    return tanh(reach * sqrt(1 / (df - 1)))


def _normed(rows: Floats) -> Floats:
    normed: Floats = rows / np.sqrt(np.maximum(np.square(rows).sum(axis=1, keepdims=True), 1e-300))
    return normed
