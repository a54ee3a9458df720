"""Intervals of proportions, of their differences and combinations."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.stats.intervals import UNDEFINED, Estimate, quantile

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_PSEUDO_ITEMS = 4


def wilson(k: float, n: float, level: float) -> Floats:
    """Compute Wilson's (1927) score interval of the share k / n, (low, high).

        (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

    All p with |k / n - p| <= z sqrt(p (1 - p) / n), z as in ``quantile``; never of zero width.

    Parameters
    ----------
    k, n : float
        Number of items with the property, and of all items, n > 0.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    array of shape (2,)
        Low and high, in [0, 1].

    Examples
    --------
    >>> wilson(8, 10, 0.95).round(2).tolist()
    [0.49, 0.94]
    """
    z = quantile(level)
    half = z * np.sqrt(k * (n - k) / n + z**2 / 4)
    bounds: Floats = np.clip((k + z**2 / 2 + np.array([-half, half])) / (n + z**2), 0, 1)
    return bounds


def proportion_estimate(k: float, n: float, level: float = 0.95) -> Estimate:
    """Return the share k / n with Wilson's interval.

    Parameters
    ----------
    k, n : float
        Number of items with the property, and of all items.
    level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    Estimate
        The interval holds the value, in spite of rounding; all NaN for n = 0.
    """
    if not n:
        return UNDEFINED
    value = k / n
    low, high = wilson(k, n, level).tolist()
    return Estimate(value, min(low, value), max(high, value))


def share_estimate(shares: Floats, level: float) -> Estimate:
    """Compute the mean p of shares in [0, 1] (n,) and Wilson's interval, k = p n and n divided by

        effect = v / (q (1 - q)),    q and v: mean and variance of the shares, one 0 and one 1

    The effect is 1 if all shares are 0 or 1, smaller if they vary less, and never 0.
    """
    p, n = float(shares.mean()), len(shares)
    widened = np.concatenate([shares, [0.0, 1.0]])
    q = float(widened.mean())
    effect = float(widened.var()) / (q * (1 - q))
    return proportion_estimate(p * n / effect, n / effect, level)._replace(value=p)


def difference(a: Estimate, b: Estimate) -> Estimate:
    """Compute a - b of independent groups with Newcombe's (1998) hybrid score interval (his method
    10), of the same level as the intervals of a and b; for F1 see MOVER (Zou and Donner, 2008).

        low = a - b - sqrt((a - low_a)^2 + (high_b - b)^2)
        high = a - b + sqrt((high_a - a)^2 + (b - low_b)^2)

    Parameters
    ----------
    a, b : Estimate
        Estimates of two groups that share no item, with intervals of one level.

    Returns
    -------
    Estimate
        Above 0 where a is larger.
    """
    value = a.value - b.value
    return Estimate(
        value,
        value - hypot(a.value - a.low, b.high - b.value),
        value + hypot(a.high - a.value, b.value - b.low),
    )


def combination(
    estimates: Sequence[Estimate],
    coefficients: Sequence[float],
    influences: Sequence[Floats],
    level: float,
) -> Estimate:
    """Compute sum c_i e_i of m proportions that may share items, with Price and Bonett's (2004)
    interval; for the difference of two that share none it is Agresti and Caffo's (2000).

        sum c_i p_i -+ z sqrt(c' V c)    p, V: ``_smoothed_moments`` of m; z as in ``quantile``

    The interval is widened to include the value and clipped to the range of the sum.
    ``tests/extrinsic/test_coverage.py`` simulates its coverage.

    Parameters
    ----------
    estimates : sequence of m Estimate
        Proportions e_i with intervals of ``level``.
    coefficients : sequence of m float
        The c_i.
    influences : sequence of m arrays of shape (units,)
        First-order change of each proportion by each unit.
    level : float
        Confidence level, in (0, 1).
    """
    c = np.array(coefficients, dtype=np.float64)
    smoothed, covariance = _smoothed_moments(estimates, influences, level, len(estimates))
    value = float(c @ np.array([estimate.value for estimate in estimates]))
    middle, half = float(c @ smoothed), quantile(level) * sqrt(float(c @ covariance @ c))
    low = max(middle - half, float(c[c < 0].sum()))
    high = min(middle + half, float(c[c > 0].sum()))
    return Estimate(value, min(low, value), max(high, value))


def _smoothed_moments(
    estimates: Sequence[Estimate], influences: Sequence[Floats], level: float, compared: int
) -> tuple[Floats, Floats]:
    """Compute proportions (n,) and their covariance (n, n) with ``_PSEUDO_ITEMS`` / m further items
    each, half of them successes; m: ``compared``. So two that share all items still vary.

        p_i  = (n_i e_i + a) / N_i        N_i = n_i + 2 a, a = _PSEUDO_ITEMS / (2 m)
        V_ij = sum_u f_iu f_ju n_i n_j / (N_i N_j)
        V_ii = the same + p_i (1 - p_i) / N_i - n_i e_i (1 - e_i) / N_i^2

    n_i is the ``effective_size`` of the estimate, whose interval is of ``level``; f_iu, its
    ``influences`` (n, units), the first-order change by unit u.
    """
    values = np.array([estimate.value for estimate in estimates])
    n = np.array([effective_size(estimate, level) for estimate in estimates])
    total = n + _PSEUDO_ITEMS / compared
    smoothed = values + (0.5 - values) * (total - n) / total
    scaled = np.stack(list(influences)) * (n / total)[:, None]
    added = smoothed * (1 - smoothed) / total - n * values * (1 - values) / total**2
    return smoothed, scaled @ scaled.T + np.diag(added)


def effective_size(estimate: Estimate, level: float) -> float:
    """Compute the number of items n with which a proportion of this value has a Wilson interval of
    this width: with h half the width, z as in ``quantile`` and u = z^2 / n,

        h^2 (1 + u)^2 = u p (1 - p) + u^2 / 4
    """
    h = (estimate.high - estimate.low) / 2
    a, b, c = h**2 - 0.25, 2 * h**2 - estimate.value * (1 - estimate.value), h**2
    u = (-b - sqrt(b**2 - 4 * a * c)) / (2 * a)
    return quantile(level) ** 2 / u


def error_correlations(
    estimates: Sequence[Estimate], influences: Sequence[Floats], level: float
) -> Floats:
    """Compute the correlations of the errors of proportions, compared pairwise, (n, n)."""
    _, covariance = _smoothed_moments(estimates, influences, level, 2)
    errors = np.sqrt(np.diag(covariance))
    correlation: Floats = covariance / np.outer(errors, errors)
    return correlation
