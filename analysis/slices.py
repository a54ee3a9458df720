"""Slices of a joined table: their rows, what is measured of them, and the table of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy

from biasbridge.analysis.condition_effects import (
    Cells,
    EqualScores,
    GapEffects,
    equal_scores,
    gap_effects,
    share_explained,
)
from biasbridge.analysis.correlation import (
    PERMUTATIONS,
    ROUNDING,
    Correlation,
    demeaned,
    slope_estimate,
    slope_sampling_error,
)
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    ORIGINAL,
    POOLED_OVER,
    REVERSED_SIGN,
    SLICE_COLUMNS,
    SMALLEST_CHANGE,
    gap_titles,
    score_titles,
)
from biasbridge.analysis.observations import SlopeLine, reliability
from biasbridge.analysis.scopes import DOSES, MINIMUM, RUNS, measure_scopes
from biasbridge.analysis.tables import group_indices
from biasbridge.files.columns import as_text, text_rows
from biasbridge.stats.formatting import format_number
from biasbridge.stats.intervals import ALPHA, Estimate

if TYPE_CHECKING:
    from biasbridge.analysis.correlation import Residuals
    from biasbridge.analysis.observations import Observations
    from biasbridge.stats.arrays import Floats, Ints, Labels, Truths


_SMALL = 0.0995  # numbers below are given to three digits, others to two
FEW_PERMUTATIONS = 999  # permutations of a slice without verdict
# docs/columns.csv says what each column means
RESULT_COLUMNS = (
    *("n", "n_parents", "n_conditions", "n_lost", "gap_unmodified", "score_low", "score_high"),
    *("gap_verdict", "bound", "change", "change_low", "change_high", "verdict", "why"),
    *("detectable_change", "p_holm", "share_explained", "effective_conditions"),
    *("r_rm", "low", "high", "r_pearson", "r_given_utility", "reliability_y", "synthetic", "note"),
)
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *RESULT_COLUMNS)
_SliceNames = dict[str, str]
_MAX_EQUAL_SHARE = 0.5  # share of models with the same score, or gap: more is saturation
_MIN_PEARSON = 3  # points
_MAX_MODEL_SHARE = 2 / 3  # share of the variance within parents that one model may carry


class Nonlinearity(NamedTuple):
    """What one line does not show: the change of the gap by each method, over the part of the score
    that the method moved, and the rise of a curve, 0 where none fits better (F test at .05).
    """

    methods: Mapping[str, float] = {}
    curve: float = 0.0

    @property
    def change(self) -> float:
        """Return the largest of these changes, in either direction."""
        return max(map(abs, [*self.methods.values(), self.curve]))


def _find_nonlinearity(models: Observations, means: Observations) -> Nonlinearity:
    """Measure the change of each method and of a curve; ``means``: of conditions."""
    residual = models.residuals()
    squares = demeaned(residual.u[:, None] ** 2, residual.stratum)
    curve = 0.0
    if _partial_f(residual, squares) < ALPHA:
        columns = np.column_stack([residual.u, squares])
        fitted = columns @ np.linalg.lstsq(columns, residual.v, rcond=None)[0]
        curve = float(np.ptp(fitted))
    names = [name for name in dict.fromkeys(means.method.tolist()) if name not in ("", CONTROL)]
    changes = {name: _own_change(means, name) for name in names} if len(names) > 1 else {}
    return Nonlinearity({name: x for name, x in changes.items() if isfinite(x)}, curve)


def _own_change(means: Observations, method: str) -> float:
    """Return the slope of the conditions of one method and of the unmodified models, times the
    range of their own scores.
    """
    own = means.select(np.isin(means.method, [method, CONTROL]))
    return own.residuals().slope * float(np.ptp(own.x)) if len(own.x) > 1 else nan


def digits_of(change: float) -> int:
    """Return three digits for numbers below .1, else two."""
    return 3 if isfinite(change) and abs(change) < _SMALL else 2


def _partial_f(residual: Residuals, columns: Floats) -> float:
    """Return p of the F test that columns explain v beyond u, all within parents; NaN where they
    cannot. Shape (n, k).
    """
    columns = demeaned(columns, residual.stratum)
    u, v = residual.unit
    basis = np.linalg.svd(columns - np.outer(u, u @ columns), full_matrices=False)
    independent = basis.U[
        :, ROUNDING * max(1e-300, float(np.abs(columns).max(initial=0))) < basis.S
    ]
    k = independent.shape[1]
    rest = v - u * float(u @ v)
    unexplained = rest - independent @ (independent.T @ rest)
    df = residual.df - k
    if k == 0 or df < 1 or float(unexplained @ unexplained) < ROUNDING:
        return nan
    f = (float(rest @ rest) / float(unexplained @ unexplained) - 1) * df / k
    return float(scipy.special.fdtrc(k, df, max(0.0, f)))


# The result of a slice, and the tables of slice results and of what they hold for.


class SliceResult(NamedTuple):
    """The result of a slice, named by the columns it is sliced by.

    ``scopes``: r_rm and slope by what they hold for, these runs first. ``n``: models with a score,
    a gap and another model of their parent; ``n_parents``, ``n_conditions``: 0 where unknown;
    ``n_lost``: models without a score or a gap; ``n_planned``: all models. ``gap_unmodified``: mean
    over the unmodified models; ``score_low``, ``score_high``: between which conditions moved the
    score. ``reliability_y``: the share of the gaps' variance within parents that is no model's own
    noise, at least r_rm^2, for such noise cannot make two sides agree (Spearman, 1904);
    ``slope_without_noise``: the slope on scores without noise of their own; ``nonlinear``: what one
    line does not show. ``effects``: what conditions do to the gap; ``equal_scores``: pairs of
    conditions of nearly one score whose gaps differ, the surest first; ``share_explained``: of the
    effects of conditions by the score; ``effective_conditions``: (sum u^2)^2 / sum u^4 over their
    mean scores, ``condition_scores``. ``saturated``, ``refused``: why there can be no verdict.
    ``tests``: number of confirmatory slices that ``p_holm``, of the scope of the verdict, is
    adjusted over; ``holds``: yes, no or too few by scope; ``x``: the smallest change of interest.
    ``reverse_scored``: the sign of the score is changed. ``sign``: that sign, NaN where parts
    differ; ``line``: the line of r_rm, for the score as measured.
    """

    names: dict[str, str]
    scopes: Mapping[str, Correlation] = {RUNS: Correlation()}
    n: int = 0
    n_parents: int = 0
    n_conditions: int = 0
    n_clusters: int = 0
    n_lost: int = 0
    n_planned: int = 0
    gap_unmodified: float = nan
    score_low: float = nan
    score_high: float = nan
    r_pearson: float = nan
    given_utility: Correlation = Correlation()
    reliability_y: float = nan
    slope_without_noise: Estimate = Estimate()
    nonlinear: Nonlinearity = Nonlinearity()
    effects: GapEffects = GapEffects()
    equal_scores: Sequence[EqualScores] = ()
    share_explained: float = nan
    effective_conditions: float = nan
    condition_scores: Mapping[str, float] = {}
    influential: str = ""
    saturated: str = ""
    refused: str = ""
    confirmatory: bool = False
    tests: int = 0
    p_holm: float = nan
    holds: Mapping[str, str] = {}
    x: float = SMALLEST_CHANGE
    verdict: str = ""
    why: str = ""
    gap_verdict: str = ""
    gap_why: str = ""
    synthetic: bool = False
    reverse_scored: bool = False
    sign: float = 1.0
    group_by: str = ""
    lost_models: str = ""
    heterogeneity: str = ""
    line: SlopeLine = SlopeLine()

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
        df = self.scopes[self.claimed].slope_df
        t, t_95 = scipy.special.stdtrit(df, [(1 + level) / 2, 1 - ALPHA / 2]).tolist()
        return Estimate(value, value - (value - low) * t / t_95, value + (high - value) * t / t_95)

    @property
    def detectable_change(self) -> float:
        """Return the change that about four of five such studies detect, p adjusted for the tests.

        (t(1 - .05 / (2 tests)) + t(.8)) times the standard error of the change.
        """
        value, _, high = self.change
        df = self.scopes[self.claimed].slope_df
        if not (isfinite(high) and df > 0):
            return nan
        adjusted = 1 - ALPHA / (2 * max(1, self.tests))
        own, tested, power = scipy.special.stdtrit(df, [1 - ALPHA / 2, adjusted, 0.8])
        return (high - value) / float(own) * float(tested + power)

    @property
    def note(self) -> str:
        """Return the warnings about the slice."""
        reverse = "reverse-scored: a lower score means more bias" if self.reverse_scored else ""
        lost = f"lost: {self.lost_models}" if self.lost_models else ""
        refused = "" if self.confirmatory else self.refused
        notes = (self.within.reason, refused, lost, self.heterogeneity, reverse, self.influential)
        return "; ".join(filter(None, notes))


def correlation_table(
    results: Iterable[SliceResult], columns: Sequence[str] = CORRELATION_COLUMNS
) -> pd.DataFrame:
    """Return one row per slice result, in the given columns of docs/columns.csv."""
    return pd.DataFrame([_row(result) for result in results], columns=list(columns))


def _row(result: SliceResult) -> dict[str, object]:
    within, change = result.within, result.change
    row: dict[str, object] = {name: getattr(result, name, None) for name in RESULT_COLUMNS}
    row |= {"r_rm": within.r, "low": within.low, "high": within.high, "p": within.p}
    row |= {"change": change.value, "change_low": change.low, "change_high": change.high}
    row |= {"bound": result.effects.bound, "r_given_utility": result.given_utility.r}
    ends = sorted((result.sign * result.score_low, result.sign * result.score_high))
    row |= dict(zip(("score_low", "score_high"), ends, strict=True))  # as measured
    return row | result.names  # last: a column sliced by may have the name of a result


def scope_table(results: Iterable[SliceResult]) -> pd.DataFrame:
    """Return one row per declared slice and scope: the change with its interval, and whether it
    holds.
    """
    results = [result for result in results if result.confirmatory]
    rows = [
        {
            **result.names,
            "scope": scope,
            "holds": result.holds.get(scope, ""),
            "n": correlation.n,
            "needed": MINIMUM[scope],
            **dict(
                zip(("change", "change_low", "change_high"), result.change_in(scope), strict=True)
            ),
            "note": correlation.reason,
        }
        for result in results
        for scope, correlation in result.scopes.items()
    ]
    names = list(dict.fromkeys(name for result in results for name in result.names))
    columns = ["scope", "holds", "n", "needed", "change", "change_low", "change_high", "note"]
    return pd.DataFrame(rows, columns=[*names, *columns])


def gap_and_score(results: Sequence[SliceResult]) -> list[tuple[str, str]]:
    """Return the titles of gap and score of each slice, with what differs between slices: ``cnn
    recall gap``, ``WEAT 6b``.
    """
    table = pd.DataFrame([result.names for result in results], columns=list(SLICE_COLUMNS))
    tasks, pairs = {*table["task"]}, {*text_rows(table, ("task", "classifier"))}
    varying = ["task"] * (len(tasks) > 1) + ["classifier"] * (len(pairs) > len(tasks))
    pooled = [name for name in ("embedding", "method") if len({*table[name]}) > 1]
    nothing: list[tuple[str, ...]] = [()] * len(table)
    prefixes, parts = (text_rows(table, names) if names else nothing for names in (varying, pooled))
    columns = prefixes, gap_titles(table), score_titles(table), parts
    return [
        (
            " ".join([*prefix, gap]),
            f"{score}{REVERSED_SIGN if result.reverse_scored else ''}"
            + (f" ({', '.join(part)})" if part else ""),
        )
        for prefix, gap, score, part, result in zip(*columns, results, strict=True)
    ]


# Slices of a table: every combination of the columns that name its rows, each also pooled.


def slices(
    table: pd.DataFrame, kinds: Sequence[str], pooled: Sequence[str] = ()
) -> Iterator[tuple[_SliceNames, Ints]]:
    """Yield the names and the rows of every slice that has any, in order of appearance.

    Rows that differ in a column of ``kinds`` are never pooled; each column of ``pooled`` has a
    slice per value and one of ``all``. A method's slice holds the controls too: they are the dose 0
    of every method (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it).
    """
    columns = {name: np.array(as_text(table, name), dtype=object) for name in pooled}
    keys = text_rows(table, kinds) if kinds else [()] * len(table)
    for kind, rows in group_indices(keys).items():
        block = {name: columns[name][rows] for name in pooled}
        values = {name: dict.fromkeys(block[name]) for name in pooled}
        values.get("method", {}).pop(CONTROL, None)
        for combination in product(*([*labels, ALL] for labels in values.values())):
            is_selected: Truths = np.ones(len(rows), dtype=bool)
            for name, value in zip(pooled, combination, strict=True):
                is_equal: Truths = block[name] == value
                if name == "method":
                    is_equal |= block[name] == CONTROL
                if value != ALL:
                    is_selected &= is_equal
            if is_selected.any():
                names = dict(zip((*kinds, *pooled), (*kind, *combination), strict=True))
                yield names, rows[is_selected]


def without_repeats(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the results, those of equal rows once: where there is one embedding, or one method,
    the pooled slice stands for it, and the only query for all queries. Confirmatory results stay.
    """
    values: dict[tuple[str, ...], set[str]] = {}
    for result in results:
        for name in POOLED_OVER:
            values.setdefault(_around(result, name), set()).add(result.names[name])

    def repeated(result: SliceResult, name: str) -> bool:
        siblings = values[_around(result, name)]
        is_pooled = result.names[name] == ALL
        return len(siblings) == 2 and ALL in siblings and is_pooled == (name == "query")

    return [
        result
        for result in results
        if result.confirmatory or not any(repeated(result, name) for name in POOLED_OVER)
    ]


def note_heterogeneity(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Note in every pooled slice the parts with intervals on opposite sides of 0."""
    parts: dict[tuple[str, ...], list[SliceResult]] = {}
    for result in results:
        for column in POOLED_OVER:
            if result.names[column] != ALL:
                parts.setdefault(_around(result, column), []).append(result)
    noted = []
    for result in results:
        pooled = [column for column in POOLED_OVER if result.names[column] == ALL]
        notes = [_describe_opposite(parts.get(_around(result, name), []), name) for name in pooled]
        noted.append(result._replace(heterogeneity="; ".join(filter(None, notes))))
    return noted


def _describe_opposite(results: Sequence[SliceResult], column: str) -> str:
    above = [result for result in results if result.within.low > 0]
    below = [result for result in results if result.within.high < 0]
    if not (above and below):
        return ""
    positive, negative = (
        ", ".join(f"{result.names[column]} {result.within.r:.2f}" for result in side)
        for side in (above, below)
    )
    return f"heterogeneous: r_rm of {positive}, but of {negative}"


def _around(result: SliceResult, name: str) -> tuple[str, ...]:
    """Return the column, and the other names of a result."""
    return name, *(value for column, value in result.names.items() if column != name)


# The measurement of a slice: from its rows to r_rm and what bears on a verdict.


def measure_slice(
    rows: Observations, names: dict[str, str], *, full: bool, permutations: int = PERMUTATIONS
) -> SliceResult:
    """Measure the rows of a slice, without a verdict."""
    comparable = rows.comparable()
    planned, retained_models = set(rows.model.tolist()), set(comparable.model.tolist())
    models = comparable.models(trained=full)
    with_siblings, independent = models.with_siblings(), models.average_over_clusters()
    scopes = measure_scopes(models, permutations, full=full)
    within = scopes[RUNS]
    if not full:
        scopes = {RUNS: within._replace(null=None)}
    result = SliceResult(
        names,
        scopes,
        n=len(with_siblings.x),
        n_parents=_count(with_siblings.parent),
        n_conditions=n if (n := _count(with_siblings.condition)) > 1 else 0,
        n_clusters=_count(with_siblings.cluster),
        n_lost=len(planned - retained_models),
        n_planned=len(planned),
        lost_models=_describe_lost(rows, comparable),
        line=models.line(),
        r_pearson=pearson(comparable.x, comparable.y),
    )
    if not isfinite(within.r):
        return result
    result = _add_range(result, models, independent)
    if not full:
        return result
    sizes = float(np.median(comparable.n_words)), float(np.median(comparable.n_items))
    result = result._replace(saturated=_saturation_reason(with_siblings, independent))
    if result.n_conditions:
        result = _add_conditions(result, Cells.of(with_siblings), independent.condition_means())
    return _add_noise_and_utility(result, independent, sizes, permutations)


def pearson(x: Floats, y: Floats) -> float:
    """Compute Pearson's r over the points of a slice, as the papers have it; NaN where a side is
    constant.
    """
    if len(x) < _MIN_PEARSON or not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return nan
    return float(np.corrcoef(x, y)[0, 1])


def _add_range(result: SliceResult, models: Observations, independent: Observations) -> SliceResult:
    """Add the gap of the unmodified models, and between which scores conditions moved them."""
    controls = models.method == CONTROL
    moved = independent.condition_means() if result.n_conditions else independent
    u = moved.residuals().u
    middle = float(models.x[controls].mean() if controls.any() else models.x.mean())
    if controls.any() and result.n_conditions:
        origin = moved.residuals().u[moved.method[moved.residuals().indices] == CONTROL]
        middle -= float(origin.mean()) if len(origin) else 0.0
    return result._replace(
        gap_unmodified=float(models.y[controls].mean()) if controls.any() else nan,
        score_low=middle + float(u.min()),
        score_high=middle + float(u.max()),
    )


def _add_conditions(result: SliceResult, cells: Cells, means: Observations) -> SliceResult:
    """Add what conditions do to the gap, and how far the score tells it."""
    residuals = means.residuals()
    u = residuals.u
    scores = result.score_low + means.x - means.x.min()
    return result._replace(
        effects=gap_effects(cells),
        equal_scores=equal_scores(cells, means.condition, scores),
        share_explained=share_explained(cells, means.condition, u, residuals.v),
        effective_conditions=float(np.square(u).sum()) ** 2 / float((u**4).sum()),
        condition_scores=dict(zip(means.condition.tolist(), scores.tolist(), strict=True)),
    )


def _add_noise_and_utility(
    result: SliceResult, independent: Observations, sizes: tuple[float, float], permutations: int
) -> SliceResult:
    """Add what bears on r_rm of models; ``sizes``: numbers of words and items."""
    residuals, noise = independent.residuals(), independent.noise
    y, y_resampled = independent.y, independent.y_resampled
    name = str(independent.model[result.within.influential])
    r_without = result.within.r_without_influential
    influential = f"without the most influential model ({name}) r_rm is {format_number(r_without)}"
    means = independent.condition_means()
    claimed = means if result.claimed == DOSES else independent
    return result._replace(
        influential=influential if isfinite(r_without) else "",
        nonlinear=_find_nonlinearity(independent, means),
        given_utility=independent.given_utility(permutations),
        reliability_y=max(
            reliability(residuals, y, y_resampled, sizes[1], noise), result.within.r**2
        ),
        slope_without_noise=_slope_without_noise(claimed, sizes[0]),
    )


def _slope_without_noise(models: Observations, n_words: float) -> Estimate:
    residuals, x_resampled = models.residuals(), models.x_resampled
    of_scores = reliability(residuals, models.x, x_resampled, n_words, 0 * models.noise)
    sampling = slope_sampling_error(residuals, x_resampled, models.y_resampled)
    # Reliability is at least r^2; NaN stays
    return slope_estimate(residuals, sampling.variance, max(of_scores, residuals.r**2))[0]


def _count(labels: Labels) -> int:
    return len(set(labels.tolist()) - {""})


def _saturation_reason(models: Observations, independent: Observations) -> str:
    """Return why a side varies too little for a verdict; empty where it does not.

    A side is saturated if its value is exactly equal in most models, or if one model carries most
    of its variance within parents. ``independent``: the same models as r_rm uses them.
    """
    residuals = independent.residuals()
    for name, raw, side in (("score", models.x, residuals.u), ("gap", models.y, residuals.v)):
        values, counts = np.unique(raw, return_counts=True)
        top = int(counts.argmax())
        if counts[top] > _MAX_EQUAL_SHARE * len(raw):
            count = f"{counts[top]} of {len(raw)} models"
            return f"the {name} is exactly {values[top]:.3g} in {count}"
        shares = side**2 / float(side @ side)
        if shares.max() > _MAX_MODEL_SHARE:
            model_name = str(independent.model[residuals.indices[int(shares.argmax())]])
            share = f"{shares.max():.0%} of the variance of the {name}"
            return f"one model ({model_name}) carries {share}"
    return ""


def _describe_lost(rows: Observations, comparable: Observations) -> str:
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
        complete = rows.select(rows.is_complete)
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


def _kinds(rows: Observations) -> list[tuple[str, str]]:
    return list(zip(rows.setting.tolist(), rows.score_gap.tolist(), strict=True))
