"""The correlation of scores and gaps within parents: one statistic gives both p and interval.

x, y: score and gap of n observations (one per model), each made from a parent (the unmodified
embedding or model). u, v: x and y less their means over the observations of a parent; h = 1 /
(observations of the parent), or the leverage where more is partialled out.

    r_rm = sum u v / sqrt(sum u^2 sum v^2)      repeated measures (Bakdash & Marusich, 2017)
    z    = atanh(r_rm)
    s^2  = (df + 1) / n sum (z_i - mean z_i)^2  jackknife; z_i: without observation i, exactly
    c    : standard error of z from sampling words and items (``analysis.sampling``)
    t    = |z| / sqrt(s^2 + c^2)
    t*   : the same of v permuted within parents, with its own s*, without c
    p    = (1 + #{t* >= t}) / (1 + permutations)
    interval = tanh(z -+ q sqrt(s^2 + c^2)),    q: the quantile of t* that t must exceed for p < .05
    b    = sum u v / sum u^2                    slope: change of y per unit of x
    its interval: all b0 where t of x and y - b0 x does not exceed the same q

So both intervals exclude 0 exactly where p < .05. Beyond 500 observations t* is Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import atanh, inf, isfinite, nan, sinh, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from analysis.residuals import codes, residuals, undefined_reason, without
from analysis.sampling import Sampling, SharedAlong, sampling_error
from stats.intervals import Estimate

if TYPE_CHECKING:
    from analysis.residuals import Residuals
    from stats.arrays import Floats, Truths

LEVEL = 0.05
MIN_CLUSTERS = 5  # below, an interval over clusters is as wide as [-1, 1] or has no coverage
PERMUTATIONS = 9_999
MAX_PERMUTED = 500  # observations; beyond, Student's t replaces t*
CELLS = 100_000  # numbers per batch of permutations: they stay in the cache
NEARLY_1 = 1 - 1e-9
TIE = 1e-6  # closer values of t count as equal
TINY = 1e-12
ROUNDING = 1e-9  # of a sum of squares
FARTHEST = 8.0  # z of y - b0 x; where t exceeds q nowhere before, the interval of b has no end
GRID, ROUNDS = 9, 10  # points of each grid, and refinements, in the search for an end
SMALLEST = 1e-6  # an error below is rounding
# On arrays this small several BLAS threads only wait for each other.
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")


class Correlation(NamedTuple):
    """r_rm with its 95% interval and p.

    ``n``: observations that have another of their parent; ``df``: observations - parents - 1, less
    what else is partialled out; ``low_90``, ``high_90``: the 90% interval, for two one-sided tests
    at .05; ``s``: jackknife standard error of z; ``sampling``: that from sampling words and items;
    ``influential``: the index of the observation without which r changes most, ``without``: r
    without it; ``low_clusters``, ``high_clusters``: the delete-one-parent interval, from 5 parents
    on and never narrower than the other; ``slope``: b, in units of y per unit of x, infinite ends
    where no b0 that far is excluded; ``reason``: why r is NaN.
    """

    r: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    n: int = 0
    df: int = 0
    low_90: float = nan
    high_90: float = nan
    s: float = nan
    sampling: Sampling = Sampling()
    influential: int = -1
    without: float = nan
    low_clusters: float = nan
    high_clusters: float = nan
    slope: Estimate = Estimate()
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
    strata = codes(np.zeros(len(x_values)) if parent is None else np.asarray(parent))
    residual = residuals(x_values, y_values, strata, given)
    if not residual.defined:
        reason = undefined_reason(residual)
        return Correlation(n=len(residual.u), df=max(0, residual.df), reason=reason)
    r_jackknife = leave_one_out_r(residual)
    s = _jackknife(np.arctanh(r_jackknife), residual.df)
    sampling = sampling_error(residual, x_resampled, y_resampled)
    error = sqrt(s * s + sampling.variance)
    t = abs(atanh(residual.r)) / error if abs(residual.r) < NEARLY_1 and error > SMALLEST else inf
    null = _Null.of(residual, permutations, seed)
    influence = np.abs(r_jackknife - residual.r)
    result = Correlation(
        residual.r,
        p=null.p(t),
        n=len(residual.u),
        df=residual.df,
        s=s,
        sampling=sampling,
        influential=int(residual.indices[int(np.argmax(influence))]),
        without=float(r_jackknife[int(np.argmax(influence))]),
    )
    low, high = null.interval(residual.r, t, error, LEVEL)
    low_90, high_90 = null.interval(residual.r, t, error, 2 * LEVEL)
    low_90, high_90 = max(low, low_90), min(high, high_90)  # at |r| = 1 it is the wider one
    result = result._replace(low=low, high=high, low_90=low_90, high_90=high_90)
    shared = SharedAlong.of(residual, x_resampled, y_resampled)
    result = result._replace(slope=_slope(residual, result, null.q(LEVEL), shared))
    return _over_clusters(result, residual)


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


def _jackknife(z: Floats, df: int) -> float:
    return sqrt((df + 1) / len(z) * float(((z - float(z.mean())) ** 2).sum()))


def _over_clusters(result: Correlation, residual: Residuals) -> Correlation:
    """Add the interval from leaving out each parent: z -+ t s, Student's t of parents - 1."""
    parents = int(residual.stratum.max()) + 1
    if parents < MIN_CLUSTERS or abs(result.r) >= NEARLY_1:
        return result
    u, v = residual.unit
    uv, uu, vv = (
        np.asarray(float(a @ b) - np.bincount(residual.stratum, a * b), dtype=np.float64)
        for a, b in ((u, v), (u, u), (v, v))
    )
    z = np.arctanh(_cosine(uv, uu, vv))
    s2 = (parents - 1) / parents * float(((z - float(z.mean())) ** 2).sum())
    half_width = scipy.special.stdtrit(parents - 1, 1 - LEVEL / 2) * sqrt(
        s2 + result.sampling.variance
    )
    low, high = tanh(atanh(result.r) - half_width), tanh(atanh(result.r) + half_width)
    return result._replace(low_clusters=min(low, result.low), high_clusters=max(high, result.high))


def _slope(residual: Residuals, result: Correlation, q: float, shared: SharedAlong) -> Estimate:
    """Return b, and the ends of all b0 where t of x and y - b0 x is at most q.

    Each b0 is parametrised by z = atanh r(x, y - b0 x): b0 = b - |e| / |u| sinh z, with e = v - b
    u. On the side of 0 the interval ends before 0 exactly where p < .05. At |r| = 1 it is
    one-sided, like that of r: from b times the |r| that one in twenty permutations reaches.
    """
    b, r, excludes = residual.slope, residual.r, result.p < LEVEL
    exact = abs(r) >= NEARLY_1
    if not isfinite(q) or (exact and not excludes):
        return Estimate(b, -inf, inf)
    if exact:
        near, far = abs(b) * min(abs(result.low), abs(result.high)), inf
    else:
        side, zero = (1.0 if r >= 0 else -1.0), abs(atanh(r))
        test = residual, q, shared
        nearest = _farthest(side, (0, zero) if excludes else (zero, FARTHEST), *test)
        unit = sqrt(float(residual.v @ residual.v) / float(residual.u @ residual.u) * (1 - r * r))
        near = abs(b) - unit * sinh(nearest)
        near = max(near, TINY * abs(b)) if excludes else min(near, 0.0)
        far = abs(b) + unit * sinh(_farthest(-side, (0, FARTHEST), *test))
    return Estimate(b, near, far) if r >= 0 else Estimate(b, -far, -near)


def _farthest(
    side: float, bounds: tuple[float, float], residual: Residuals, q: float, shared: SharedAlong
) -> float:
    """Return the largest |z| within bounds on one side of b whose b0 is not excluded."""
    start, stop = bounds
    if start >= FARTHEST:
        return inf
    for _ in range(ROUNDS):
        grid = np.linspace(start, stop, GRID)
        last = int(np.flatnonzero(_within(side * grid, residual, q, shared)).max(initial=0))
        if last == GRID - 1:
            return inf if stop == FARTHEST else stop
        start, stop = float(grid[last]), float(grid[last + 1])
    return start


def _within(z: Floats, residual: Residuals, q: float, shared: SharedAlong) -> Truths:
    """Test whether t of x and y - b0 x is at most q, for the b0 of each z. Shapes (k,)."""
    u, v = residual.unit
    e = (v - residual.r * u) / sqrt(1 - residual.r**2)
    t = studentised(u, np.tanh(z)[:, None] * u + e / np.cosh(z)[:, None], residual.h, residual.df)[
        1
    ]
    s = np.abs(z) / np.where(z == 0, inf, t)
    is_within: Truths = np.abs(z) <= q * np.sqrt(s * s + shared.variance(z))
    return is_within


class _Null(NamedTuple):
    """t* and |r*| of permutations, ascending; none where t* is Student's t of ``df``."""

    t: Floats
    r: Floats
    df: int

    @classmethod
    def of(cls, residual: Residuals, permutations: int, seed: int) -> _Null:
        u, v = residual.unit
        if len(u) > MAX_PERMUTED:
            return cls(np.zeros(0), np.zeros(0), residual.df)
        order = np.argsort(residual.stratum, kind="stable")
        sizes = tuple(np.bincount(residual.stratum).tolist())
        inputs = u[order], v[order], residual.h[order], residual.columns[order]
        r, t = zip(*permuted(*inputs, residual.df, sizes, permutations, seed), strict=True)
        return cls(np.sort(np.concatenate(t)), np.sort(np.abs(np.concatenate(r))), residual.df)

    def p(self, t: float) -> float:
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

    def interval(self, r: float, t: float, error: float, level: float) -> tuple[float, float]:
        """Return the ends from the distance of t to q: p < level where they exclude 0."""
        q = self.q(level)
        excludes = self.p(t) < level
        if isfinite(t) and isfinite(q):
            beyond = max(t - q, TINY) if excludes else min(t - q, 0.0)
            near, far = tanh(error * beyond), tanh(error * (t + q))
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
        permuted_v = _normed(without(permuted_v.T, columns).T) if columns.shape[1] else permuted_v
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


def minimum_detectable(df: int, tests: int = 1, sampling: float = 0.0) -> float:
    """Return the |r| that about four of five studies detect at p < .05 / tests, with normal noise.

        tanh((q + .84) sqrt(1 / (df - 1) + c^2)),   q: the normal quantile of 1 - .05 / (2 tests)

    Parameters
    ----------
    df : int
        Degrees of freedom of r.
    tests : int, default=1
        Number of tests that p is adjusted over.
    sampling : float, default=0
        c, the standard error of z from sampling words and items.

    Returns
    -------
    float
        |r| in (0, 1); NaN below 2 degrees of freedom.

    Examples
    --------
    >>> round(minimum_detectable(30), 2)
    0.48
    """
    if df < 2 or tests < 1:
        return nan
    q = float(scipy.special.ndtri(1 - LEVEL / (2 * tests)) + scipy.special.ndtri(0.8))
    return tanh(q * sqrt(1 / (df - 1) + sampling**2))


def _normed(rows: Floats) -> Floats:
    normed: Floats = rows / np.sqrt(np.maximum(np.square(rows).sum(axis=1, keepdims=True), 1e-300))
    return normed
