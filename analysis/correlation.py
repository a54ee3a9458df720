r"""The correlation of scores and gaps within parents: one statistic gives both p and interval.

x, y: score and gap of n observations (one a model), each made from a parent (the unmodified
embedding or model). u, v: x and y less their means over the observations of a parent; h = 1 /
(observations of the parent), or the leverage where more is partialled out.

    r_rm = sum u v / sqrt(sum u^2 sum v^2)      repeated measures (Bakdash & Marusich, 2017)
    z    = atanh(r_rm)
    s^2  = (df + 1) / n sum (z_i - mean z_i)^2  jackknife; z_i: without observation i, exactly
    c    : standard error of z from sampling words and items (``analysis.sampling``)
    t    = |z| / sqrt(s^2 + c^2)
    t*   : the same of v permuted within parents, with its own s*, without c
    p    = (1 + #{t* >= t}) / (1 + permutations)
    interval = tanh(z -+ q sqrt(s^2 + c^2)),    q: the quantile of t* that p < .05 asks t to exceed
    b    = sum u v / sum u^2                    slope: what y moves by where x moves by 1
    its interval: all b0 where t of x and y - b0 x does not exceed the same q

So both intervals exclude 0 exactly where p < .05. Beyond 500 observations t* is Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import atanh, inf, isfinite, nan, sinh, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from analysis.residuals import codes, residuals, undefined, without
from analysis.sampling import Sampling, SharedAlong, sampling_error

if TYPE_CHECKING:
    from analysis.arrays import Floats, Truths
    from analysis.residuals import Residuals

LEVEL = 0.05
FEWEST_CLUSTERS = 5  # below, an interval over clusters is as wide as [-1, 1] or does not hold
PERMUTATIONS = 9_999
MOST_PERMUTED = 500  # observations; beyond, t* is as good as Student's
CELLS = 100_000  # numbers that permutations are computed on at a time: they stay in the cache
NEARLY_1 = 1 - 1e-9
TIE = 1e-6  # closer values of t are equal
TINY = 1e-12
ROUNDING = 1e-9  # of a sum of squares
FARTHEST = 8.0  # z of y - b0 x; where t exceeds q nowhere before, the interval of b has no end
GRID, ROUNDS = 9, 10  # an end of it lies between two of so many, again and again
SMALLEST = 1e-6  # an error below is rounding
# On arrays this small several BLAS threads only wait for one another.
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")


class Estimate(NamedTuple):
    """A statistic with its 95% interval; NaN where undefined."""

    value: float = nan
    low: float = nan
    high: float = nan

    def times(self, sign: float) -> Estimate:
        """The same of -x or of x, for a sign of -1 or 1; NaN for NaN."""
        low, high = sorted((sign * self.low, sign * self.high))
        return Estimate(sign * self.value, low, high)


class Correlation(NamedTuple):
    """r_rm with its 95% interval and p.

    ``n``: observations that have another of their parent; ``df``: observations - parents - 1, less
    what else is partialled out; ``low_90``, ``high_90``: the 90% interval, for two one-sided tests
    at .05; ``s``: jackknife standard error of z; ``sampling``: that from sampling words and items;
    ``influential``: the place of the observation without which r moves most, ``without``: r without
    it; ``low_clusters``, ``high_clusters``: the delete-one-parent interval, from 5 parents on and
    never the narrower of the two; ``slope``: b, in units of y per unit of x, an end infinite where
    no b0 that far is excluded; ``reason``: why r is NaN.
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
    """r_rm of score and gap within parents.

    Shapes: x, y, parent (n,), without ``parent`` all observations are of one; ``given`` (n,) or
    (n, k): what else is partialled out (utility, indicators of conditions); ``x_resampled``,
    ``y_resampled`` (n, resamples): scores over other words and gaps over other items, drawn alike
    for all observations. Range [-1, 1]; above 0: the gap rises with the score. NaN, with its
    ``reason``, below 3 observations and where a side does not vary within parents. At |r| = 1 the
    interval is one-sided, to the |r| that one in twenty permutations reaches.
    """
    first, second = (np.asarray(side, dtype=float) for side in (x, y))
    strata = codes(np.zeros(len(first)) if parent is None else np.asarray(parent))
    of = residuals(first, second, strata, given)
    if not of.defined:
        return Correlation(n=len(of.u), df=max(0, of.df), reason=undefined(of))
    left_out = without_each(of)
    s = _jackknife(np.arctanh(left_out), of.df)
    sampling = sampling_error(of, x_resampled, y_resampled)
    error = sqrt(s * s + sampling.variance)
    t = abs(atanh(of.r)) / error if abs(of.r) < NEARLY_1 and error > SMALLEST else inf
    null = _Null.of(of, permutations, seed)
    moved = np.abs(left_out - of.r)
    found = Correlation(
        of.r,
        p=null.p(t),
        n=len(of.u),
        df=of.df,
        s=s,
        sampling=sampling,
        influential=int(of.kept[int(np.argmax(moved))]),
        without=float(left_out[int(np.argmax(moved))]),
    )
    low, high = null.interval(of.r, t, error, LEVEL)
    low_90, high_90 = null.interval(of.r, t, error, 2 * LEVEL)
    low_90, high_90 = max(low, low_90), min(high, high_90)  # at |r| = 1 it reaches farther
    found = found._replace(low=low, high=high, low_90=low_90, high_90=high_90)
    along = SharedAlong.of(of, x_resampled, y_resampled)
    return _over_clusters(found._replace(slope=_slope(of, found, null.q(LEVEL), along)), of)


def without_each(of: Residuals) -> Floats:
    """r without each observation in turn, inside [-1, 1] by a hair. Shape (n,).

    Leaving out i changes sum u v by -u_i v_i / (1 - h_i), and the other sums likewise, exactly.
    """
    u, v = of.unit
    return _cosine(*(float(a @ b) - a * b / (1 - of.h) for a, b in ((u, v), (u, u), (v, v))))


def _cosine(uv: Floats, uu: Floats, vv: Floats) -> Floats:
    """uv / sqrt(uu vv), inside [-1, 1] by a hair; 0 where nothing is left."""
    flat = (uu < ROUNDING) | (vv < ROUNDING)
    cosine = np.where(flat, 0, uv) / np.sqrt(np.where(flat, 1, uu * vv))
    found: Floats = np.clip(cosine, -NEARLY_1, NEARLY_1)
    return found


def _jackknife(z: Floats, df: int) -> float:
    return sqrt((df + 1) / len(z) * float(((z - float(z.mean())) ** 2).sum()))


def _over_clusters(found: Correlation, of: Residuals) -> Correlation:
    """With the interval from leaving out each parent: z -+ t s, Student's t of parents - 1."""
    parents = int(of.stratum.max()) + 1
    if parents < FEWEST_CLUSTERS or abs(found.r) >= NEARLY_1:
        return found
    u, v = of.unit
    uv, uu, vv = (
        np.asarray(float(a @ b) - np.bincount(of.stratum, a * b), dtype=np.float64)
        for a, b in ((u, v), (u, u), (v, v))
    )
    z = np.arctanh(_cosine(uv, uu, vv))
    s2 = (parents - 1) / parents * float(((z - float(z.mean())) ** 2).sum())
    reach = scipy.special.stdtrit(parents - 1, 1 - LEVEL / 2) * sqrt(s2 + found.sampling.variance)
    low, high = tanh(atanh(found.r) - reach), tanh(atanh(found.r) + reach)
    return found._replace(low_clusters=min(low, found.low), high_clusters=max(high, found.high))


def _slope(of: Residuals, found: Correlation, q: float, along: SharedAlong) -> Estimate:
    """b, and the ends of all b0 where t of x and y - b0 x is at most q.

    Each b0 is known by z = atanh r(x, y - b0 x): b0 = b - |e| / |u| sinh z, with e = v - b u. On
    the side of 0 the end lies short of 0 where p < .05, and not where it is not. At |r| = 1 the
    interval is one-sided, as that of r: from b times the |r| that one in twenty permutations
    reaches.
    """
    b, r, excludes = of.slope, of.r, found.p < LEVEL
    exact = abs(r) >= NEARLY_1
    if not isfinite(q) or (exact and not excludes):
        return Estimate(b, -inf, inf)
    if exact:
        near, far = abs(b) * min(abs(found.low), abs(found.high)), inf
    else:
        side, zero = (1.0 if r >= 0 else -1.0), abs(atanh(r))
        asked = of, q, along
        short = _farthest(side, (0, zero) if excludes else (zero, FARTHEST), *asked)
        unit = sqrt(float(of.v @ of.v) / float(of.u @ of.u) * (1 - r * r))
        near = abs(b) - unit * sinh(short)
        near = max(near, TINY * abs(b)) if excludes else min(near, 0.0)
        far = abs(b) + unit * sinh(_farthest(-side, (0, FARTHEST), *asked))
    return Estimate(b, near, far) if r >= 0 else Estimate(b, -far, -near)


def _farthest(
    side: float, reach: tuple[float, float], of: Residuals, q: float, along: SharedAlong
) -> float:
    """The largest |z| of a b0 that is not excluded, of those on a side of b and within reach, the
    first of which is not; infinity where ``FARTHEST`` is not.
    """
    start, stop = reach
    if start >= FARTHEST:
        return inf
    for _ in range(ROUNDS):
        grid = np.linspace(start, stop, GRID)
        last = int(np.flatnonzero(_within(side * grid, of, q, along)).max(initial=0))
        if last == GRID - 1:
            return inf if stop == FARTHEST else stop
        start, stop = float(grid[last]), float(grid[last + 1])
    return start


def _within(z: Floats, of: Residuals, q: float, along: SharedAlong) -> Truths:
    """Whether t of x and y - b0 x is at most q, for the b0 with such z. Shapes (k,)."""
    u, v = of.unit
    e = (v - of.r * u) / sqrt(1 - of.r**2)
    t = studentised(u, np.tanh(z)[:, None] * u + e / np.cosh(z)[:, None], of.h, of.df)[1]
    s = np.abs(z) / np.where(z == 0, inf, t)
    found: Truths = np.abs(z) <= q * np.sqrt(s * s + along.variance(z))
    return found


class _Null(NamedTuple):
    """t* and |r*| of permutations, ascending; none where t* is Student's t of ``df``."""

    t: Floats
    r: Floats
    df: int

    @classmethod
    def of(cls, of: Residuals, permutations: int, seed: int) -> _Null:
        u, v = of.unit
        if len(u) > MOST_PERMUTED:
            return cls(np.zeros(0), np.zeros(0), of.df)
        order = np.argsort(of.stratum, kind="stable")
        sizes = tuple(np.bincount(of.stratum).tolist())
        inputs = u[order], v[order], of.h[order], of.columns[order]
        r, t = zip(*permuted(*inputs, of.df, sizes, permutations, seed), strict=True)
        return cls(np.sort(np.concatenate(t)), np.sort(np.abs(np.concatenate(r))), of.df)

    def p(self, t: float) -> float:
        if not len(self.t):
            return 2 * float(scipy.special.stdtr(self.df, -t))
        beyond = len(self.t) - int(np.searchsorted(self.t, t - TIE * max(1.0, min(t, 1e9))))
        return (1 + beyond) / (1 + len(self.t))

    def quantile(self, values: Floats, level: float) -> float:
        """What a value must exceed for p < level; infinity where none does."""
        most = int(np.ceil(level * (1 + len(values)) - 1e-9)) - 2  # as many may lie beyond
        return float(values[-1 - most]) if most >= 0 else inf

    def q(self, level: float) -> float:
        """What t must exceed for p < level."""
        if len(self.t):
            return self.quantile(self.t, level)
        return float(scipy.special.stdtrit(self.df, 1 - level / 2))

    def interval(self, r: float, t: float, error: float, level: float) -> tuple[float, float]:
        """The ends, by how far t lies beyond its quantile: p < level where they exclude 0."""
        q = self.q(level)
        excludes = self.p(t) < level
        if isfinite(t) and isfinite(q):
            beyond = max(t - q, TINY) if excludes else min(t - q, 0.0)
            near, far = tanh(error * beyond), tanh(error * (t + q))
        else:
            normal = tanh(float(scipy.special.ndtri(1 - level / 2)) / sqrt(self.df))
            reached = self.quantile(self.r, level) if len(self.r) else normal
            near, far = (min(reached, abs(r)) if excludes else -1.0), 1.0
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
    """r* and t* with v permuted within strata of these ``sizes``, some at a time. u, v, h (n,) and
    columns (n, k) stand stratum by stratum.
    """
    places, starts = (
        orders(sizes, permutations, seed),
        np.repeat(np.cumsum((0, *sizes))[:-1], sizes),
    )
    step = max(1, CELLS // len(u))
    for start in range(0, permutations, step):
        drawn = v[places[start : start + step] + starts]
        drawn = _normed(without(drawn.T, columns).T) if columns.shape[1] else drawn
        yield studentised(u, drawn, h, df)


def studentised(u: Floats, v: Floats, h: Floats, df: int) -> tuple[Floats, Floats]:
    """r and t = |z| / s of many v, rows of length 1; infinity at |r| = 1. Shapes: u, h (n,), v (b,
    n) -> (b,), (b,).
    """
    r = np.clip(v @ u, -1, 1)
    kept = 1 - h
    without = 1 - u * u / kept
    product = r[:, None] - v * (u / kept)
    other = 1 - v * v / kept
    flat = (without < ROUNDING) | (other < ROUNDING)  # no r without it: z is 0
    spread = np.sqrt(np.where(flat, 1, without * other))
    product[flat] = 0
    np.clip(product, -NEARLY_1 * spread, NEARLY_1 * spread, out=product)
    z = np.log((spread + product) / (spread - product))  # twice z
    s = np.sqrt((df + 1) / len(u) * np.square(z - z.mean(axis=1, keepdims=True)).sum(axis=1)) / 2
    exact = (np.abs(r) >= NEARLY_1) | (s < SMALLEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        return r, np.where(exact, inf, np.abs(np.arctanh(np.where(exact, 0, r))) / s)


@lru_cache(maxsize=4)
def orders(sizes: tuple[int, ...], permutations: int, seed: int) -> NDArray[np.unsignedinteger]:
    """Random orders within strata of these sizes, as places in the stratum. Shape (permutations,
    n): small numbers, for they are many.
    """
    rng = np.random.default_rng(seed)
    start = np.cumsum((0, *sizes)).tolist()
    found = np.empty((permutations, start[-1]), dtype=np.min_scalar_type(max(sizes, default=0)))
    for size, at in zip(sizes, start, strict=False):
        own = np.tile(np.arange(size, dtype=found.dtype), (permutations, 1))
        found[:, at : at + size] = rng.permuted(own, axis=1)
    return found


def minimum_detectable(df: int, tests: int = 1, sampling: float = 0.0) -> float:
    """The |r| that about four of five studies with so many degrees of freedom find at p < .05 /
    tests, where noise is normal: tanh((q + .84) sqrt(1 / (df - 1) + c^2)).
    """
    if df < 2 or tests < 1:
        return nan
    q = float(scipy.special.ndtri(1 - LEVEL / (2 * tests)) + scipy.special.ndtri(0.8))
    return tanh(q * sqrt(1 / (df - 1) + sampling**2))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's (1979) adjusted p-values of tests that are judged together."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    steps: Floats = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return list(map(float, adjusted))


def _normed(rows: Floats) -> Floats:
    found: Floats = rows / np.sqrt(np.maximum(np.square(rows).sum(axis=1, keepdims=True), 1e-300))
    return found
