"""The specification curve: r_rm under every defensible choice of an analysis, and the curve
expected if no gap followed any score (Simonsohn, Simmons & Nelson, 2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf, isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import INK, PALETTE, Drawing, finish
from biasbridge.analysis.correlation import (
    ONE_THREAD,
    demeaned,
    factorize,
    group_means,
    indicators,
    studentised,
)
from biasbridge.analysis.joined import rows_of
from biasbridge.analysis.naming import (
    ALL,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    STAMP,
    measure_title,
    query_title,
)
from biasbridge.analysis.observations import Observations, observations
from biasbridge.analysis.printing import print_lines
from biasbridge.analysis.scopes import MINIMUM, RUNS
from biasbridge.analysis.slices import FEW_PERMUTATIONS, slices
from biasbridge.analysis.tables import as_float, as_text, write_csv_tables
from biasbridge.files.charts import save_charts
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.correlation import Correlation, Residuals
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.stats.arrays import Floats, Ints


_SPECIFIC = ("task", "classifier", *SCORE, *GAP)
_POOLED = ("embedding", "method")
_CHOICES = (*_POOLED, "classifier", *SCORE, *GAP)
_CURVE_PERMUTATIONS = 1_999
_MIN_PERMUTATIONS = 199
_MAX_CELLS = 100_000_000  # observations times permutations
ChoiceLevels = tuple[str, ...]
_CURVE_WIDTH = 620
_MAX_LEVELS = 40  # most levels drawn below the curve
_R_RM_TITLE = "r_rm, 95% interval"
_LEVELS = alt.Axis(labelLimit=320)


class Specification(NamedTuple):
    """One analysis: a level of each of ``_CHOICES`` and columns described in docs/results.md."""

    levels: ChoiceLevels
    n: int
    r_rm: float
    low: float
    high: float
    null_low: float
    null_high: float


class Level(NamedTuple):
    """The specifications with one level of a choice; docs/results.md describes the columns."""

    choice: str
    level: str
    specifications: int
    median: float
    above: float
    epsilon_squared: float

    @property
    def title(self) -> str:
        """Return the title of the level: ``WEAT 6b``, ``false positive rate``."""
        title_of = {"query": query_title, "measure": measure_title}.get(self.choice, str)
        return title_of(self.level) or "whole"


class Curve(NamedTuple):
    """The specifications of a task in order of r_rm, their median and its permutation p; whether
    any is of ``synthetic`` data.
    """

    task: str
    specifications: Sequence[Specification]
    levels: Sequence[Level]
    median: float
    p: float
    synthetic: bool = False

    def sentence(self) -> str:
        """Return the curve in a sentence or two."""
        above = sum(entry.r_rm > 0 for entry in self.specifications)
        text = (
            f"{self.task}: r_rm is above 0 in {above} of {len(self.specifications)} ways to analyse"
            f" it. Its median is {format_number(self.median)} (p {self.p:.2g})."
        )
        deciding = [entry for entry in self.levels if entry.epsilon_squared > 0]
        if not deciding:
            return text
        first = max(deciding, key=lambda entry: entry.epsilon_squared).choice
        choice_levels = [entry for entry in self.levels if entry.choice == first]
        yes = ", ".join(entry.title for entry in choice_levels if entry.above > 0.5)
        no = ", ".join(entry.title for entry in choice_levels if entry.above <= 0.5)
        if not (yes and no):
            return text
        return f"{text} The sign depends mostly on the {first}: above 0 for {yes}, not for {no}."


class _Fit(NamedTuple):
    """A specification: its levels, its models, and their residuals within parents."""

    levels: ChoiceLevels
    models: Observations
    residuals: Residuals
    result: Correlation


@ONE_THREAD
def specification_curves(
    joined: pd.DataFrame,
    results: Sequence[SliceResult] = (),
    *,
    permutations: int = _CURVE_PERMUTATIONS,
) -> list[Curve]:
    """Return a curve for every task of the joined table that has two specifications or more.

    A specification is a score (metric, convention, query, part), a gap (measure, subset, groups), a
    classifier, and the embeddings used: each training algorithm or all, each method with the
    controls or all; it needs 8 degrees of freedom, as a verdict does. Measures of utility (without
    an unbiased value) are left out. ``results``: of ``correlate_slices``, to reuse.

    The null permutes gaps among all conditions of a parent, all gaps of a model together, equally
    for all specifications and for parents of one cluster; a specification of one method takes its
    models' share of that permutation, so that the dependence is preserved. p is of the median of
    z / s over specifications, two-sided.
    """
    joined = joined[np.isfinite(as_float(joined, "unbiased"))]
    estimates = {
        tuple(result.names[name] for name in SLICE_COLUMNS): result.within for result in results
    }
    fits: dict[str, list[_Fit]] = {}
    for task, fit in _fits(joined, estimates):
        fits.setdefault(task, []).append(fit)
    synthetic = "True" in as_text(joined, "generated")
    curves = [_curve(task, group, permutations) for task, group in fits.items() if len(group) > 1]
    return [curve._replace(synthetic=synthetic) for curve in curves]


def _fits(
    joined: pd.DataFrame, estimates: dict[ChoiceLevels, Correlation]
) -> Iterator[tuple[str, _Fit]]:
    """Yield task and specification; of those with equal rows only the last, ``all``."""
    all_rows = rows_of(joined)
    distinct = {rows.tobytes(): (names, rows) for names, rows in slices(joined, _SPECIFIC, _POOLED)}
    for names, rows in distinct.values():
        models = observations(all_rows.at(rows).comparable())
        independent = models.average_over_clusters()
        key = tuple(names[name] for name in SLICE_COLUMNS)
        result = estimates.get(key) or independent.within_models(FEW_PERMUTATIONS)
        if result.df >= MINIMUM[RUNS] and np.isfinite(result.r):
            levels, no_resamples = tuple(names[n] for n in _CHOICES), np.zeros((len(models.x), 0))
            models = models._replace(x_resampled=no_resamples, y_resampled=no_resamples)
            yield names["task"], _Fit(levels, models, independent.residuals(), result)


def _curve(task: str, fits: Sequence[_Fit], permutations: int) -> Curve:
    size = sum(len(fit.models.x) for fit in fits)
    permutations = max(_MIN_PERMUTATIONS, min(permutations, _MAX_CELLS // size))
    cells = list(dict.fromkeys(cell for fit in fits for cell in _cells(fit.models)))
    keys = np.random.default_rng(0).random((permutations, len(cells)))
    cell_index = {cell: i for i, cell in enumerate(cells)}
    models_of = {fit.levels: fit.models for fit in fits}
    statistics = []
    # One permutation of the models of all methods serves each method: fits of one pool are together
    for _, group in groupby(
        ((_pool(fit, models_of), fit) for fit in fits), lambda pair: id(pair[0])
    ):
        pairs = list(group)
        pool = pairs[0][0].with_siblings()
        gaps = _permuted_gaps(pool, keys[:, [cell_index[cell] for cell in _cells(pool)]])
        statistics += [_under_permutation(fit, pool, gaps) for _, fit in pairs]
    r, t = (np.stack(values, axis=1) for values in zip(*statistics, strict=True))
    low, high = np.quantile(np.sort(r[1:], axis=1), [0.025, 0.975], axis=0)
    order = np.argsort(r[0], kind="stable")
    ranked = [
        Specification(
            fits[index].levels,
            len(fits[index].models.x),
            fits[index].result.r,
            fits[index].result.low,
            fits[index].result.high,
            float(low[rank]),
            float(high[rank]),
        )
        for rank, index in enumerate(order.tolist())
    ]
    abs_median = np.abs(np.median(t, axis=1))
    p = float((abs_median >= abs_median[0] - 1e-9).mean())
    return Curve(task, ranked, _levels(fits), float(np.median(r[0])), p)


def _cells(models: Observations) -> list[tuple[str, str]]:
    """Return the cluster and condition of each model, or the model, as unit of permutation."""
    condition = models.condition if len(set(models.condition.tolist())) > 1 else models.model
    return list(zip(models.cluster.tolist(), condition.tolist(), strict=True))


def _pool(fit: _Fit, models_of: Mapping[ChoiceLevels, Observations]) -> Observations:
    """Return the models of all methods, where they hold those of the fit with the same gaps; else
    its own.
    """
    method = _CHOICES.index("method")
    pool = models_of.get((*fit.levels[:method], ALL, *fit.levels[method + 1 :]), fit.models)
    own, whole = fit.models.with_siblings(), pool.with_siblings()
    gaps = dict(zip(whole.model.tolist(), whole.y.tolist(), strict=True))
    pairs = zip(own.model.tolist(), own.y.tolist(), strict=True)
    return pool if all(isclose(gaps.get(name, nan), y) for name, y in pairs) else fit.models


def _permuted_gaps(pool: Observations, keys: Floats) -> Floats:
    """Return the gaps permuted within parents by the order of keys, the observed ones first.
    Shapes: (permutations, models) -> (models, permutations + 1).
    """
    gaps = np.tile(pool.y, (len(keys) + 1, 1))
    stratum = factorize(pool.stratum)
    for number in range(int(stratum.max()) + 1):
        members = np.flatnonzero(stratum == number)
        gaps[1:, members] = pool.y[members][np.argsort(keys[:, members], axis=1)]
    return gaps.T


def _under_permutation(
    fit: _Fit, pool: Observations, permuted_gaps: Floats
) -> tuple[Floats, Floats]:
    """Return r_rm and signed t, observed values first. Shapes: (permutations + 1,).

    ``pool``: the models of all methods, among which gaps are permuted.
    """
    models, residuals = fit.models.with_siblings(), fit.residuals
    place = {model: index for index, model in enumerate(pool.model.tolist())}
    cell = models.cells()
    gaps = permuted_gaps[[place[model] for model in models.model.tolist()]]
    if cell is not None:
        gaps = group_means(demeaned(gaps, factorize(models.stratum)), cell)[residuals.indices]
    u = residuals.u / np.sqrt(residuals.u @ residuals.u)
    v = demeaned(gaps, residuals.stratum).T
    v = v / np.sqrt(np.maximum(np.square(v).sum(axis=1, keepdims=True), 1e-300))
    r, t = studentised(u, np.ascontiguousarray(v), residuals.h, residuals.df)
    t = np.where(np.isfinite(t), t, np.nanmax(np.where(t < inf, t, 0), initial=0))
    return r, np.sign(r) * t


def _levels(fits: Sequence[_Fit]) -> list[Level]:
    levels = []
    r = np.array([fit.result.r for fit in fits])
    for position, choice in enumerate(_CHOICES):
        names = list(dict.fromkeys(fit.levels[position] for fit in fits))
        if len(names) < 2:
            continue
        level_index = np.array([names.index(fit.levels[position]) for fit in fits])
        epsilon_squared = _between(np.sign(r), level_index)
        for number, name in enumerate(names):
            level_r = r[level_index == number]
            median, above = float(np.median(level_r)), float((level_r > 0).mean())
            levels.append(Level(choice, name, len(level_r), median, above, epsilon_squared))
    return levels


def _between(values: Floats, group: Ints) -> float:
    """Return epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k), eta^2 the share of the variance between
    k groups; NaN where values do not vary.
    """
    share = indicators(group)
    n, k = share.shape
    centred = values - values.mean()
    total = float(centred @ centred)
    if total == 0:
        return float("nan")
    eta2 = float(((centred @ share) ** 2 / share.sum(axis=0)).sum()) / total
    return float(1 - (1 - eta2) * (n - 1) / max(1, n - k))


# The specification curves of a study as tables and a figure.


def specification_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return one row per specification."""
    rows = [
        {"task": curve.task, "rank": rank}
        | dict(zip(_CHOICES, specification.levels, strict=True))
        | specification._asdict()
        for curve in curves
        for rank, specification in enumerate(curve.specifications, 1)
    ]
    return pd.DataFrame(rows, columns=["task", "rank", *_CHOICES, *Specification._fields[1:]])


def _level_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return one row per level of a choice; the first of each task, choice and level ``all``, is
    the whole curve, with the permutation ``p`` of its median.
    """
    rows = []
    for curve in curves:
        number = len(curve.specifications)
        above = sum(specification.r_rm > 0 for specification in curve.specifications) / number
        whole = Level(ALL, ALL, number, curve.median, above, float("nan"))
        rows.append({"task": curve.task, **whole._asdict(), "p": curve.p})
        rows += [{"task": curve.task, **specification._asdict()} for specification in curve.levels]
    return pd.DataFrame(rows, columns=["task", *Level._fields, "p"])


def write_curves(curves: Sequence[Curve], folder: Path, console: Console) -> list[Path]:
    """Print the sentences of the curves and write their tables and figures; return the paths."""
    if not curves:
        return []
    print_lines((curve.sentence() for curve in curves), console)
    tables = {
        "specifications": specification_table(curves),
        "specification_levels": _level_table(curves),
    }
    return write_csv_tables(folder, tables) + draw_curves(curves, folder / "figures")


def draw_curves(
    curves: Sequence[Curve], out: Path, suffixes: Sequence[str] = (".svg", ".png", ".pdf")
) -> list[Path]:
    """Draw a figure per task into ``out``, in each format; return the paths."""
    written = []
    for curve in curves:
        stem = re.sub(r"[^\w.-]+", "_", f"specifications_{curve.task}").strip("_")
        written += save_charts(_curve_chart(curve), out / stem, suffixes)
    return written


def _curve_chart(curve: Curve) -> Drawing:
    """Draw the curve over its null band, with the levels of each specification below."""
    table = specification_table([curve])
    shown_levels = [level for level in curve.levels if level.choice != "classifier"][:_MAX_LEVELS]
    marks = pd.DataFrame(
        [
            {"rank": rank, "level": f"{level.choice}: {level.title}"}
            for level in shown_levels
            for rank in table.loc[table[level.choice] == level.level, "rank"]
        ]
    )
    parts: list[Any] = [_upper(table), *([_lower(marks, len(table))] if len(marks) else [])]
    stamp = [STAMP] if curve.synthetic else []
    notes = [
        *stamp,
        *curve.sentence().split(". "),
        "Grey: where 95% of curves would lie if no gap followed a score.",
    ]
    above = f"{sum(table['r_rm'] > 0)} of {len(table)} ways to analyse it"
    title = f"{curve.task}: r_rm is above 0 in {above}"
    return finish(alt.vconcat(*parts, spacing=8), title, notes)


def _upper(table: pd.DataFrame) -> Any:
    signs = ["below 0", "above 0"]
    rows = table.assign(sign=[signs[r > 0] for r in table["r_rm"]])
    base = alt.Chart().encode(_rank(len(rows), axis=None))
    scale = alt.Scale(domain=signs, range=[PALETTE[1], PALETTE[0]])
    signed = base.encode(alt.Color("sign:N", legend=None, scale=scale))

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=_R_RM_TITLE, scale=alt.Scale(domain=[-1, 1]))

    layers = [
        base.mark_area(color="#999999", opacity=0.3).encode(y("null_low"), alt.Y2("null_high")),
        alt.Chart().mark_rule(color=INK).encode(y=alt.datum(0)),
        signed.mark_rule(strokeOpacity=0.25).encode(y("low"), alt.Y2("high")),
        signed.mark_point(filled=True, size=14, opacity=1).encode(y("r_rm")),
    ]
    return alt.layer(*layers, data=rows).properties(width=_CURVE_WIDTH, height=220)


def _lower(marks: pd.DataFrame, number: int) -> Any:
    title = "ways to analyse it, in order of r_rm; below: which choices each one makes"
    return (
        alt.Chart(marks)
        .mark_tick(thickness=1, color=INK, bandSize=9)
        .encode(_rank(number, title=title), alt.Y("level:N", sort=None, title=None, axis=_LEVELS))
        .properties(width=_CURVE_WIDTH, height=alt.Step(12))
    )


def _rank(number: int, **options: Any) -> alt.X:
    return alt.X("rank:Q", scale=alt.Scale(domain=[0.5, number + 0.5], nice=False), **options)
