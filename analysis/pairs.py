"""The correlation of two columns of numbers, as one row: estimate, interval, p-value, n and what
stood in the way.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import atanh, sqrt, tanh

import numpy as np
from scipy import stats

EXACT_UP_TO = 8
NORMAL_975 = 1.959963984540054
RESULT_COLUMNS = (
    "n",
    "n_missing",
    "pearson",
    "pearson_low",
    "pearson_high",
    "pearson_p",
    "spearman",
    "spearman_p",
    "kendall",
    "kendall_p",
    "reason",
)


def correlate_pair(
    x: np.ndarray, y: np.ndarray, *, names: tuple[str, str] = ("x", "y")
) -> dict[str, float | int | str]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of paired values, each with its two-sided
    p-value; Pearson's with a 95% interval.

    All three lie in [-1, 1]; 0: no linear (r) or monotone (rho, tau) association; positive: y rises
    with x. Pairs in which either value is not finite are left out and counted in ``n_missing``.
    With fewer than 3 pairs, or a side that does not vary, nothing is defined: every estimate is NaN
    and ``reason`` says why. The p-values assume that the pairs are independent:

    * Pearson: exact for a bivariate normal population (0 when all points lie on a line).
    * Spearman: exact over all n! orderings, ties kept, for n <= 8; Student's t with n - 2 degrees
      of freedom above.
    * Kendall: scipy's, exact for small n without ties, else the normal approximation.

    Shapes: x (n,), y (n,).
    """
    both = np.isfinite(x) & np.isfinite(y)
    missing = int((~both).sum())
    x, y = np.asarray(x, dtype=float)[both], np.asarray(y, dtype=float)[both]
    n = len(x)
    row: dict[str, float | int | str] = {
        **dict.fromkeys(RESULT_COLUMNS, float("nan")),
        "n": n,
        "n_missing": missing,
        "reason": "",
    }
    scaled_x, scaled_y = _spread_out(x), _spread_out(y)
    if n < 3:
        return row | {"reason": f"n = {n}, fewer than 3 pairs"}
    if scaled_x is None or scaled_y is None:
        constant = " and ".join(
            name for name, scaled in zip(names, (scaled_x, scaled_y), strict=True) if scaled is None
        )
        return row | {"reason": f"{constant} {'are' if ' and ' in constant else 'is'} constant"}
    r, p = _pearson(scaled_x, scaled_y)
    low, high = fisher_interval(r, n)
    rho, rho_p = _spearman(x, y)
    tau = stats.kendalltau(x, y)
    row |= {
        "pearson": r,
        "pearson_low": low,
        "pearson_high": high,
        "pearson_p": p,
        "spearman": rho,
        "spearman_p": rho_p,
    }
    row |= {"kendall": float(tau.statistic), "kendall_p": float(tau.pvalue)}
    return row | {"reason": "" if n > 3 else "n = 3, no interval below 4 pairs"}


def fisher_interval(r: float, n: int) -> tuple[float, float]:
    """The 95% interval of a Pearson correlation by Fisher's z (Fisher, 1921).

    z = atanh(r) = ln((1 + r) / (1 - r)) / 2 is close to normal with mean atanh(population r) and a
    standard deviation 1 / sqrt(n - 3) that does not depend on r, so

        [tanh(z - 1.96 / sqrt(n - 3)), tanh(z + 1.96 / sqrt(n - 3))]

    holds the population r in 95% of samples of independent pairs from a bivariate normal. It needs
    n >= 4, else NaN; at |r| = 1 it is the point r. It lies in [-1, 1] and is not symmetric about r.
    """
    if n < 4:
        return float("nan"), float("nan")
    if abs(r) == 1:
        return r, r
    half = NORMAL_975 / sqrt(n - 3)
    return tanh(atanh(r) - half), tanh(atanh(r) + half)


def _spread_out(values: np.ndarray) -> np.ndarray | None:
    """The values centred and scaled to a largest magnitude of 1, or None when they differ by
    rounding only.
    """
    largest = np.abs(values).max(initial=0)
    if largest == 0:
        return None
    centred = values / largest
    centred = centred - centred.mean()
    spread = np.abs(centred).max()
    return None if spread < 1e-13 else centred / spread


def _pearson(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    result = stats.pearsonr(x, y)
    r = float(result.statistic)
    # An exact line often comes out as 0.9999999999999998, whose p at n = 3 would be 1e-8 and whose
    # interval [-1, 1].
    return (float(np.sign(r)), 0.0) if abs(r) > 1 - 1e-14 else (r, float(result.pvalue))


def _spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    n = len(x)
    result = stats.spearmanr(x, y)
    if n > EXACT_UP_TO:
        return float(result.statistic), float(result.pvalue)
    # Centred ranks are multiples of 1/2, so the products are exact and ties between orderings are
    # seen as ties.
    rank_x, rank_y = (stats.rankdata(values) - (n + 1) / 2 for values in (x, y))
    products = rank_x[_orderings(n)] @ rank_y
    return float(result.statistic), float(np.mean(np.abs(products) >= abs(rank_x @ rank_y)))


@cache
def _orderings(n: int) -> np.ndarray:
    """All n! orderings of n things, shape (n!, n)."""
    return np.array(list(permutations(range(n))), dtype=np.int8)
