"""What stands behind the correlation of a slice: how many embeddings, of how many origins; the
association within origins with its test; intervals, influence, noise and ranking.
"""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.clusters import Pairs, leave_one_out, moments, rho_and_tau, weighted_moments
from analysis.distance_correlation import distance_correlation
from analysis.naming import UNMODIFIED, counted
from analysis.permutation import Exchange, permutation_ps
from analysis.reliability import Trainings, ceiling, corrected, reliability, trainings
from analysis.right_picks import RightPicks
from analysis.shared_error import SharedError, Side, shared_error, shifts
from analysis.units import Resampled, Rows, codes, dependent, one_a_unit
from analysis.within import (
    FEWEST_FREE,
    Estimate,
    Residuals,
    indicators,
    interval,
    residuals,
    unit_error,
    without_each,
    without_groups,
    z_error,
    z_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.arrays import Floats, Ints

FEWEST_UNITS = 3
FEWEST_CLUSTERS = 5  # below, intervals over clusters are as wide as [-1, 1] or do not hold
FEWEST_ARMS = 9  # the same of modifications, none among them
RESAMPLES = 9_999
NO_SHIFTS: Floats = np.zeros(0)
DEPENDENT = (
    "nothing was modified, and embeddings of one corpus or seed are no witnesses of their own; see"
    " each training algorithm by itself"
)


class Evidence(NamedTuple):
    """What speaks for or against an association of score and gap; NaN where it cannot be had.

    * ``n_units``: embeddings with a score and a gap; ``n_bases``: the unmodified embeddings that
      they descend from; ``n_clusters``: what is independent of one another (corpora, seeds where
      corpora are generated, or the bases where all share one of these).
    * ``within``: r of score and gap over units, both freed of their base, with its 95% interval and
      the permutation ``within_p``; ``free``: its degrees of freedom. This is what verdicts are
      about: does the gap follow the score when an embedding is modified? Where no base has two
      units they are freed of the training algorithm, by cluster where one has two units of an
      algorithm, and the corpora that algorithms share are the units (``Rows.by_corpus``); in a
      foreign table of nothing. Not where units of one cluster would count as
      independent. Interval and p have three errors: ``within_error`` of z = atanh(r) over units,
      ``words_error`` and ``items_error`` of r / sqrt(1 - r^2) by the choice of words and of test
      items, which units share; NaN where these were not resampled.
    * ``across_low``, ``across_high``: the 95% interval of ``within`` for other seeds too, whose
      gaps may follow their scores otherwise: from leaving out clusters, from 5 on.
    * ``influence_low``, ``influence_high``: least and largest ``within`` without one unit,
      ``influential``: the unit whose loss moves it most.
    * ``arms_low``, ``arms_high``: that for other modifications too (methods, words, directions,
      doses), from leaving out each of ``n_arms``, and what is not modified, from 9 in all on.
    * ``partial``: the same, freed of each modification too; ``absolute``: the same of |score| and
      |gap| (a gap that opens with bias of either sign); ``distance``: distance correlation in [0,
      1] of the freed values, with its p: dependence of any shape.
    * ``r_low``, ``r_high``: 95% interval of Pearson's r over all rows, for units of other bases
      too, from leaving out clusters; ``rho_*``, ``tau_*``: those of rho and tau. From 5 clusters.
    * ``spread_y``: the standard deviation of gaps within bases; ``training_sd``: that from one
      training of the classifier to the next on the same embedding and posts, where there are
      replicates; ``training_share``: how much of the variance within bases (of means over
      replicates) that is.
    * ``reliability_x``, ``reliability_y``: the share of the variance within bases that is not noise
      of the choice of words and posts, or of trainings where that is known; ``ceiling``: the
      largest |within| that such noise lets through; ``corrected``: ``within`` divided by it
      (Spearman, 1904), with its 90% interval.
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
    words_error: float = nan
    items_error: float = nan
    across_low: float = nan
    across_high: float = nan
    n_arms: int = 0
    arms_low: float = nan
    arms_high: float = nan
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
    spread_y: float = nan
    training_sd: float = nan
    training_share: float = nan
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

    @property
    def shared(self) -> float:
        """The error that units share, of r within bases / sqrt(1 - r^2)."""
        return SharedError(self.words_error, self.items_error).whole


class Described(NamedTuple):
    """The evidence about a slice without its p-value, and what that takes; and what each resample
    of words and items does to its r (``analysis.shared_error.shifts``).
    """

    evidence: Evidence
    exchange: Exchange | None = None
    shifts: Floats = NO_SHIFTS


def evidence(rows: Rows, *, unbiased: float = 0.0, resamples: int = RESAMPLES) -> Evidence:
    """What stands behind the association of x and y; ``unbiased`` is the value of x without bias,
    NaN where it has none: then there is no right pick, and no ``absolute`` bias.

    A unit counts once: where it has several rows (queries that share its gap, classifiers trained
    on it) their means are its values, all over the same ones (``Rows.comparable``).
    """
    return tested([described(rows, unbiased=unbiased)], resamples)[0]


def tested(found: Sequence[Described], resamples: int) -> list[Evidence]:
    """The evidence about several slices: permuted together, they take a fraction of the time."""
    p = permutation_ps([each.exchange for each in found], resamples)
    return [each.evidence._replace(within_p=own) for each, own in zip(found, p, strict=True)]


def described(rows: Rows, *, unbiased: float = 0.0) -> Described:
    """What ``evidence`` finds without permutations."""
    rows = rows.comparable()
    pairs, names = Pairs.of(rows.x, rows.y, rows.unit)
    n_bases, n_clusters = len(set(rows.base.tolist())), len(set(rows.cluster.tolist()))
    found = Evidence(len(names), n_bases, n_clusters)
    if len(names) < FEWEST_UNITS:
        few = f"{counted(len(names), 'unit')}, fewer than {FEWEST_UNITS}"
        return Described(found._replace(caution=few))
    if pairs.constant:
        return Described(found._replace(caution="a side is constant"))
    units = one_a_unit(rows, pairs.unit)
    found = _total(found, rows, units, unbiased)
    stratum = codes(units.stratum)
    if dependent(stratum, codes(units.cluster)):
        return Described(found._replace(caution=DEPENDENT))
    of = residuals(units.x, units.y, stratum)
    found = found._replace(free=max(0, of.free))
    if not of.defined:
        nothing = "within bases a side is constant, or nothing is left to tell"
        return Described(found._replace(caution=nothing))
    shared = _shared(of, units)
    found = found._replace(words_error=shared.words, items_error=shared.items)
    found = _within(found, of, [names[place] for place in of.told])
    found = _across(found, units, of)
    found = _arms(found, units, of)
    found = _otherwise(found, units, of, stratum, unbiased)
    found = _without_noise(found, units, of, trainings(rows, pairs.unit))
    known = abs(of.r) < 1
    moved = shifts(of, *_sides(units)) if known else NO_SHIFTS
    return Described(found, Exchange.of(of, stratum, found.shared), moved)


def _shared(of: Residuals, units: Rows) -> SharedError:
    return shared_error(of, *_sides(units))


def _sides(rows: Rows) -> tuple[Side, Side]:
    return Side(rows.x, rows.x_resampled.told()), Side(rows.y, rows.y_resampled.told())


def within_interval(rows: Rows) -> tuple[Estimate, int]:
    """``within`` with its interval, and of how many units, as ``evidence`` has them."""
    rows = rows.comparable()
    pairs, names = Pairs.of(rows.x, rows.y, rows.unit)
    if len(names) < FEWEST_UNITS or pairs.constant:
        return Estimate(), len(names)
    units = one_a_unit(rows, pairs.unit)
    if dependent(codes(units.stratum), codes(units.cluster)):
        return Estimate(), len(names)
    of = residuals(units.x, units.y, codes(units.stratum))
    return interval(of, shared=_shared(of, units).whole), len(names)


def _within(found: Evidence, of: Residuals, names: Sequence[str]) -> Evidence:
    """With r within bases, its interval, and what single units do to it."""
    left_out = without_each(of)
    error = unit_error(of, left_out)
    r = z_interval(of.r, error, shared=found.shared)
    moved = np.abs(np.nan_to_num(left_out, nan=r.value) - r.value)
    return found._replace(
        within=r.value,
        within_low=r.low,
        within_high=r.high,
        within_error=error.size,
        influence_low=float(np.nanmin(left_out)),
        influence_high=float(np.nanmax(left_out)),
        influential=names[int(np.argmax(moved))],
    )


def _across(found: Evidence, units: Rows, of: Residuals) -> Evidence:
    """With the interval over clusters, where no stratum lies in several."""
    cluster, stratum = codes(units.cluster), codes(units.stratum)
    crossed = len({*zip(cluster, stratum, strict=True)}) > len({*stratum})
    if found.n_clusters < FEWEST_CLUSTERS or crossed:
        return found
    own = cluster[of.told]
    shared = shared_error(of, *_sides(units), own).whole
    left_out = without_groups(of, own)
    r = z_interval(of.r, z_error(left_out, len(left_out) - 1), shared=shared)
    return found._replace(across_low=r.low, across_high=r.high)


def _arms(found: Evidence, units: Rows, of: Residuals) -> Evidence:
    """With the interval over modifications."""
    names = units.modification[of.told]
    own = codes(names)
    arms = len({*own.tolist()})
    found = found._replace(n_arms=len({*names.tolist()} - {UNMODIFIED, ""}))
    if arms < FEWEST_ARMS:
        return found
    shared = shared_error(of, *_sides(units), own).whole
    error = z_error(without_groups(of, own), arms - 2)
    r = z_interval(of.r, error, shared=shared)
    return found._replace(arms_low=r.low, arms_high=r.high)


def _otherwise(
    found: Evidence, units: Rows, of: Residuals, stratum: Ints, unbiased: float
) -> Evidence:
    """With other ways that a gap can follow a score."""
    apart = residuals(units.x, units.y, stratum, indicators(codes(units.modification)))
    partial = Estimate()
    if apart.free >= FEWEST_FREE:
        partial = interval(apart, shared=_shared(apart, units).whole)
    sizes = units._replace(
        x=np.abs(units.x - unbiased),
        y=np.abs(units.y),
        x_resampled=Resampled.of(np.abs(units.x_resampled.told() - unbiased)),
        y_resampled=Resampled.of(np.abs(units.y_resampled.told())),
    )
    size = residuals(sizes.x, sizes.y, stratum)
    known = isfinite(unbiased)
    absolute = interval(size, shared=_shared(size, sizes).whole) if known else Estimate()
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


def _total(found: Evidence, rows: Rows, units: Rows, unbiased: float) -> Evidence:
    """With the intervals over clusters."""
    picks = RightPicks.of(np.abs(units.x - unbiased), np.abs(units.y))
    if isfinite(unbiased):
        found = found._replace(accuracy=picks.accuracy)
    if found.n_clusters < FEWEST_CLUSTERS:
        return found
    over, _ = Pairs.of(rows.x, rows.y, rows.cluster)
    free = found.n_clusters - 2
    r = weighted_moments(np.ones((1, over.units)), moments(over)).r
    every = residuals(rows.x, rows.y, np.zeros(len(rows.x), dtype=np.intp))
    shared = shared_error(every, *_sides(rows), codes(rows.cluster)).whole
    whole = z_interval(float(r[0]), z_error(leave_one_out(over), free), shared=shared)
    rho, tau = (z_interval(float(each[0]), z_error(each[1:], free)) for each in rho_and_tau(over))
    low, high = picks.interval(codes(units.cluster), free) if isfinite(unbiased) else (nan, nan)
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


def _without_noise(found: Evidence, units: Rows, of: Residuals, trained: Trainings) -> Evidence:
    """With the share of the variance that is not noise, and r corrected for noise."""
    x = reliability(units.x, units.x_resampled.told(), of)
    y = reliability(units.y, units.y_resampled.told(), of, trained)
    r = corrected(of, x, y, found.shared)
    return found._replace(
        spread_y=sqrt(float((of.freed(units.y) ** 2).sum()) / (of.free + 1)),
        training_sd=trained.sd,
        training_share=trained.share(units.y, of),
        reliability_x=x.whole,
        reliability_y=y.whole,
        ceiling=ceiling(x, y),
        corrected=r.value,
        corrected_low=r.low,
        corrected_high=r.high,
    )
