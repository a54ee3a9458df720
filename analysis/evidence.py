"""What stands behind a correlation: one row a slice with units, intervals, permutation p,
influence, power, ranking and verdict.
"""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from analysis.clusters import (
    Floats,
    Pairs,
    coverage,
    detectable,
    jackknife_interval,
    kendall,
    leave_one_out,
    pearson_interval,
    permutation_p,
    resample,
    spearman,
    weighted_pearson,
)
from analysis.clusters import moments as unit_moments

FEWEST_UNITS = 3
RESAMPLES = 10_000
FEWEST_RESAMPLES = 1_000
MOST_WEIGHTS = 1_000_000  # resamples times units
EVIDENCE_COLUMNS = (
    "n_units",
    "n_bases",
    "r_low",
    "r_high",
    "r_p",
    "r_low_bases",
    "r_high_bases",
    "rho_low",
    "rho_high",
    "tau_low",
    "tau_high",
    "influence_low",
    "influence_high",
    "influential",
    "detectable",
    "coverage",
    "r_corrected",
    "r_corrected_low",
    "r_corrected_high",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "caution",
)


def evidence(
    x: ArrayLike,
    y: ArrayLike,
    *,
    units: ArrayLike,
    bases: ArrayLike | None = None,
    x_error: ArrayLike | None = None,
    y_error: ArrayLike | None = None,
    unbiased: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Any]:
    """The columns that speak for or against a correlation of clustered pairs, NaN where one cannot
    be had.

    * ``n_units``: units with a finite pair; ``n_bases``: clusters of units.
    * ``r_low``, ``r_high``: 95% interval of Pearson's r over units (see
      ``clusters.pearson_interval``), ``coverage`` what simulation found of it; ``r_low_bases``,
      ``r_high_bases``: the same over bases. ``r_p``: permutation p, units changing places.
    * ``rho_*``, ``tau_*``: 95% intervals of Spearman's rho and Kendall's tau by the jackknife over
      units.
    * ``influence_low``, ``influence_high``: least and largest r without one unit, ``influential``:
      the unit whose loss moves r most.
    * ``detectable``: the smallest |r| that so many units detect with a power of 80%.
    * ``r_corrected``: r divided by the root of both reliabilities, see ``corrected``; needs the
      standard errors of x and y.
    * ``accuracy``: how often the unit with the less biased x has the less biased y, see
      ``pairwise_accuracy``.

    Shapes: (n,) each; ``units`` and ``bases`` are labels. ``unbiased`` is the value of x without
    bias.
    """
    row: dict[str, Any] = {
        **dict.fromkeys(EVIDENCE_COLUMNS, nan),
        "influential": "",
        "coverage": "",
        "caution": "",
    }
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    kept = np.isfinite(first) & np.isfinite(second)
    names, unit = np.unique(np.asarray(units, dtype=object)[kept].astype(str), return_inverse=True)
    pairs = Pairs(first[kept], second[kept], unit)
    row |= {"n_units": len(names)}
    base_of = None
    if bases is not None:
        base_names, base_of = np.unique(
            np.asarray(bases, dtype=object)[kept].astype(str), return_inverse=True
        )
        row |= {"n_bases": len(base_names)}
    if len(names) < FEWEST_UNITS:
        return row | {"caution": f"{len(names)} units, fewer than {FEWEST_UNITS}"}
    if _constant(pairs):
        return row | {"caution": "a side is constant"}
    resamples = _affordable(resamples, len(names))
    weights = resample(len(names), resamples, seed)
    r = pearson_interval(pairs, weights)
    row |= {
        "r_low": r.low,
        "r_high": r.high,
        "coverage": coverage(len(names)),
        "detectable": detectable(len(names)),
    }
    row["r_p"], row["caution"] = permutation_p(pairs, resamples, seed)
    left_out = leave_one_out(pairs)
    if np.isfinite(left_out).any():
        row |= {
            "influence_low": float(np.nanmin(left_out)),
            "influence_high": float(np.nanmax(left_out)),
        }
        row["influential"] = str(names[int(np.nanargmax(np.abs(left_out - r.value)))])
    for name, of in (("rho", spearman), ("tau", kendall)):
        found = jackknife_interval(
            of(pairs), leave_one_out(pairs, "spearman" if name == "rho" else "kendall")
        )
        row |= {f"{name}_low": found.low, f"{name}_high": found.high}
    if base_of is not None and row["n_bases"] > FEWEST_UNITS:
        over = Pairs(pairs.x, pairs.y, base_of)
        of_bases = pearson_interval(over, resample(row["n_bases"], resamples, seed))
        row |= {"r_low_bases": of_bases.low, "r_high_bases": of_bases.high}
    row |= pairwise_accuracy(pairs, weights, unbiased)
    if x_error is not None and y_error is not None:
        errors = (np.asarray(x_error, dtype=float)[kept], np.asarray(y_error, dtype=float)[kept])
        row |= corrected(pairs, *errors, weights)
    return row


def unit_interval(x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[float, float]:
    """The 95% interval of Pearson's r over units, ``r_low`` and ``r_high`` of ``evidence`` with its
    own seed and resamples.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    kept = np.isfinite(first) & np.isfinite(second)
    names, unit = np.unique(np.asarray(units, dtype=object)[kept].astype(str), return_inverse=True)
    pairs = Pairs(first[kept], second[kept], unit)
    if len(names) < FEWEST_UNITS or _constant(pairs):
        return nan, nan
    found = pearson_interval(pairs, resample(len(names), _affordable(RESAMPLES, len(names)), 0))
    return found.low, found.high


def _constant(pairs: Pairs) -> bool:
    return any(np.ptp(side) <= 1e-13 * np.abs(side).max(initial=0) for side in (pairs.x, pairs.y))


def _affordable(resamples: int, units: int) -> int:
    """The more units, the fewer resamples tell as much: memory and time stay bounded."""
    return min(resamples, max(FEWEST_RESAMPLES, MOST_WEIGHTS // units))


def corrected(pairs: Pairs, x_error: Floats, y_error: Floats, weights: Floats) -> dict[str, float]:
    """r corrected for attenuation (Spearman, 1904), with its 95% percentile interval over resampled
    units.

    r / sqrt(rel(x) rel(y)),   rel(x) = 1 - mean(error^2) / var(x)

    Rows without a standard error count as if measured without error on that side only where all
    are; otherwise, and where noise is all there is (rel <= 0), there is no correction. The
    corrected r may exceed 1: then noise was overestimated or n is small; it is cut at 1.
    """
    nothing = dict.fromkeys(("r_corrected", "r_corrected_low", "r_corrected_high"), nan)
    noise = [
        np.nan_to_num(error**2) if np.isnan(error).all() else error**2
        for error in (x_error, y_error)
    ]
    if any(np.isnan(each).any() for each in noise) or not any(each.any() for each in noise):
        return nothing
    every = np.concatenate([np.ones((1, pairs.units)), weights])
    r, _ = weighted_pearson(every, unit_moments(pairs))
    reliability = np.ones(len(every))
    for side, squared in zip((pairs.x, pairs.y), noise, strict=True):
        sums = [
            np.bincount(pairs.unit, weights=w, minlength=pairs.units)
            for w in (np.ones_like(side), side - side.mean(), (side - side.mean()) ** 2, squared)
        ]
        n, first, second, errors = (every @ np.stack(sums, axis=1)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            reliability *= np.clip(1 - (errors / n) / (second / n - (first / n) ** 2), 0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(reliability > 0, np.clip(r / np.sqrt(reliability), -1, 1), nan)
    if not np.isfinite(values[0]) or np.isfinite(values[1:]).mean() < 0.9:
        return nothing
    low, high = np.nanquantile(values[1:], [0.025, 0.975])
    return {
        "r_corrected": float(values[0]),
        "r_corrected_low": float(low),
        "r_corrected_high": float(high),
    }


def pairwise_accuracy(pairs: Pairs, weights: Floats, unbiased: float = 0.0) -> dict[str, float]:
    """Of two units, how often the one whose x lies nearer to unbiased has the smaller |y|; 0.5:
    choosing by x is useless; 1: always right.

    The mean over all pairs of units of the rows' means; ties on either side count half. The 95%
    interval is the percentile interval over resampled units, in which a unit is not compared with
    itself. Shapes: pairs (n,), weights (b, units).
    """
    k = pairs.units
    counts = np.bincount(pairs.unit, minlength=k)
    bias_x = np.bincount(pairs.unit, weights=np.abs(pairs.x - unbiased), minlength=k) / counts
    bias_y = np.bincount(pairs.unit, weights=np.abs(pairs.y), minlength=k) / counts
    agree = (1 + np.sign(bias_x[:, None] - bias_x) * np.sign(bias_y[:, None] - bias_y)) / 2
    np.fill_diagonal(agree, 0)

    def share(w: Floats) -> Floats:
        compared = w.sum(axis=1) ** 2 - (w * w).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(((w @ agree) * w).sum(axis=1) / compared)

    low, high = np.nanquantile(share(weights), [0.025, 0.975]) if k > FEWEST_UNITS else (nan, nan)
    return {
        "accuracy": float(share(np.ones((1, k)))[0]),
        "accuracy_low": float(low),
        "accuracy_high": float(high),
    }


def adjust(p: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Holm's and Benjamini and Hochberg's adjusted p-values over the family of all that are not
    NaN.

    Holm: the i-th smallest of m is max_{j <= i} min(1, (m - j + 1) p_j). Shapes: (m,) -> (m,) each.
    """
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(np.isfinite(values))
    holm, bh = np.full(len(values), nan), np.full(len(values), nan)
    if len(known):
        order = known[np.argsort(values[known], kind="stable")]
        holm[order] = np.minimum(
            1, np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1))
        )
        bh[known] = stats.false_discovery_control(values[known], method="bh")
    return {"p_holm": holm, "p_bh": bh}
