"""The p-value of a difference of means under re-partition: exact by counting, or sampled where there are too many partitions."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError

Floats = NDArray[np.float64]

TAILS = ("greater", "less", "two-sided")
# 50 values need two tables of 2**25 sums: about a gigabyte and ten seconds, and two values more double both.
MOST_VALUES = 50
CHUNK = 10_000
# Sums that agree to this share of the values' total magnitude are ties: rounding separates them by less, data by more.
TIE = 1e-12


@dataclass(frozen=True)
class PValue:
    """A p-value and how it came about.

    ``count`` of ``n`` partitions were as extreme as the observed one (``strict``: more extreme). ``method`` is ``exact``, where
    ``n`` is the number of all partitions and p = count / n, or ``sampled``, where p = (count + 1) / (n + 1).
    """

    p: float
    method: str
    count: int
    n: int
    tail: str
    strict: bool


def exact_p(x: ArrayLike, y: ArrayLike, *, tail: str = "greater", strict: bool = False) -> PValue:
    r"""The exact permutation p-value of D = mean(x) - mean(y).

    p = #{S subset of x u y, |S| = |x| : D(S) >= D(x)} / binomial(|x| + |y|, |x|)

    ``tail="less"`` counts D(S) <= D(x), and ``"two-sided"`` |D(S)| >= |D(x)|. Values equal up to rounding are ties, and ties count as
    extreme unless ``strict``. So p is in (0, 1], or in [0, 1) for ``strict``, which leaves out the observed partition itself.

    Shapes: x (nx,), y (ny,); sizes may differ. No partition is enumerated: every sum of nx values is a sum of k values of one half
    and nx - k of the other, so sorting the subset sums of both halves counts all pairs (meet in the middle), in time and memory of
    order 2^((nx + ny) / 2). Raises ``InputError`` for more than 50 values together, for empty or non-finite ones, and for an unknown tail.
    """
    centred, observed, slack = _centre(x, y, tail)
    if centred.size > MOST_VALUES:
        raise InputError(f"{centred.size} values have too many partitions to count (at most {MOST_VALUES} values); use sampled_p")
    size = np.size(x)
    total = math.comb(centred.size, size)
    slack = slack if strict else -slack
    if tail == "greater":
        count = _count_sums(centred, size, observed + slack)
    elif tail == "less":
        count = _count_sums(-centred, size, -observed + slack)
    elif abs(observed) + slack <= 0:
        count = total
    else:
        threshold = abs(observed) + slack
        count = _count_sums(centred, size, threshold) + _count_sums(-centred, size, threshold)
    return PValue(count / total, "exact", count, total, tail, strict)


def sampled_p(x: ArrayLike, y: ArrayLike, *, tail: str = "greater", strict: bool = False, samples: int = 100_000, seed: int) -> PValue:
    """The permutation p-value of mean(x) - mean(y) from random partitions.

    p = (count + 1) / (samples + 1), where the observed partition is the one added, so p is never 0 (Phipson & Smyth, 2010). Its standard
    error is about sqrt(p (1 - p) / samples). Each sample partitions x u y without replacement. Tails, ties, shapes and errors as in
    ``exact_p``, but any number of values.
    """
    centred, observed, slack = _centre(x, y, tail)
    if samples < 1:
        raise InputError(f"samples is {samples}; it must be at least 1")
    size = np.size(x)
    slack = slack if strict else -slack
    rng = np.random.default_rng(seed)
    count = 0
    for start in range(0, samples, CHUNK):
        rows = np.tile(centred, (min(CHUNK, samples - start), 1))
        sums = rng.permuted(rows, axis=1, out=rows)[:, :size].sum(axis=1)
        extremity = {"greater": sums - observed, "less": observed - sums, "two-sided": np.abs(sums) - abs(observed)}[tail]
        count += int(np.count_nonzero(extremity >= slack))
    return PValue((count + 1) / (samples + 1), "sampled", count, samples, tail, strict)


def permutation_p(
    x: ArrayLike,
    y: ArrayLike,
    *,
    tail: str = "greater",
    strict: bool = False,
    exact_limit: int = 40,
    samples: int = 100_000,
    seed: int,
) -> PValue:
    """``exact_p`` for up to ``exact_limit`` values in x and y together, ``sampled_p`` beyond; the result says which."""
    if np.size(x) + np.size(y) <= exact_limit:
        return exact_p(x, y, tail=tail, strict=strict)
    return sampled_p(x, y, tail=tail, strict=strict, samples=samples, seed=seed)


def _centre(x: ArrayLike, y: ArrayLike, tail: str) -> tuple[Floats, float, float]:
    """The pooled values less their mean, the sum of x among them, and the rounding within which two sums tie.

    With the pooled mean at 0, the difference of means of a partition is its sum over S times (1/nx + 1/ny): order by the sum.
    """
    if tail not in TAILS:
        raise InputError(f"unknown tail {tail!r}; choose from {', '.join(TAILS)}")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or second.ndim != 1 or not first.size or not second.size:
        raise InputError(f"expected two non-empty vectors of values, not shapes {first.shape} and {second.shape}")
    pooled = np.concatenate([first, second])
    if not np.isfinite(pooled).all():
        raise InputError("the values hold NaN or infinity; a permutation test needs finite ones")
    centred = pooled - pooled.mean()
    slack = max(TIE * float(np.abs(pooled).sum()), sys.float_info.min)  # above 0, or zeros would not tie
    return centred, float(centred[: first.size].sum()), slack


def _count_sums(values: Floats, size: int, threshold: float) -> int:
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
    """Entry k holds the sums of all subsets of k values, for k up to ``most`` or the number of values."""
    sums = [np.zeros(1)]
    for n, value in enumerate(values, 1):
        longer = [np.concatenate([sums[k], sums[k - 1] + value]) for k in range(1, len(sums))]
        sums = [sums[0], *longer, *([sums[-1] + value] if n <= most else [])]
    return sums
