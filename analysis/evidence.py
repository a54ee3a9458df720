"""What stands behind the correlation of a slice: units, intervals, permutation p, influence, power
and ranking.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from analysis.clusters import (
    Estimate,
    Pairs,
    coverage,
    detectable,
    jackknife_interval,
    leave_one_out,
    pearson_interval,
    resample,
    rho_and_tau,
    unit_permutation_p,
    weighted_moments,
)
from analysis.clusters import moments as unit_moments
from analysis.coefficients import Floats, both_finite

FEWEST_UNITS = 3
RESAMPLES = 10_000
FEWEST_RESAMPLES = 1_000
MOST_WEIGHTS = 1_000_000  # resamples times units


class Evidence(NamedTuple):
    """What speaks for or against a correlation of clustered pairs; NaN where it cannot be had.

    * ``n_units``: units with a finite pair; ``n_bases``: clusters of units.
    * ``r_low``, ``r_high``: 95% interval of Pearson's r over units (see
      ``clusters.pearson_interval``), ``coverage`` what simulation found of it; ``r_low_bases``,
      ``r_high_bases``: the same over bases. ``r_p``: permutation p, units changing places.
    * ``rho_*``, ``tau_*``: 95% intervals of Spearman's rho and Kendall's tau by the jackknife over
      units.
    * ``influence_low``, ``influence_high``: least and largest r without one unit, ``influential``:
      the unit whose loss moves r most.
    * ``detectable``: the smallest |r| that so many units detect with a power of 80%.
    * ``r_corrected``: r divided by the root of both reliabilities, see ``corrected``.
    * ``accuracy``: how often the unit with the less biased x has the less biased y, see
      ``pairwise_accuracy``.
    * ``caution``: what stands in the way of these.
    """

    n_units: int
    n_bases: float = nan
    r_low: float = nan
    r_high: float = nan
    r_p: float = nan
    r_low_bases: float = nan
    r_high_bases: float = nan
    rho_low: float = nan
    rho_high: float = nan
    tau_low: float = nan
    tau_high: float = nan
    influence_low: float = nan
    influence_high: float = nan
    influential: str = ""
    detectable: float = nan
    coverage: str = ""
    r_corrected: float = nan
    r_corrected_low: float = nan
    r_corrected_high: float = nan
    accuracy: float = nan
    accuracy_low: float = nan
    accuracy_high: float = nan
    caution: str = ""


def evidence(
    x: Floats,
    y: Floats,
    *,
    units: ArrayLike,
    bases: ArrayLike | None = None,
    errors: tuple[Floats, Floats] | None = None,
    unbiased: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Evidence:
    """What stands behind the correlation of x and y.

    ``units`` and ``bases`` are labels, ``errors`` the standard errors of x and of y, ``unbiased``
    the value of x without bias. Shapes: (n,) each.
    """
    pairs, names = Pairs.of(x, y, units)
    over, base_names = Pairs.of(x, y, bases) if bases is not None else (pairs, [])
    found = Evidence(len(names), nan if bases is None else len(base_names))
    if len(names) < FEWEST_UNITS:
        return found._replace(caution=f"{len(names)} units, fewer than {FEWEST_UNITS}")
    if pairs.constant:
        return found._replace(caution="a side is constant")
    resamples = _affordable(resamples, len(names))
    weights = resample(len(names), resamples, seed)
    p, caution = unit_permutation_p(pairs, resamples, seed)
    ranking = pairwise_accuracy(pairs, weights, unbiased)
    of_bases, noiseless = Estimate(), Estimate()
    if len(base_names) > FEWEST_UNITS:
        of_bases = pearson_interval(over, resample(len(base_names), resamples, seed))
    if errors:
        kept = both_finite(x, y)
        noiseless = corrected(pairs, errors[0][kept], errors[1][kept], weights)
    return _of_units(found, pairs, names, weights)._replace(
        r_p=p,
        r_low_bases=of_bases.low,
        r_high_bases=of_bases.high,
        r_corrected=noiseless.value,
        r_corrected_low=noiseless.low,
        r_corrected_high=noiseless.high,
        accuracy=ranking.value,
        accuracy_low=ranking.low,
        accuracy_high=ranking.high,
        caution=caution,
    )


def unit_interval(x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[float, float]:
    """The 95% interval of Pearson's r over units, ``r_low`` and ``r_high`` of ``evidence`` with its
    own seed and resamples.
    """
    pairs, names = Pairs.of(x, y, units)
    if len(names) < FEWEST_UNITS or pairs.constant:
        return nan, nan
    found = pearson_interval(pairs, resample(len(names), _affordable(RESAMPLES, len(names)), 0))
    return found.low, found.high


def _of_units(found: Evidence, pairs: Pairs, names: list[str], weights: Floats) -> Evidence:
    """With the intervals over units, what they can tell, and the influence of each."""
    r = pearson_interval(pairs, weights)
    rho, tau = (jackknife_interval(each[0], each[1:]) for each in rho_and_tau(pairs))
    found = found._replace(
        r_low=r.low,
        r_high=r.high,
        rho_low=rho.low,
        rho_high=rho.high,
        tau_low=tau.low,
        tau_high=tau.high,
        detectable=detectable(len(names)),
        coverage=coverage(len(names)),
    )
    left_out = leave_one_out(pairs)
    if not np.isfinite(left_out).any():
        return found
    return found._replace(
        influence_low=float(np.nanmin(left_out)),
        influence_high=float(np.nanmax(left_out)),
        influential=names[int(np.nanargmax(np.abs(left_out - r.value)))],
    )


def _affordable(resamples: int, units: int) -> int:
    """The more units, the fewer resamples tell as much: memory and time stay bounded."""
    return min(resamples, max(FEWEST_RESAMPLES, MOST_WEIGHTS // units))


def corrected(pairs: Pairs, x_error: Floats, y_error: Floats, weights: Floats) -> Estimate:
    """r corrected for attenuation (Spearman, 1904), with its 95% percentile interval over resampled
    units.

    r / sqrt(rel(x) rel(y)),   rel(x) = 1 - mean(error^2) / var(x)

    Rows without a standard error count as if measured without error on that side only where all
    are; otherwise, and where noise is all there is (rel <= 0), there is no correction. The
    corrected r may exceed 1: then noise was overestimated or n is small; it is cut at 1.
    """
    noise = [
        np.nan_to_num(error**2) if np.isnan(error).all() else error**2
        for error in (x_error, y_error)
    ]
    if any(np.isnan(each).any() for each in noise) or not any(each.any() for each in noise):
        return Estimate()
    every = np.concatenate([np.ones((1, pairs.units)), weights])
    reliability = np.ones(len(every))
    for side, squared in zip((pairs.x, pairs.y), noise, strict=True):
        centred = side - float(side.mean())
        sums = pairs.sums(np.ones_like(side), centred, centred**2, squared)
        n, first, second, errors = list[Floats]((every @ sums).T)
        with np.errstate(divide="ignore", invalid="ignore"):
            reliability *= np.clip(1 - (errors / n) / (second / n - (first / n) ** 2), 0, None)
    r = weighted_moments(every, unit_moments(pairs)).r
    with np.errstate(divide="ignore", invalid="ignore"):
        cut: Floats = np.clip(r / np.sqrt(reliability), -1, 1)
    values = np.where(reliability > 0, cut, nan)
    if np.isnan(values[0]) or np.count_nonzero(np.isnan(values)) > 0.1 * len(weights):
        return Estimate()
    return Estimate(float(values[0]), *_percentiles(values[1:]))


def pairwise_accuracy(pairs: Pairs, weights: Floats, unbiased: float = 0.0) -> Estimate:
    """Of two units, how often the one whose x lies nearer to unbiased has the smaller |y|; 0.5:
    choosing by x is useless; 1: always right.

    The mean over all pairs of units of the rows' means; ties on either side count half. The 95%
    interval is the percentile interval over resampled units, in which a unit is not compared with
    itself. Shapes: pairs (n,), weights (b, units).
    """
    k = pairs.units
    sums = pairs.sums(np.ones_like(pairs.x), np.abs(pairs.x - unbiased), np.abs(pairs.y))
    n, bias_x, bias_y = list[Floats](sums.T)
    by_x, by_y = (np.sign(bias[:, None] - bias) for bias in (bias_x / n, bias_y / n))
    agree: Floats = (1 + by_x * by_y) / 2
    np.fill_diagonal(agree, 0)

    def share(w: Floats) -> Floats:
        right: Floats = ((w @ agree) * w).sum(axis=1)
        compared: Floats = w.sum(axis=1) ** 2 - (w * w).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return right / compared

    value = float(share(np.ones((1, k)))[0])
    return Estimate(value, *_percentiles(share(weights))) if k > FEWEST_UNITS else Estimate(value)


def _percentiles(resampled: Floats) -> tuple[float, float]:
    bounds: Floats = np.nanquantile(resampled, [0.025, 0.975])
    return float(bounds[0]), float(bounds[1])
