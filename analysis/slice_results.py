"""The result of a slice, and the table of slice results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.correlation import PERMUTATIONS, Correlation, minimum_detectable
from analysis.frame import group_indices
from analysis.naming import CONTROL, ORIGINAL, SLICE_COLUMNS
from analysis.observations import Line, observations
from analysis.reliability import NoiseShares, noise_shares

if TYPE_CHECKING:
    from analysis.observations import Observations
    from analysis.rows import Rows
    from stats.intervals import Estimate

MAX_EQUAL_SHARE = 0.5  # share of models with the same score, or gap: more is saturation
MAX_MODEL_SHARE = 2 / 3  # share of the variance within parents that one model may carry
FEW_PERMUTATIONS = 999  # permutations of a slice without verdict
MIN_CONDITIONS = 10  # for 8 degrees of freedom over conditions
RESULT_COLUMNS = (
    *("n", "n_parents", "n_conditions", "n_clusters", "lost"),
    *("r_rm", "low", "high", "p", "p_holm", "verdict", "scope", "why"),
    *("r_conditions", "low_conditions", "high_conditions", "p_conditions"),
    *("slope", "slope_low", "slope_high"),
    *("slope_conditions", "slope_conditions_low", "slope_conditions_high"),
    *("r_given_condition", "low_given_condition", "high_given_condition"),
    *("r_given_utility", "low_given_utility", "high_given_utility"),
    *("low_clusters", "high_clusters", "mde", "sampling_error"),
    *("reliability_x", "reliability_y"),
    *("most_influential", "synthetic", "note"),
)
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *RESULT_COLUMNS)


class SliceResult(NamedTuple):
    """The result of a slice, named by the columns it is sliced by.

    ``n``: models with a score, a gap and another model of their parent; ``n_parents``,
    ``n_conditions``: 0 where unknown; ``lost``: models without a score or a gap; ``planned``: all
    models. ``within``: r_rm, for these conditions. A ``full`` slice (one that may get a verdict)
    also has r over ``conditions``, given the condition and given the task's utility; ``noise_x``,
    ``noise_y``: shares of the variance within parents that are noise. ``saturated``, ``refused``:
    why there can be no verdict. ``tests``: number of confirmatory slices that p is adjusted over.
    ``reverse_scored``: the sign of the score is changed. ``sign``: that sign, NaN where parts
    differ; ``line``: the line of r_rm, for the score as measured.
    """

    names: dict[str, str]
    within: Correlation = Correlation()
    conditions: Correlation = Correlation()
    given_condition: Correlation = Correlation()
    given_utility: Correlation = Correlation()
    n: int = 0
    n_parents: int = 0
    n_conditions: int = 0
    n_clusters: int = 0
    lost: int = 0
    planned: int = 0
    noise_x: NoiseShares = NoiseShares()
    noise_y: NoiseShares = NoiseShares()
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
    def slope(self) -> Estimate:
        """Return the change of the gap where the score, as measured, is 1 larger."""
        return self.within.slope.times(self.sign)

    @property
    def slope_conditions(self) -> Estimate:
        """Return the slope of the means of conditions."""
        return self.conditions.slope.times(self.sign)

    @property
    def reliability_x(self) -> float:
        """Return the share of the scores' variance within parents that is no model's own noise."""
        return self.noise_x.reliability

    @property
    def reliability_y(self) -> float:
        """Return the share of the gaps' variance within parents that is no model's own noise."""
        return self.noise_y.reliability

    @property
    def noise_ceiling(self) -> float:
        """Return the largest |r| that proper and shared noise allow; NaN where unknown."""
        return sqrt(self.noise_x.stable * self.noise_y.stable)

    @property
    def mde(self) -> float:
        """Return the |r| that about four of five such studies detect."""
        error = self.within.sampling.error
        tests = max(1, self.tests)
        return minimum_detectable(self.within.df, tests, error if isfinite(error) else 0.0)

    @property
    def note(self) -> str:
        """Return the warnings about the slice."""
        reverse = "reverse-scored: less of the score is more biased" if self.reverse_scored else ""
        lost = f"lost: {self.lost_models}" if self.lost_models else ""
        refused = "" if self.confirmatory else self.refused
        notes = (self.within.reason, refused, lost, self.heterogeneity, reverse)
        return "; ".join(filter(None, notes))


def measure(
    rows: Rows,
    names: dict[str, str],
    *,
    full: bool,
    permutations: int = PERMUTATIONS,
) -> SliceResult:
    """Measure the rows of a slice, without a verdict."""
    comparable = rows.comparable()
    planned, retained_models = set(rows.model.tolist()), set(comparable.model.tolist())
    models = observations(comparable, trained=full)
    with_parents, independent = models.with_parents(), models.independent()
    within = independent.within(permutations)
    conditions, parents = (
        set(names.tolist()) - {""} for names in (with_parents.condition, with_parents.parent)
    )
    result = SliceResult(
        names,
        within,
        n=len(with_parents.x),
        n_parents=len(parents),
        n_conditions=len(conditions) if len(conditions) > 1 else 0,
        n_clusters=len(set(with_parents.cluster.tolist()) - {""}),
        lost=len(planned - retained_models),
        planned=len(planned),
        lost_models=lost_models(rows, comparable),
        line=models.line(),
    )
    if within.influential >= 0:
        model = independent.model[within.influential]
        result = result._replace(influential=f"{model} (without: {within.without:.2f})")
    if not full or not isfinite(within.r):
        return result
    residuals, noise = independent.residuals(), independent.noise
    x, x_resampled = independent.x, independent.x_resampled
    y, y_resampled = independent.y, independent.y_resampled
    result = result._replace(
        saturated=saturation_reason(with_parents, independent),
        given_utility=independent.given_utility(permutations),
        noise_x=noise_shares(residuals, x, x_resampled, comparable.x_resampled.size, 0 * noise),
        noise_y=noise_shares(residuals, y, y_resampled, comparable.y_resampled.size, noise),
    )
    if result.n_conditions < 2:
        return result
    return result._replace(
        conditions=independent.over_conditions(permutations)
        if result.n_conditions >= MIN_CONDITIONS
        else Correlation(),
        given_condition=independent.given_condition(permutations),
    )


def saturation_reason(models: Observations, independent: Observations) -> str:
    """Return why a side varies too little for a verdict; empty where it does not.

    A side is saturated if its value is exactly equal in most models, or if one model carries most
    of its variance within parents. ``independent``: the same models as r_rm uses them.
    """
    residuals = independent.residuals()
    for name, raw, side in (("score", models.x, residuals.u), ("gap", models.y, residuals.v)):
        values, counts = np.unique(raw, return_counts=True)
        top = int(counts.argmax())
        if counts[top] > MAX_EQUAL_SHARE * len(raw):
            count = f"{counts[top]} of {len(raw)} models"
            return f"the {name} is exactly {values[top]:.3g} in {count}"
        shares = side**2 / float(side @ side)
        if shares.max() > MAX_MODEL_SHARE:
            model_name = independent.model[residuals.indices[int(shares.argmax())]]
            share = f"{shares.max():.0%} of the variance of the {name}"
            return f"one model ({model_name}) carries {share}"
    return ""


def lost_models(rows: Rows, comparable: Rows) -> str:
    """Return the lost models by method, and the kinds of rows left out, with the models that lack
    them: ``1 of 32 balance; cnn left out (8 of 32 balance lack it)``.
    """
    methods = dict(zip(rows.model.tolist(), rows.method.tolist(), strict=True))
    n_by_method = Counter(methods.values())

    def without(present_models: Iterable[str]) -> str:
        n_lost = Counter(methods[model] for model in methods.keys() - set(present_models))
        names = [ORIGINAL if method == CONTROL else method for method in n_by_method]
        lost = zip(names, n_by_method.items(), strict=True)
        return ", ".join(
            f"{n_lost[method]} of {n} {name}" for name, (method, n) in lost if n_lost[method]
        )

    parts = [without(comparable.model.tolist())]
    if len(comparable.model):
        complete = rows.at(np.flatnonzero(rows.is_complete))
        rows_by_kind = group_indices(_kinds(complete))
        used_kinds = set(_kinds(comparable))
        words = {kind: " ".join(kind).split() for kind in rows_by_kind}
        shared = set.intersection(*map(set, words.values()))
        for kind, places in rows_by_kind.items():
            if kind not in used_kinds:
                name = " ".join(w for w in words[kind] if w not in shared) or "the rest"
                lost = without(complete.model[places].tolist())
                parts.append(f"{name} left out ({lost} lack it)")
    return "; ".join(filter(None, parts))


def _kinds(rows: Rows) -> list[tuple[str, str]]:
    return list(zip(rows.setting.tolist(), rows.score_gap.tolist(), strict=True))


def correlation_table(
    results: Iterable[SliceResult], columns: Sequence[str] = CORRELATION_COLUMNS
) -> pd.DataFrame:
    """Return one row per slice result, in the given columns."""
    return pd.DataFrame([_row(result) for result in results], columns=list(columns))


def _row(result: SliceResult) -> dict[str, object]:
    within, conditions = result.within, result.conditions
    row: dict[str, object] = {name: getattr(result, name, None) for name in RESULT_COLUMNS}
    row |= {"r_rm": within.r, "low": within.low, "high": within.high, "p": within.p}
    row |= {"r_conditions": conditions.r, "p_conditions": conditions.p}
    for name, correlation in (
        ("conditions", conditions),
        ("given_condition", result.given_condition),
        ("given_utility", result.given_utility),
    ):
        row |= {
            f"r_{name}": correlation.r,
            f"low_{name}": correlation.low,
            f"high_{name}": correlation.high,
        }
    for name, slope in (("slope", result.slope), ("slope_conditions", result.slope_conditions)):
        row |= {name: slope.value, f"{name}_low": slope.low, f"{name}_high": slope.high}
    row |= {"low_clusters": within.low_clusters, "high_clusters": within.high_clusters}
    row |= {"sampling_error": within.sampling.error, "most_influential": result.influential}
    return row | result.names  # last: a column sliced by may have the name of a result
