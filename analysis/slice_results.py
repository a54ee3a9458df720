"""The result of a slice, and the table of slice results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isfinite, nan, sqrt
from typing import NamedTuple

import pandas as pd

from analysis.correlation import (
    Correlation,
    minimum_detectable,
)
from analysis.naming import SLICE_COLUMNS
from analysis.observations import Line
from analysis.reliability import NoiseShares
from analysis.scopes import widen
from stats.intervals import Estimate

FEW_PERMUTATIONS = 999  # permutations of a slice without verdict
THESE, DOSES, METHODS, PARENTS = SCOPES = (
    "these conditions",
    "other doses and words",
    "other methods",
    "other parents",
)
GIVEN_CONDITION, GIVEN_UTILITY = "within a condition", "given utility"
MIN_CONDITIONS = 10  # for 8 degrees of freedom over conditions
RESULT_COLUMNS = (
    *("n", "n_parents", "n_conditions", "n_methods", "n_lost"),
    *("r_rm", "low", "high", "p", "p_holm"),
    *("slope", "slope_low", "slope_high", "gap_change"),
    *("verdict", "scope", "why", "mde", "reliability_x", "reliability_y", "synthetic", "note"),
)
SCOPE_COLUMNS = (
    *("scope", "n", "r", "low", "high", "p", "slope", "slope_low", "slope_high", "note"),
)
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *RESULT_COLUMNS)


class SliceResult(NamedTuple):
    """The result of a slice, named by the columns it is sliced by.

    ``n``: models with a score, a gap and another model of their parent; ``n_parents``,
    ``n_conditions``, ``n_methods``: 0 where unknown; ``parent_noun``: what parents differ in;
    ``lost``: models without a score or a gap; ``planned``: all models. ``within``: r_rm, whose
    interval and p are the wider of those over ``models`` and over ``parents``. A ``full`` slice
    (one that may get a verdict) also has r over ``conditions`` and over ``methods``, given the
    condition and given the task's utility; ``noise_x``, ``noise_y``: shares of the variance within
    parents that are noise; ``slope_without_noise``: the slope on scores without noise of their own,
    ``score_range``: the range of the scores that it is taken over; ``nonlinear``: why r does not
    describe the relation.
    ``saturated``, ``refused``: why there can be no verdict. ``tests``: number of confirmatory
    slices that p is adjusted over. ``reverse_scored``: the sign of the score is changed. ``sign``:
    that sign, NaN where parts differ; ``line``: the line of r_rm, for the score as measured.
    """

    names: dict[str, str]
    within: Correlation = Correlation()
    models: Correlation = Correlation()
    parents: Correlation = Correlation()
    conditions: Correlation = Correlation()
    methods: Correlation = Correlation()
    given_condition: Correlation = Correlation()
    given_utility: Correlation = Correlation()
    n: int = 0
    n_parents: int = 0
    n_conditions: int = 0
    n_methods: int = 0
    n_clusters: int = 0
    parent_noun: str = "parent"
    lost: int = 0
    planned: int = 0
    noise_x: NoiseShares = NoiseShares()
    noise_y: NoiseShares = NoiseShares()
    slope_without_noise: Estimate = Estimate()
    score_range: float = nan
    nonlinear: str = ""
    influential: str = ""
    saturated: str = ""
    refused: str = ""
    confirmatory: bool = False
    tests: int = 0
    p_holm: float = nan
    verdict: str = ""
    scope: str = ""
    why: str = ""
    synthetic: bool = False
    reverse_scored: bool = False
    sign: float = 1.0
    group_by: str = ""
    lost_models: str = ""
    heterogeneity: str = ""
    line: Line = Line()

    @property
    def are_opposite(self) -> bool:
        """Whether a verdict for these conditions has another sign than the means of conditions."""
        return self.scope.startswith(THESE) and self.conditions.r * self.within.r < 0

    @property
    def slope(self) -> Estimate:
        """Return the change of the gap where the score, as measured, is 1 larger.

        Over the means of conditions where these are enough, else over models, as for a verdict that
        holds for these conditions and whose sign the means do not share; with the wider interval of
        what the verdict holds for.
        """
        of_conditions = isfinite(self.conditions.r) and not self.are_opposite
        leading = self.conditions if of_conditions else self.within
        if self.scope.startswith(METHODS):
            leading = widen(leading, self.methods)
        return leading.slope.times(self.sign)

    @property
    def slope_corrected(self) -> Estimate:
        """Return the slope on scores, as measured, without noise of their own (attenuation)."""
        return Estimate() if self.are_opposite else self.slope_without_noise.times(self.sign)

    @property
    def gap_change(self) -> float:
        """Return how far the gap moves over the range that the score was moved, by the slope."""
        return self.slope.value * self.score_range

    @property
    def reliability_x(self) -> float:
        """Return the share of the scores' variance within parents that is no model's own noise.

        At least r_rm^2: noise proper to models cannot make two sides agree (Spearman, 1904).
        """
        return max(self.noise_x.reliability, self.within.r**2)

    @property
    def reliability_y(self) -> float:
        """Return the share of the gaps' variance within parents that is no model's own noise."""
        return max(self.noise_y.reliability, self.within.r**2)

    @property
    def noise_ceiling(self) -> float:
        """Return the largest |r| that proper and shared noise allow; NaN where unknown."""
        return sqrt(self.noise_x.stable * self.noise_y.stable)

    @property
    def mde(self) -> float:
        """Return the |r| that about four of five such studies detect."""
        error = self.within.sampling.error
        tests = max(1, self.tests)
        parents_df = self.parents.df if isfinite(self.parents.r) else inf
        sampling = error if isfinite(error) else 0.0
        return minimum_detectable(self.within.df, tests, sampling, parents_df)

    def scopes(self) -> dict[str, Correlation]:
        """Return r by what it holds for, widest last, without scopes that were not asked."""
        correlations = {
            THESE: self.models,
            DOSES: self.conditions,
            METHODS: self.methods,
            PARENTS: self.parents,
            GIVEN_CONDITION: self.given_condition,
            GIVEN_UTILITY: self.given_utility,
        }
        return {name: part for name, part in correlations.items() if part.n}

    @property
    def note(self) -> str:
        """Return the warnings about the slice."""
        reverse = "reverse-scored: less of the score is more biased" if self.reverse_scored else ""
        lost = f"lost: {self.lost_models}" if self.lost_models else ""
        refused = "" if self.confirmatory else self.refused
        influential = f"most influential: {self.influential}" if self.influential else ""
        notes = (self.within.reason, refused, lost, self.heterogeneity, reverse, influential)
        return "; ".join(filter(None, notes))


def correlation_table(
    results: Iterable[SliceResult], columns: Sequence[str] = CORRELATION_COLUMNS
) -> pd.DataFrame:
    """Return one row per slice result, in the given columns."""
    return pd.DataFrame([_row(result) for result in results], columns=list(columns))


def _row(result: SliceResult) -> dict[str, object]:
    within, slope = result.within, result.slope
    row: dict[str, object] = {name: getattr(result, name, None) for name in RESULT_COLUMNS}
    row |= {"r_rm": within.r, "low": within.low, "high": within.high, "p": within.p}
    row |= {"n_lost": result.lost}
    row |= {"slope": slope.value, "slope_low": slope.low, "slope_high": slope.high}
    return row | result.names  # last: a column sliced by may have the name of a result


def scope_table(results: Iterable[SliceResult]) -> pd.DataFrame:
    """Return one row per slice and scope: r and slope with intervals, or why there is none."""
    rows = [
        result.names | _scope_row(scope, correlation, result.sign)
        for result in results
        for scope, correlation in result.scopes().items()
    ]
    names = list(dict.fromkeys(name for result in results for name in result.names))
    return pd.DataFrame(rows, columns=[*names, *SCOPE_COLUMNS])


def _scope_row(scope: str, correlation: Correlation, sign: float) -> dict[str, object]:
    slope = correlation.slope.times(sign)
    row: dict[str, object] = {"scope": scope, "n": correlation.n, "note": correlation.reason}
    row |= dict(zip(("r", "low", "high", "p"), correlation[:4], strict=True))
    return row | dict(zip(("slope", "slope_low", "slope_high"), slope, strict=True))
