"""The p-value of a difference of means under re-partition: exact, bounded, or sampled."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError

Floats = NDArray[np.float64]

Tail = Literal["greater", "less", "two-sided"]
TAILS = get_args(Tail)
# 50 values need two tables of 2**25 sums: about a gigabyte and ten seconds, and two values more
# double both.
MOST_VALUES = 50
MOST_BOUNDED = 120
# Cells of the table that bounds are counted in, all steps together: a quarter of a second at most
WORK = 1_000_000_000
MOST_LEVELS = 100_000
LEVEL = 0.99
FLOAT_ERROR = 1e-11  # a few hundred sums and products of positive shares
CHUNK = 10_000
# Sums that agree to this share of the values' total magnitude are ties: rounding separates them by
# less, data by more.
TIE = 1e-12


@dataclass(frozen=True)
class PValue:
    """A p-value and how it came about.

    ``count`` of ``n`` partitions were as extreme as the observed one (``strict``: more extreme).
    ``method`` is ``exact``, where ``n`` is the number of all partitions and p = count / n;
    ``bounded``, where p is the upper one of two guaranteed bounds and ``count`` what it amounts to;
    or ``sampled``, where p = (count + 1) / (n + 1). The exact p lies in [``low``, ``high``]:
    certainly, unless sampled, where that is the 99% interval of Clopper and Pearson.
    """

    p: float
    method: str
    count: int
    n: int
    tail: str
    strict: bool
    low: float
    high: float

    @classmethod
    def of_t(cls, p: float, n: int) -> PValue:
        """The two-sided p of Student's t for n values, which has no count."""
        return cls(p, "t", 0, n, "two-sided", False, p, p)

    @classmethod
    def of_ranks(cls, p: float, n: int, largest: int) -> PValue:
        """The two-sided p of a rank correlation of n values: over all n! orders up to ``largest``
        values, by Student's t beyond.
        """
        if n > largest:
            return cls.of_t(p, n)
        orders = math.factorial(n)
        return cls(p, "exact", round(p * orders), orders, "two-sided", False, p, p)


def exact_p(x: ArrayLike, y: ArrayLike, *, tail: str = "greater", strict: bool = False) -> PValue:
    r"""The exact permutation p-value of D = mean(x) - mean(y).

    p = #{S subset of x u y, |S| = |x| : D(S) >= D(x)} / binomial(|x| + |y|, |x|)

    ``tail="less"`` counts D(S) <= D(x), and ``"two-sided"`` |D(S)| >= |D(x)|. Values equal up to
    rounding are ties, and ties count as extreme unless ``strict``. So p is in (0, 1], or in [0, 1)
    for ``strict``, which leaves out the observed partition itself.

    Shapes: x (nx,), y (ny,); sizes may differ. No partition is enumerated: every sum of nx values
    is a sum of k values of one half and nx - k of the other, so sorting the subset sums of both
    halves counts all pairs (meet in the middle), in time and memory of order 2^((nx + ny) / 2).
    Raises ``InputError`` for more than 50 values together, for empty or non-finite ones, and for an
    unknown tail.
    """
    centred, observed, slack = _centre(x, y, tail, strict)
    if centred.size > MOST_VALUES:
        values = f"{centred.size} values have too many partitions to count"
        raise InputError(f"{values} (at most {MOST_VALUES} values); use sampled_p")
    size = np.size(x)
    total = math.comb(centred.size, size)
    count = sum(_count_sums(*side, size) for side in _sides(centred, observed, slack, tail))
    p = count / total
    return PValue(p, "exact", count, total, tail, strict, p, p)


def sampled_p(
    x: ArrayLike,
    y: ArrayLike,
    *,
    tail: str = "greater",
    strict: bool = False,
    samples: int = 100_000,
    seed: int,
) -> PValue:
    """The permutation p-value of mean(x) - mean(y) from random partitions.

    p = (count + 1) / (samples + 1), where the observed partition is the one added, so p is never 0
    (Phipson & Smyth, 2010). Its standard error is about sqrt(p (1 - p) / samples). Each sample
    partitions x u y without replacement. Tails, ties, shapes and errors as in ``exact_p``, but any
    number of values.
    """
    centred, observed, slack = _centre(x, y, tail, strict)
    if samples < 1:
        raise InputError(f"samples is {samples}; it must be at least 1")
    size = np.size(x)
    rng = np.random.default_rng(seed)
    count = 0
    for start in range(0, samples, CHUNK):
        rows = np.tile(centred, (min(CHUNK, samples - start), 1))
        sums: Floats = rng.permuted(rows, axis=1, out=rows)[:, :size].sum(axis=1)
        beyond = np.abs(sums) - abs(observed) if tail == "two-sided" else sums - observed
        count += int(np.count_nonzero((-beyond if tail == "less" else beyond) >= slack))
    return estimated_p(count, samples, tail=tail, strict=strict)


def estimated_p(count: int, samples: int, *, tail: str, strict: bool) -> PValue:
    """The p-value where ``count`` of so many random samples were as extreme as the observed one."""
    from scipy.stats import beta  # slow to import, and most p-values are exact

    low = float(beta.ppf((1 - LEVEL) / 2, count, samples - count + 1)) if count else 0.0
    high = float(beta.ppf((1 + LEVEL) / 2, count + 1, samples - count)) if count < samples else 1.0
    return PValue((count + 1) / (samples + 1), "sampled", count, samples, tail, strict, low, high)


def bounded_p(x: ArrayLike, y: ArrayLike, *, tail: str = "greater", strict: bool = False) -> PValue:
    """The permutation p-value of mean(x) - mean(y) between guaranteed bounds, counted on a grid.

    Every value is rounded down to a multiple of a step h, and the sums of all subsets of nx values
    are counted by dynamic programming over (values seen, values taken, sum). A sum of rounded
    values lies less than nx h below the true one, so counting from the threshold less nx h gives
    the upper bound and from the threshold itself the lower one. p is the upper bound. The step is
    as small as a fixed amount of work allows, so the bounds part as sizes grow: for 32 + 32 normal
    values they lie within 0.001 of one another. Tails, ties, shapes and errors as in ``exact_p``,
    for up to 120 values; with more the bounds would be too far apart to be of use.
    """
    centred, observed, slack = _centre(x, y, tail, strict)
    if centred.size > MOST_BOUNDED:
        values = f"{centred.size} values are too many for bounds"
        raise InputError(f"{values} (at most {MOST_BOUNDED}); use sampled_p")
    size = np.size(x)
    total = math.comb(centred.size, size)
    shares = [_share_of_sums(*side, size) for side in _sides(centred, observed, slack, tail)]
    low, high = sum(share[0] for share in shares), min(1.0, sum(share[1] for share in shares))
    return PValue(high, "bounded", round(high * total), total, tail, strict, low, high)


def permutation_p(
    x: ArrayLike,
    y: ArrayLike,
    *,
    tail: str = "greater",
    strict: bool = False,
    exact_limit: int = 40,
    samples: int = 0,
    seed: int,
) -> PValue:
    """``exact_p`` to ``exact_limit`` values together, ``bounded_p`` while it can, or ``sampled_p``.

    ``samples`` above 0 prefers sampling to bounds; 0 is 100,000 samples where there are too many
    values for bounds.
    """
    number = np.size(x) + np.size(y)
    if number <= exact_limit:
        return exact_p(x, y, tail=tail, strict=strict)
    if number <= MOST_BOUNDED and not samples:
        return bounded_p(x, y, tail=tail, strict=strict)
    return sampled_p(x, y, tail=tail, strict=strict, samples=samples or 100_000, seed=seed)


def _centre(x: ArrayLike, y: ArrayLike, tail: str, strict: bool) -> tuple[Floats, float, float]:
    """The pooled values less their mean, the sum of x among them, and what a tie may lie above it.

    With the pooled mean at 0, the difference of means of a partition is its sum over S times (1/nx
    + 1/ny): order by the sum.
    """
    if tail not in TAILS:
        raise InputError(f"unknown tail {tail!r}; choose from {', '.join(TAILS)}")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or second.ndim != 1 or not first.size or not second.size:
        shapes = f"{first.shape} and {second.shape}"
        raise InputError(f"expected two non-empty vectors of values, not shapes {shapes}")
    pooled = np.concatenate([first, second])
    if not np.isfinite(pooled).all():
        raise InputError("the values hold NaN or infinity; a permutation test needs finite ones")
    centred: Floats = pooled - pooled.mean()
    # Above 0, or zeros would not tie
    slack = max(TIE * float(np.abs(pooled).sum()), sys.float_info.min)
    return centred, float(centred[: first.size].sum()), slack if strict else -slack


def _sides(centred: Floats, observed: float, slack: float, tail: str) -> list[tuple[Floats, float]]:
    """The values whose sums are extreme from a threshold on, as they are or negated, with it."""
    if tail == "greater":
        return [(centred, observed + slack)]
    if tail == "less":
        return [(-centred, -observed + slack)]
    threshold = abs(observed) + slack
    if threshold <= 0:
        return [(centred, -math.inf)]
    return [(centred, threshold), (-centred, threshold)]


def _count_sums(values: Floats, threshold: float, size: int) -> int:
    """How many subsets of ``size`` values have a sum of at least ``threshold``."""
    middle = values.size // 2
    left, right = _subset_sums(values[:middle], size), _subset_sums(values[middle:], size)
    count = 0
    for k in range(max(0, size - len(right) + 1), min(size, len(left) - 1) + 1):
        # Both sorted: the searches then walk through memory instead of jumping.
        sums, needed = np.sort(right[size - k]), np.sort(threshold - left[k])
        count += sums.size * needed.size - int(np.searchsorted(sums, needed).sum())
    return count


def _subset_sums(values: Floats, most: int) -> list[Floats]:
    """Entry k: the sums of all subsets of k values, k up to ``most`` or the number of values."""
    sums = [np.zeros(1)]
    for n, value in enumerate(values.tolist(), 1):
        longer = [np.concatenate([sums[k], sums[k - 1] + value]) for k in range(1, len(sums))]
        sums = [sums[0], *longer, *([sums[-1] + value] if n <= most else [])]
    return sums


def _share_of_sums(values: Floats, threshold: float, size: int) -> tuple[float, float]:
    """Bounds of the share of subsets of ``size`` values whose sum is at least ``threshold``."""
    least = float(values.min())
    spread = float(values.max()) - least
    if spread <= 0 or math.isinf(threshold):
        return (1.0, 1.0) if size * least >= threshold else (0.0, 0.0)
    levels = min(MOST_LEVELS, max(16, WORK // (values.size * size * size)))
    step = spread / levels
    # Sums of k shifted values differ from those of k values by k * least, the same for all subsets.
    rungs = np.floor((values - least) / step).astype(np.int64)
    needed = (threshold - size * least) / step
    shares = _sum_distribution(np.sort(rungs), size)
    above = np.concatenate([np.cumsum(shares[::-1])[::-1], [0.0]])
    rounding = 1e-12 * (1 + values.size) + 1e-9
    low = float(above[min(max(math.ceil(needed + rounding), 0), shares.size)])
    high = float(above[min(max(math.floor(needed - size - rounding) + 1, 0), shares.size)])
    return max(0.0, low * (1 - FLOAT_ERROR)), min(1.0, high * (1 + FLOAT_ERROR))


def _sum_distribution(rungs: NDArray[np.int64], size: int) -> Floats:
    """Entry s is the share of all subsets of ``size`` of the whole numbers whose sum is s.

    Row k of the table is the share among the subsets of k of the numbers seen so far; one more
    number belongs to k of every n subsets.
    """
    top = int(rungs[-size:].sum())
    table = np.zeros((size + 1, top + 1))
    table[0, 0] = 1.0
    reached = 0
    for n, rung in enumerate(rungs.tolist(), 1):
        reached = min(top, reached + rung)
        for k in range(min(n, size), max(0, size - (len(rungs) - n) - 1), -1):
            row: Floats = table[k, : reached + 1]
            row *= (n - k) / n
            row[rung:] += (k / n) * table[k - 1, : reached + 1 - rung]
    return np.asarray(table[size])
