"""What stands behind the correlation of a slice: how many embeddings, of how many origins; the
association within origins with its test; intervals, influence, noise and ranking.
"""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.clusters import Pairs, leave_one_out, moments, rho_and_tau, weighted_moments
from analysis.coefficients import Floats, both_finite
from analysis.pairwise import concordance, distance_products, distances
from analysis.within import (
    NO_SPREAD,
    Estimate,
    Residuals,
    indicators,
    interval,
    permutation_p,
    residuals,
    without_each,
    z_error,
    z_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.within import Ints

Labels = NDArray[np.str_]

FEWEST_UNITS = 3
FEWEST_RESAMPLES = 50  # of words or posts, for a standard error
FEWEST_CLUSTERS = 5  # below, intervals over clusters are as wide as [-1, 1] or do not hold
RESAMPLES = 9_999
RELIABLE = 0.5  # below, noise is most of what is seen, and a correction for it multiplies noise
DEPENDENT = (
    "nothing was modified, and embeddings of one corpus or seed are no witnesses of their own; see"
    " each training algorithm by itself"
)
TIE = 1e-9  # of the largest difference: closer values are equal


class Evidence(NamedTuple):
    """What speaks for or against an association of score and gap; NaN where it cannot be had.

    * ``n_units``: embeddings with a score and a gap; ``n_bases``: the unmodified embeddings that
      they descend from; ``n_clusters``: what is independent of one another (corpora, seeds where
      corpora are generated, or the bases where all share one of these).
    * ``within``: r of score and gap over units, both freed of their base, with its 95% interval and
      the permutation ``within_p``; ``within_error``: the standard error of its z = atanh(r);
      ``free``: its degrees of freedom. This is what verdicts are about: does the gap follow the
      score when an embedding is modified? Where no base has two units they are freed of the
      training algorithm, by cluster where one has two units of an algorithm; in a foreign table of
      nothing. Not where units of one cluster would count as independent.
    * ``influence_low``, ``influence_high``: least and largest ``within`` without one unit,
      ``influential``: the unit whose loss moves it most.
    * ``partial``: the same, freed of method and dose too; ``absolute``: the same of |score| and
      |gap| (a gap that opens with bias of either sign); ``distance``: distance correlation in [0,
      1] of the freed values, with its p: dependence of any shape.
    * ``r_low``, ``r_high``: 95% interval of Pearson's r over all rows, for units of other bases
      too, from leaving out clusters; ``rho_*``, ``tau_*``: those of rho and tau. From 5 clusters.
    * ``reliability_x``, ``reliability_y``: the share of the variance within bases that is not noise
      of the choice of words and posts; ``ceiling``: the largest |within| that such noise lets
      through; ``corrected``: ``within`` divided by it (Spearman, 1904), with its 90% interval.
    * ``accuracy``: how often, of two units, the one with the less biased score has the smaller gap.
    * ``caution``: what stands in the way of these.
    """

    n_units: int
    n_bases: int = 0
    n_clusters: int = 0
    free: int = 0
    within: float = nan
    within_low: float = nan
    within_high: float = nan
    within_p: float = nan
    within_error: float = nan
    influence_low: float = nan
    influence_high: float = nan
    influential: str = ""
    partial: float = nan
    partial_low: float = nan
    partial_high: float = nan
    absolute: float = nan
    absolute_low: float = nan
    absolute_high: float = nan
    distance: float = nan
    distance_p: float = nan
    r_low: float = nan
    r_high: float = nan
    rho_low: float = nan
    rho_high: float = nan
    tau_low: float = nan
    tau_high: float = nan
    reliability_x: float = nan
    reliability_y: float = nan
    ceiling: float = nan
    corrected: float = nan
    corrected_low: float = nan
    corrected_high: float = nan
    accuracy: float = nan
    accuracy_low: float = nan
    accuracy_high: float = nan
    caution: str = ""


class Rows(NamedTuple):
    """The rows of a slice. Shapes: x, y (n,); labels (n,): the unit, the ``base`` it descends from,
    the ``cluster`` that is independent of others, the ``stratum`` that association is looked for
    within, the ``arm`` (method); a ``dose`` that is negative where bias was pushed down (n,);
    ``x_resampled``, ``y_resampled`` (n, resamples), the same numbers over words and posts drawn
    alike for all rows, NaN where not known.
    """

    x: Floats
    y: Floats
    unit: Labels
    base: Labels
    cluster: Labels
    stratum: Labels
    arm: Labels
    dose: Floats
    x_resampled: Floats
    y_resampled: Floats

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, units: ArrayLike, bases: ArrayLike = ()) -> Rows:
        """Rows of which no more is known than their units, and maybe the bases of these: without
        them every unit is one.
        """
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        unit, told = (np.asarray(each).astype(str) for each in (units, bases))
        base = told if len(told) else unit
        n, none = len(first), np.full(len(first), "")
        stratum, nothing = strata(unit, base, none), np.zeros((n, 0))
        return cls(first, second, unit, base, base, stratum, none, np.zeros(n), nothing, nothing)

    def known(self) -> Rows:
        """The rows with a score and a gap."""
        return self.at(np.flatnonzero(both_finite(self.x, self.y)))

    def at(self, places: Ints) -> Rows:
        """Some of the rows."""
        return Rows._make(column[places] for column in self)


def strata(unit: Labels, *candidates: Labels) -> Labels:
    """What association is looked for within: the first of the candidates, from the narrowest on, of
    which one has two units; else the last.
    """
    for labels in candidates[:-1]:
        units = set(zip(unit.tolist(), labels.tolist(), strict=True))
        if len(units) > len(set(labels.tolist())):
            return labels
    return candidates[-1]


def evidence(rows: Rows, *, unbiased: float = 0.0, resamples: int = RESAMPLES) -> Evidence:
    """What stands behind the association of x and y; ``unbiased`` is the value of x without bias.

    A unit counts once: where it has several rows (queries that share its gap, classifiers trained
    on it) their means are its values.
    """
    rows = rows.known()
    pairs, names = Pairs.of(rows.x, rows.y, rows.unit)
    n_bases, n_clusters = len(set(rows.base.tolist())), len(set(rows.cluster.tolist()))
    found = Evidence(len(names), n_bases, n_clusters)
    if len(names) < FEWEST_UNITS:
        return found._replace(caution=f"{len(names)} units, fewer than {FEWEST_UNITS}")
    if pairs.constant:
        return found._replace(caution="a side is constant")
    units = _units(rows, pairs.unit)
    found = _total(found, rows, units, unbiased)
    stratum = codes(units.stratum)
    if dependent(codes(units.stratum), codes(units.cluster)):
        return found._replace(caution=DEPENDENT)
    design = indicators(stratum)
    of = residuals(units.x, units.y, design)
    found = found._replace(free=max(0, of.free))
    if not of.defined:
        return found._replace(caution="within bases a side is constant, or nothing is left to tell")
    names = [names[place] for place in of.told]
    found = _within(found, of, names, permutation_p(of, stratum, resamples))
    return _without_noise(_otherwise(found, units, of, design, unbiased), units, of)


def within_interval(rows: Rows) -> Estimate:
    """``within`` with its interval, as ``evidence`` has them."""
    rows = rows.known()
    pairs, names = Pairs.of(rows.x, rows.y, rows.unit)
    if len(names) < FEWEST_UNITS or pairs.constant:
        return Estimate()
    units = _units(rows, pairs.unit)
    if dependent(codes(units.stratum), codes(units.cluster)):
        return Estimate()
    return interval(residuals(units.x, units.y, indicators(codes(units.stratum))))


def dependent(stratum: Ints, cluster: Ints) -> bool:
    """Whether units of one cluster would be taken as independent: they stand in strata that reach
    over clusters. Shapes: (units,), (units,).
    """
    found = set(zip(stratum.tolist(), cluster.tolist(), strict=True))
    clusters = len(set(cluster.tolist()))
    return clusters < len(cluster) and len(set(stratum.tolist())) < len(found)


def codes(names: Labels) -> Ints:
    """Labels as numbers from 0 on."""
    return np.unique(names, return_inverse=True)[1]


def _units(rows: Rows, unit: Ints) -> Rows:
    """One row a unit: means over its rows, and what it descends from."""
    order = np.argsort(unit, kind="stable")
    counts = np.bincount(unit)
    first = np.cumsum(counts) - counts
    sums = [
        np.add.reduceat(each[order], first, axis=0)
        for each in (rows.x, rows.y, rows.x_resampled, rows.y_resampled)
    ]
    x, y, x_resampled, y_resampled = ((each.T / counts).T for each in sums)
    return rows.at(order[first])._replace(
        x=x, y=y, x_resampled=x_resampled, y_resampled=y_resampled
    )


def _within(found: Evidence, of: Residuals, names: Sequence[str], p: float) -> Evidence:
    """With r within bases, its interval and test, and what single units do to it."""
    left_out = without_each(of)
    r = z_interval(of.r, left_out, of.free)
    moved = np.abs(np.nan_to_num(left_out, nan=r.value) - r.value)
    return found._replace(
        within=r.value,
        within_low=r.low,
        within_high=r.high,
        within_p=p,
        within_error=z_error(left_out, of.free)[0],
        influence_low=float(np.nanmin(left_out)),
        influence_high=float(np.nanmax(left_out)),
        influential=names[int(np.argmax(moved))],
    )


def _otherwise(
    found: Evidence, units: Rows, of: Residuals, design: Floats, unbiased: float
) -> Evidence:
    """With other ways that a gap can follow a score."""
    partial = interval(residuals(units.x, units.y, np.hstack([design, _arms(units)])))
    absolute = interval(residuals(np.abs(units.x - unbiased), np.abs(units.y), design))
    distance, distance_p = distance_correlation(of)
    return found._replace(
        partial=partial.value,
        partial_low=partial.low,
        partial_high=partial.high,
        absolute=absolute.value,
        absolute_low=absolute.low,
        absolute_high=absolute.high,
        distance=distance,
        distance_p=distance_p,
    )


def _arms(units: Rows) -> Floats:
    """For each method that modifies: whether it did, and its signed dose."""
    chosen = indicators(codes(units.arm))
    return np.hstack([chosen, chosen * units.dose[:, None]])


def distance_correlation(of: Residuals) -> tuple[float, float]:
    """The bias-corrected distance correlation of what is left of x and y (Székely & Rizzo, 2013)
    and its p (Shen, Panda & Vogelstein, 2022).

    C = sum A B / sqrt(sum A^2 sum B^2),  A, B: distances of x and of y, centred so that C is 0 on
    average where the two are independent;  p = P(chi^2_1 > free C + 1)

    The value is sqrt(max(0, C)), in [0, 1]; NaN below 4 units or where a side is constant.
    """
    if len(of.u) < 4:
        return nan, nan
    xy, xx, yy = (_centred_products(*two) for two in ((of.u, of.v), (of.u, of.u), (of.v, of.v)))
    if not (xx > 0 and yy > 0):
        return nan, nan
    c = xy / sqrt(xx * yy)
    return sqrt(max(0.0, c)), float(scipy.special.chdtrc(1, max(0.0, of.free * c + 1)))


def _centred_products(x: Floats, y: Floats) -> float:
    """sum over i != j of A_ij B_ij, A and B centred so that every row adds up to 0 (Huo & Székely,
    2016), and 0 where that is what rounding leaves.
    """
    n, a, b = len(x), distances(x), distances(y)
    whole = distance_products(x, y)
    found = whole - 2 * float(a @ b) / (n - 2)
    found += float(a.sum()) * float(b.sum()) / ((n - 1) * (n - 2))
    return found if abs(found) > NO_SPREAD * whole else 0.0


def _total(found: Evidence, rows: Rows, units: Rows, unbiased: float) -> Evidence:
    """With the intervals over clusters."""
    sides = _graded(np.abs(units.x - unbiased)), _graded(np.abs(units.y))
    agree = _agreeing(*sides)
    value = float(agree.mean()) / (len(agree) - 1)
    found = found._replace(accuracy=value)
    if found.n_clusters < FEWEST_CLUSTERS:
        return found
    over, _ = Pairs.of(rows.x, rows.y, rows.cluster)
    free = found.n_clusters - 2
    r = weighted_moments(np.ones((1, over.units)), moments(over)).r
    whole = z_interval(float(r[0]), leave_one_out(over), free)
    rho, tau = (z_interval(float(each[0]), each[1:], free) for each in rho_and_tau(over))
    low, high = _ranking_interval(value, sides, agree, codes(units.cluster), free)
    return found._replace(
        r_low=whole.low,
        r_high=whole.high,
        rho_low=rho.low,
        rho_high=rho.high,
        tau_low=tau.low,
        tau_high=tau.high,
        accuracy_low=low,
        accuracy_high=high,
    )


def _agreeing(x: Floats, y: Floats) -> Floats:
    """For each unit with how many others it agrees: which of the two lies nearer to unbiased has
    the smaller gap; half of those with which it ties on a side. Shapes: (n,), (n,) -> (n,).
    """
    return (len(x) - 1 + concordance(x, y)) / 2


def _graded(bias: Floats) -> Floats:
    """Ranks from 0 on, the same for neighbours that are as good as equal."""
    order = np.argsort(bias)
    steps = np.diff(bias[order])
    grades = np.zeros(len(bias))
    grades[order[1:]] = np.cumsum(steps > TIE * float(np.ptp(bias)))
    return grades


def _ranking_interval(
    value: float, sides: tuple[Floats, Floats], agree: Floats, cluster: Ints, free: int
) -> tuple[float, float]:
    """value +- t s, s from leaving out each cluster; cut at 0 and 1."""
    sizes = np.bincount(cluster)
    own = np.bincount(cluster, agree)
    within = np.zeros(len(sizes))
    members = np.split(np.argsort(cluster, kind="stable"), np.cumsum(sizes)[:-1])
    for place in np.flatnonzero(sizes > 1):
        x, y = (side[members[place]] for side in sides)
        within[place] = _agreeing(x, y).sum()
    k, rest = len(sizes), len(cluster) - sizes.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        left: Floats = (own.sum() - 2 * own + within) / (rest * (rest - 1))
    error = sqrt((k - 1) / k * float(((left - float(left.mean())) ** 2).sum()))
    if not isfinite(error) or error == 0:
        return nan, nan
    reach = float(scipy.special.stdtrit(free, 0.975)) * error
    return max(0.0, value - reach), min(1.0, value + reach)


def _without_noise(found: Evidence, units: Rows, of: Residuals) -> Evidence:
    """With the share of the variance that is not noise, and r corrected for noise.

    reliability = 1 - sum_u var_b(c_ub) / sum_u c_u^2

    c_u: the value of unit u freed of its base, c_ub: in resample b of the words or posts, drawn
    alike for all units. What a resample does to all units of a base alike attenuates nothing. What
    stretches all alike attenuates nothing either and is counted as noise: a reliability is rather
    too low.
    """
    x, y = (
        _reliability(side, resampled, of)
        for side, resampled in ((units.x, units.x_resampled), (units.y, units.y_resampled))
    )
    ceiling = sqrt(x.whole * y.whole)
    found = found._replace(reliability_x=x.whole, reliability_y=y.whole, ceiling=ceiling)
    if not (x.whole >= RELIABLE and y.whole >= RELIABLE):
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out: Floats = without_each(of) / np.sqrt(x.without_each * y.without_each)
    r = z_interval(of.r / ceiling, left_out, of.free, 0.9)
    value = max(-1.0, min(1.0, r.value))
    return found._replace(corrected=value, corrected_low=r.low, corrected_high=r.high)


class Reliability(NamedTuple):
    """A reliability, of all units and without each (n,); NaN where it is not known."""

    whole: float
    without_each: Floats


def _reliability(side: Floats, resampled: Floats, of: Residuals) -> Reliability:
    usable = resampled[:, np.isfinite(resampled).all(axis=0)]
    if usable.shape[1] < FEWEST_RESAMPLES:
        return Reliability(nan, np.full(len(of.told), nan))
    noise: Floats = of.freed(usable).var(axis=1, ddof=1)
    variance: Floats = of.freed(side) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        each: Floats = (noise.sum() - noise) / (variance.sum() - variance / (1 - of.leverage))
    whole = 1 - float(noise.sum()) / float(variance.sum())
    return Reliability(max(0.0, whole), np.clip(1 - each, 0, 1))
