"""p-value of a difference of means under re-partition: exact or sampled."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Tail = Literal["greater", "less", "two-sided"]
TAILS = get_args(Tail)
# 50 values need two tables of 2**25 sums: about a gigabyte and ten seconds. Two more values double
# both.
MAX_EXACT = 50
_P_CONFIDENCE = 0.99
_SAMPLES = 100_000
_SAMPLE_CHUNK = 10_000
# Share of the values' total magnitude within which sums are ties: rounding separates them by less,
# data by more.
_SUM_TIE = 1e-12


@dataclass(frozen=True)
class PValue:
    """A p-value and how it was computed.

    ``count`` of ``n`` partitions were as extreme as the observed one (``strict``: more extreme).
    ``method``: ``exact`` (all ``n`` partitions; p = count / n) or ``sampled`` (p = (count + 1) /
    (n + 1)). The exact p lies in [``low``, ``high``]: if sampled, with 99% confidence (Clopper and
    Pearson). ``two_sided``: the two-sided p of a difference on the side that a one-sided test does
    not cover; else NaN.
    """

    p: float
    method: str
    count: int
    n: int
    tail: str
    strict: bool
    low: float
    high: float
    two_sided: float = math.nan

    @classmethod
    def of_t(cls, p: float, n: int) -> PValue:
        """Create the two-sided p of Student's t for n values; it has no count."""
        return cls(p, "t", 0, n, "two-sided", False, p, p)

    @classmethod
    def from_ranks(cls, p: float, n: int, largest: int) -> PValue:
        """Create the two-sided p of a rank correlation, over all orders or by Student's t."""
        if n > largest:
            return cls.of_t(p, n)
        orders = math.factorial(n)
        return cls(p, "exact", round(p * orders), orders, "two-sided", False, p, p)


def exact_p(x: ArrayLike, y: ArrayLike, *, tail: str = "greater", strict: bool = False) -> PValue:
    r"""Compute the exact permutation p-value of D = mean(x) - mean(y).

    p = #{S subset of x u y, |S| = |x| : D(S) >= D(x)} / binomial(|x| + |y|, |x|)

    Counted without enumeration: subset sums of both halves of the values are sorted (meet in the
    middle), in time and memory of order 2^((n_x + n_y) / 2).

    Parameters
    ----------
    x, y : array of shape (n_x,), (n_y,)
        Values of the groups, at most 50 together; sizes may differ.
    tail : {"greater", "less", "two-sided"}, default="greater"
        "less" counts D(S) <= D(x), "two-sided" |D(S)| >= |D(x)|.
    strict : bool, default=False
        Count larger D only. Otherwise ties, values equal up to rounding, count as extreme.

    Returns
    -------
    PValue
        p in (0, 1]; in [0, 1) if ``strict``, which leaves out the observed partition.

    Raises
    ------
    InputError
        More than 50 values, empty or non-finite ones, an unknown tail.

    Examples
    --------
    >>> exact_p([3, 4], [1, 2]).p == 1 / 6
    True
    """
    centred, observed, slack = _centre(x, y, tail, strict)
    if centred.size > MAX_EXACT:
        raise InputError(
            f"{centred.size} values have too many partitions to count (at most {MAX_EXACT} values);"
            " use sampled_p"
        )
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
    samples: int = _SAMPLES,
    seed: int,
) -> PValue:
    """Compute the permutation p-value of mean(x) - mean(y) from random partitions.

    p = (count + 1) / (samples + 1), the observed partition included, so p is never 0 (Phipson &
    Smyth, 2010). Its standard error is about sqrt(p (1 - p) / samples).

    Parameters
    ----------
    x, y, tail, strict
        As in :func:`exact_p`; any number of values.
    samples : int, default=100_000
        Number of random partitions of x u y, without replacement.
    seed : int

    Returns
    -------
    PValue
        p in (0, 1].
    """
    centred, observed, slack = _centre(x, y, tail, strict)
    if samples < 1:
        raise InputError(f"samples is {samples}; it must be at least 1")
    size = np.size(x)
    rng = np.random.default_rng(seed)
    count = 0
    for start in range(0, samples, _SAMPLE_CHUNK):
        rows = np.tile(centred, (min(_SAMPLE_CHUNK, samples - start), 1))
        sums: Floats = rng.permuted(rows, axis=1, out=rows)[:, :size].sum(axis=1)
        beyond = np.abs(sums) - abs(observed) if tail == "two-sided" else sums - observed
        count += int(np.count_nonzero((-beyond if tail == "less" else beyond) >= slack))
    return estimated_p(count, samples, tail=tail, strict=strict)


def estimated_p(count: int, samples: int, *, tail: str, strict: bool) -> PValue:
    """Create the p-value if ``count`` of the random samples were as extreme as the observed one."""
    from scipy.stats import beta  # slow to import, and most p-values are exact

    low = float(beta.ppf((1 - _P_CONFIDENCE) / 2, count, samples - count + 1)) if count else 0.0
    high = (
        float(beta.ppf((1 + _P_CONFIDENCE) / 2, count + 1, samples - count))
        if count < samples
        else 1.0
    )
    return PValue((count + 1) / (samples + 1), "sampled", count, samples, tail, strict, low, high)


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
    """Compute the p-value by :func:`exact_p` or, of more values, by :func:`sampled_p`.

    Parameters
    ----------
    x, y, tail, strict
        As in :func:`exact_p`.
    exact_limit : int, default=40
        Largest number of values for which p is exact.
    samples : int, default=0
        Number of random partitions beyond; 0: 100,000.
    seed : int

    Returns
    -------
    PValue
    """

    def test(tail: str) -> PValue:
        if np.size(x) + np.size(y) <= exact_limit:
            return exact_p(x, y, tail=tail, strict=strict)
        return sampled_p(x, y, tail=tail, strict=strict, samples=samples or _SAMPLES, seed=seed)

    one_sided = test(tail)
    difference = float(np.mean(np.asarray(x)) - np.mean(np.asarray(y)))
    is_covered = {"greater": difference >= 0, "less": difference <= 0}.get(tail, True)
    return one_sided if is_covered else replace(one_sided, two_sided=test("two-sided").p)


def _centre(x: ArrayLike, y: ArrayLike, tail: str, strict: bool) -> tuple[Floats, float, float]:
    """Return the centred pooled values, the sum of x among them, and the tolerance of a tie.

    Centred, the difference of means of a partition is its sum over S times (1 / nx + 1 / ny), so
    partitions are ordered by that sum.
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
    slack = max(_SUM_TIE * float(np.abs(pooled).sum()), sys.float_info.min)
    return centred, float(centred[: first.size].sum()), slack if strict else -slack


def _sides(centred: Floats, observed: float, slack: float, tail: str) -> list[tuple[Floats, float]]:
    """Return values, as they are or negated, with the threshold above which sums are extreme."""
    if tail == "greater":
        return [(centred, observed + slack)]
    if tail == "less":
        return [(-centred, -observed + slack)]
    threshold = abs(observed) + slack
    if threshold <= 0:
        return [(centred, -math.inf)]
    return [(centred, threshold), (-centred, threshold)]


def _count_sums(values: Floats, threshold: float, size: int) -> int:
    """Count the subsets of ``size`` values whose sum is at least ``threshold``."""
    middle = values.size // 2
    first, second = _subset_sums(values[:middle], size), _subset_sums(values[middle:], size)
    count = 0
    for k in range(max(0, size - len(second) + 1), min(size, len(first) - 1) + 1):
        # Sorted, so that searches walk through memory instead of jumping
        sums, needed = np.sort(second[size - k]), np.sort(threshold - first[k])
        count += sums.size * needed.size - int(np.searchsorted(sums, needed).sum())
    return count


def _subset_sums(values: Floats, max_size: int) -> list[Floats]:
    """Return the sums of all subsets of k values as entry k, up to ``max_size`` values."""
    sums = [np.zeros(1)]
    for n, value in enumerate(values.tolist(), 1):
        larger = [np.concatenate([sums[k], sums[k - 1] + value]) for k in range(1, len(sums))]
        sums = [sums[0], *larger, *([sums[-1] + value] if n <= max_size else [])]
    return sums
