"""Statistics of scores by seed and planted strength.

``values`` have shape (..., seeds, levels), NaN where missing; leading axes are resamples or
leave-one-out copies. ``strengths`` (levels,) ascend and hold 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from biasbridge.stats.intervals import Estimate
from biasbridge.stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

FEWEST_SEEDS = 3
POWER = 0.8
# What one score needs to tell a strength from none with this power, in standard deviations
DETECTABLE = float(ndtri(1 - LEVEL / 2) + ndtri(POWER))


def mean_interval(values: Floats, level: float = 0.95) -> Estimate:
    """Return a mean with its t interval; NaN for fewer than three finite values."""
    values = values[np.isfinite(values)]
    if len(values) < FEWEST_SEEDS:
        return Estimate()
    error = float(values.std(ddof=1)) / sqrt(len(values))
    return _t_interval(float(values.mean()), error, len(values), level)


def jackknife(
    statistic: Callable[[Floats], Floats], values: Floats, level: float = 0.95
) -> Estimate:
    """Estimate a statistic with its jackknife interval over seeds.

        value -+ t_{S - 1} sqrt((S - 1) / S sum_s (value_s - mean)^2),    value_s: without seed s

    Parameters
    ----------
    statistic : callable
        Of values of shape (..., seeds, levels), returns (...).
    values : array of shape (seeds, levels)

    Returns
    -------
    Estimate
        NaN for fewer than three seeds, or where a value is NaN.
    """
    known = values[np.isfinite(values).any(axis=1)]
    n = len(known)
    if n < FEWEST_SEEDS:
        return Estimate()
    without = statistic(np.stack([np.delete(known, i, axis=0) for i in range(n)]))
    error = sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))
    value = float(statistic(known))
    return _t_interval(value, error, n, level) if isfinite(error) else Estimate()


def spread_within(values: Floats) -> Floats:
    """Compute the pooled standard deviation of models of one strength; 0 below rounding errors."""
    deviations = values - nan_mean(values, axis=-2)[..., None, :]
    df = (np.isfinite(values).sum(axis=-2) - 1).clip(0).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread: Floats = np.sqrt(np.nansum(deviations**2, axis=(-2, -1)) / df)
    largest = np.abs(np.nan_to_num(values)).max(axis=(-2, -1))
    return np.where(spread <= 1e-12 * largest, 0.0, spread)


def slope(values: Floats, strengths: Floats) -> Floats:
    """Compute the mean over seeds of the least-squares slope of values on strengths, in standard
    deviations of models of one strength. 0 where all values are equal, NaN without a spread.
    """
    x = np.where(np.isfinite(values), strengths, np.nan)
    x = x - nan_mean(x, axis=-1)[..., None]
    squares = np.nansum(x**2, axis=-1)
    products = np.nansum(x * (values - nan_mean(values, axis=-1)[..., None]), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(squares > 0, products / squares, np.nan)
        return in_spreads(nan_mean(slopes, axis=-1), spread_within(values))


def offset(at_zero: Floats, unbiased: float) -> Floats:
    """Compute the mean value at strength 0 minus the unbiased one, in their standard deviation."""
    return in_spreads(nan_mean(at_zero, axis=(-2, -1)) - unbiased, spread_within(at_zero))


def correlation(values: Floats, strengths: Floats) -> Floats:
    """Compute Pearson's r of strengths and values over all models: 0 where all values are equal,
    NaN for fewer than three models.
    """
    axes = (-2, -1)
    x = np.where(np.isfinite(values), strengths, np.nan)
    x = np.nan_to_num(x - nan_mean(x, axis=axes)[..., None, None])
    y = np.nan_to_num(values - nan_mean(values, axis=axes)[..., None, None])
    length = np.sqrt((x**2).sum(axis=axes) * (y**2).sum(axis=axes))
    r = (x * y).sum(axis=axes) / np.where(length > 0, length, 1.0)
    return np.where(np.isfinite(values).sum(axis=axes) < FEWEST_SEEDS, np.nan, r)


def smallest_strength(values: Floats, strengths: Floats) -> Floats:
    """Compute the smallest strength that a single score tells from none with a power of .8.

    A score tells a strength above 0 from none where it is above the prediction interval of a
    further score at 0, m -+ t s sqrt(1 + 1 / n), with m, s and n of the scores at 0; a strength
    below 0 where it is below. The power at a strength is the share of its scores that do, over both
    sides of 0 if both are planted, and all larger strengths must reach .8 too.
    Between strengths, the normal quantile of the power is interpolated linearly (exact for a normal
    score that is linear in the strength). Infinity where none has the power, NaN for fewer than
    three scores at 0.
    """
    known = np.isfinite(values)
    zero = values[..., strengths == 0][..., 0]
    n = np.isfinite(zero).sum(axis=-1)
    mean = nan_mean(zero, axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.nansum((zero - mean) ** 2, axis=-1) / (n - 1))
        half_width = stdtrit(n - 1.0, 1 - LEVEL / 2) * np.sqrt(1 + 1 / n) * spread
        signed = np.sign(strengths) * (values - mean[..., None])
        is_detected = known & (signed > half_width[..., None, None])
    sizes = np.unique(np.abs(strengths))
    sides = [np.abs(strengths) == size for size in sizes]
    n_detected, n_scores = (
        np.stack([which[..., side].sum(axis=(-2, -1)) for side in sides], axis=-1)
        for which in (is_detected, known)
    )
    power = n_detected / np.maximum(1, n_scores)
    power[..., 0] = LEVEL / 2
    return np.where(n < FEWEST_SEEDS, np.nan, _where_power_is_reached(power, n_scores, sizes))


def _where_power_is_reached(power: Floats, n_scores: Floats, sizes: Floats) -> Floats:
    """Interpolate the size from which on the power is .8, between the last without and the next."""
    reaches = np.flip(np.logical_and.accumulate(np.flip(power >= POWER, axis=-1), axis=-1), axis=-1)
    last = (~reaches).sum(axis=-1, keepdims=True) - 1
    pair = np.minimum(np.concatenate([last, last + 1], axis=-1), len(sizes) - 1)
    ends = np.take_along_axis(power, pair, axis=-1)
    n = np.take_along_axis(n_scores, pair, axis=-1).min(axis=-1, keepdims=True)
    margin = 1 / (2 * np.maximum(1, n))  # keeps the quantiles of 0 and 1 finite
    below, above = np.moveaxis(ndtri(np.clip(ends, margin, 1 - margin)), -1, 0)
    low, high = np.moveaxis(sizes[pair], -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.minimum(1.0, (ndtri(POWER) - below) / (above - below))
        return np.where(last[..., 0] == len(sizes) - 1, np.inf, low + fraction * (high - low))


def nan_mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Return means of finite values; NaN where there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=axis))


def in_spreads(difference: Floats, spread: Floats) -> Floats:
    """Divide by standard deviations; 0 where both are 0, NaN where only the deviation is."""
    return np.where(
        spread > 0, difference / np.where(spread > 0, spread, 1), np.where(difference, np.nan, 0.0)
    )


def _t_interval(value: float, error: float, n: int, level: float) -> Estimate:
    half_width = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return Estimate(value, value - half_width, value + half_width)
