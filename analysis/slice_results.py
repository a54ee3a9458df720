"""The result of a slice, and the tables of slice results and of what they hold for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import NamedTuple

import pandas as pd
import scipy

from biasbridge.analysis.correlation import Correlation
from biasbridge.analysis.linearity import Nonlinearity
from biasbridge.analysis.naming import SLICE_COLUMNS
from biasbridge.analysis.observations import Line
from biasbridge.analysis.reliability import NoiseShares
from biasbridge.analysis.scopes import DOSES, MINIMUM, RUNS
from biasbridge.stats.intervals import Estimate
from biasbridge.stats.multiple_testing import LEVEL

FEW_PERMUTATIONS = 999  # permutations of a slice without verdict
DECLARED_COLUMNS = (
    *("gap_unmodified", "score_low", "score_high", "change", "change_low", "change_high"),
    *("verdict", "why", "detectable_change", "p_holm"),
)
RESULT_COLUMNS = (
    *("n", "n_parents", "n_conditions", "n_lost", *DECLARED_COLUMNS),
    *("r_rm", "low", "high", "r_pearson", "r_given_utility", "reliability_y"),
    *("synthetic", "note"),
)
SCOPE_COLUMNS = ("scope", "holds", "n", "needed", "change", "change_low", "change_high", "note")
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *RESULT_COLUMNS)
EXPLORATORY_COLUMNS = tuple(
    "p" if name == "p_holm" else name
    for name in CORRELATION_COLUMNS
    if name not in ("verdict", "why", "detectable_change")
)


class SliceResult(NamedTuple):
    """The result of a slice, named by the columns it is sliced by.

    ``scopes``: r_rm and slope by what they hold for, these runs first. ``n``: models with a score,
    a gap and another model of their parent; ``n_parents``, ``n_conditions``: 0 where unknown;
    ``lost``: models without a score or a gap; ``planned``: all models. ``gap_unmodified``: mean
    over the unmodified models; ``score_low``, ``score_high``: between which conditions moved the
    score. ``noise_x``, ``noise_y``: shares of the variance within parents that are noise;
    ``slope_without_noise``: the slope on scores without noise of their own; ``nonlinear``:
    whether one line describes the relation. ``saturated``, ``refused``: why there can be no
    verdict. ``tests``: number of confirmatory slices that ``p_holm``, of the scope of the verdict,
    is adjusted over; ``holds``: yes, no or too few by scope. ``reverse_scored``: the sign of the
    score is changed. ``sign``: that sign, NaN where parts differ; ``line``: the line of r_rm, for
    the score as measured.
    """

    names: dict[str, str]
    scopes: Mapping[str, Correlation] = {RUNS: Correlation()}
    n: int = 0
    n_parents: int = 0
    n_conditions: int = 0
    n_clusters: int = 0
    lost: int = 0
    planned: int = 0
    gap_unmodified: float = nan
    score_low: float = nan
    score_high: float = nan
    r_pearson: float = nan
    given_utility: Correlation = Correlation()
    noise_x: NoiseShares = NoiseShares()
    noise_y: NoiseShares = NoiseShares()
    slope_without_noise: Estimate = Estimate()
    nonlinear: Nonlinearity = Nonlinearity()
    influential: str = ""
    saturated: str = ""
    refused: str = ""
    confirmatory: bool = False
    tests: int = 0
    p_holm: float = nan
    holds: Mapping[str, str] = {}
    verdict: str = ""
    why: str = ""
    synthetic: bool = False
    reverse_scored: bool = False
    sign: float = 1.0
    group_by: str = ""
    lost_models: str = ""
    heterogeneity: str = ""
    line: Line = Line()

    @property
    def within(self) -> Correlation:
        """Return r_rm of models within parents: of these runs."""
        return self.scopes[RUNS]

    @property
    def claimed(self) -> str:
        """Return the scope of the verdict: other doses where these can be judged, else these
        runs.
        """
        return DOSES if isfinite(self.scopes.get(DOSES, Correlation()).r) else RUNS

    @property
    def change(self) -> Estimate:
        """Return the change of the gap over the range of the score, in the scope of the verdict."""
        return self.change_in(self.claimed)

    def change_in(self, scope: str) -> Estimate:
        """Return b times the range over which conditions moved the score, with the interval of a
        scope.
        """
        slope, span = self.scopes.get(scope, Correlation()).slope, self.score_high - self.score_low
        return Estimate(*(span * end for end in slope))

    def change_at(self, level: float) -> Estimate:
        """Return the change, without the noise of scores where that is known, with an interval of
        another level.
        """
        corrected, span = self.slope_without_noise, self.score_high - self.score_low
        slope = corrected if isfinite(corrected.low) else self.scopes[self.claimed].slope
        value, low, high = (span * end for end in slope)
        df = self.scopes[self.claimed].df
        t, t_95 = scipy.special.stdtrit(df, [(1 + level) / 2, 1 - LEVEL / 2]).tolist()
        return Estimate(value, value - (value - low) * t / t_95, value + (high - value) * t / t_95)

    @property
    def detectable_change(self) -> float:
        """Return the change that about four of five such studies detect, p adjusted for the tests.

        (t(1 - .05 / (2 tests)) + t(.8)) times the standard error of the change.
        """
        value, _, high = self.change
        df = self.scopes[self.claimed].df
        if not (isfinite(high) and df > 0):
            return nan
        adjusted = 1 - LEVEL / (2 * max(1, self.tests))
        own, tested, power = scipy.special.stdtrit(df, [1 - LEVEL / 2, adjusted, 0.8])
        return (high - value) / float(own) * float(tested + power)

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
    within, change = result.within, result.change
    row: dict[str, object] = {name: getattr(result, name, None) for name in RESULT_COLUMNS}
    row |= {"r_rm": within.r, "low": within.low, "high": within.high, "p": within.p}
    row |= {"change": change.value, "change_low": change.low, "change_high": change.high}
    row |= {"n_lost": result.lost, "r_given_utility": result.given_utility.r}
    ends = sorted((result.sign * result.score_low, result.sign * result.score_high))
    row |= dict(zip(("score_low", "score_high"), ends, strict=True))  # as measured
    return row | result.names  # last: a column sliced by may have the name of a result


def scope_table(results: Iterable[SliceResult]) -> pd.DataFrame:
    """Return one row per declared slice and scope: the change with its interval, and whether it
    holds.
    """
    results = [result for result in results if result.confirmatory]
    rows = [
        result.names | _scope_row(result, scope) for result in results for scope in result.scopes
    ]
    names = list(dict.fromkeys(name for result in results for name in result.names))
    return pd.DataFrame(rows, columns=[*names, *SCOPE_COLUMNS])


def _scope_row(result: SliceResult, scope: str) -> dict[str, object]:
    correlation, change = result.scopes[scope], result.change_in(scope)
    return {
        "scope": scope,
        "holds": result.holds.get(scope, ""),
        "n": correlation.n,
        "needed": MINIMUM[scope],
        **dict(zip(("change", "change_low", "change_high"), change, strict=True)),
        "note": correlation.reason,
    }
