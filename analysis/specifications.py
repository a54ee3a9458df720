"""The specification curve: r_rm under every defensible choice of an analysis, and what such a curve
would look like if no gap followed any score (Simonsohn, Simmons & Nelson, 2020).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.correlation import ONE_THREAD, studentised
from analysis.findings import EXPLORED
from analysis.frame import numbers, texts
from analysis.joined import rows_of
from analysis.naming import GAP, SCORE, SLICE_COLUMNS, measure_title, query_title
from analysis.observations import Observations, observations
from analysis.residuals import codes, demeaned, group_means, indicators
from analysis.slices import slices
from analysis.verdict import FEWEST_DF

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats, Ints
    from analysis.correlation import Correlation
    from analysis.findings import Finding
    from analysis.residuals import Residuals

KINDS = ("task", "classifier", *SCORE, *GAP)
POOLED = ("embedding", "method")
CHOICES = (*POOLED, "classifier", *SCORE, *GAP)
PERMUTATIONS = 1_999
FEWEST = 199
CELLS = 100_000_000  # observations times permutations
Key = tuple[str, ...]


class Specification(NamedTuple):
    """One analysis: a level of each of ``CHOICES`` (``all``: together), how many models, r_rm with
    its 95% interval, and where 95% of curves lie at its rank if no gap follows any score.
    """

    levels: Key
    n: int
    r_rm: float
    low: float
    high: float
    null_low: float
    null_high: float


class Level(NamedTuple):
    """The specifications with one level of a choice: how many, their median r_rm, the share above
    0. ``decides``: the share of the variance of the sign over all specifications that lies between
    the levels of the choice, adjusted for their number; NaN where all signs agree.
    """

    choice: str
    level: str
    specifications: int
    median: float
    above: float
    decides: float

    @property
    def title(self) -> str:
        """The level as a reader is shown it: ``WEAT 6b``, ``false positive rate``."""
        named = {"query": query_title, "measure": measure_title}.get(self.choice, str)
        return named(self.level) or "whole"


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
        """The curve in a sentence or two."""
        above = sum(each.r_rm > 0 for each in self.specifications)
        text = (
            f"{self.task}: {len(self.specifications)} ways to analyse it, median r_rm"
            f" {round(self.median, 2) + 0.0:.2f} (p {self.p:.2g}), {above} above 0."
        )
        known = [each for each in self.levels if each.decides > 0]
        if not known:
            return text
        first = max(known, key=lambda each: each.decides).choice
        own = [each for each in self.levels if each.choice == first]
        yes = ", ".join(each.title for each in own if each.above > 0.5)
        no = ", ".join(each.title for each in own if each.above <= 0.5)
        sides = f"positive for {yes or 'none'}, not for {no or 'none'}"
        return f"{text} The sign depends mostly on the {first}: {sides}."


class _Way(NamedTuple):
    """A specification: its levels, its models, and what is left of them within parents."""

    levels: Key
    models: Observations
    left: Residuals
    found: Correlation


@ONE_THREAD
def specification_curves(
    joined: pd.DataFrame, found: Sequence[Finding] = (), *, permutations: int = PERMUTATIONS
) -> list[Curve]:
    """A curve for every task of the joined table that has two specifications or more.

    A specification is a score (metric, convention, query, part), a gap (measure, subset, groups), a
    classifier, and the embeddings used: each training algorithm or all, each method with the
    controls or all; it needs 8 degrees of freedom, as a verdict does. Scores without an unbiased
    value, measures of utility, are left out. ``found``: of ``correlate_slices``, not to compute
    anew what is known.

    The null: gaps change places among the conditions of a parent, all gaps of a model together, the
    same for all specifications and for parents of one cluster, so that what these share is kept.
    p is of the median of z / s over specifications, two-sided.
    """
    joined = joined[np.isfinite(numbers(joined, "unbiased"))]
    known = {tuple(each.names[name] for name in SLICE_COLUMNS): each.within for each in found}
    if len(set(texts(joined, "classifier"))) > 1:  # together in the slices, apart here
        known = {}
    ways: dict[str, list[_Way]] = {}
    for task, way in _ways(joined, known):
        ways.setdefault(task, []).append(way)
    synthetic = "True" in texts(joined, "generated")
    curves = [_curve(task, own, permutations) for task, own in ways.items() if len(own) > 1]
    return [each._replace(synthetic=synthetic) for each in curves]


def _ways(joined: pd.DataFrame, known: dict[Key, Correlation]) -> Iterator[tuple[str, _Way]]:
    """The specifications, with the task of each; of those on the same rows the last,
    ``all``."""
    whole = rows_of(joined)
    every = {places.tobytes(): (names, places) for names, places in slices(joined, KINDS, POOLED)}
    for names, places in every.values():
        models = observations(whole.at(places).comparable())
        of = models.independent()
        found = known.get(tuple(names[name] for name in SLICE_COLUMNS)) or of.within(EXPLORED)
        if found.df >= FEWEST_DF and np.isfinite(found.r):
            levels, nothing = tuple(names[n] for n in CHOICES), np.zeros((len(models.x), 0))
            models = models._replace(x_resampled=nothing, y_resampled=nothing)
            yield names["task"], _Way(levels, models, of.residuals(), found)


def _curve(task: str, ways: Sequence[_Way], permutations: int) -> Curve:
    size = sum(len(way.models.x) for way in ways)
    permutations = max(FEWEST, min(permutations, CELLS // size))
    cells = list(dict.fromkeys(cell for way in ways for cell in _cells(way.models)))
    keys = np.random.default_rng(0).random((permutations, len(cells)))
    place = {cell: i for i, cell in enumerate(cells)}
    r, t = (
        np.stack(each, axis=1)
        for each in zip(*(_permuted(way, keys, place) for way in ways), strict=True)
    )
    low, high = np.quantile(np.sort(r[1:], axis=1), [0.025, 0.975], axis=0)
    order = np.argsort(r[0], kind="stable")
    ranked = [
        Specification(
            ways[at].levels,
            len(ways[at].models.x),
            ways[at].found.r,
            ways[at].found.low,
            ways[at].found.high,
            float(low[rank]),
            float(high[rank]),
        )
        for rank, at in enumerate(order.tolist())
    ]
    middle = np.abs(np.median(t, axis=1))
    p = float((middle >= middle[0] - 1e-9).mean())
    return Curve(task, ranked, _levels(ways), float(np.median(r[0])), p)


def _cells(models: Observations) -> list[tuple[str, str]]:
    """What each model is permuted by: its cluster and condition; a model by itself where conditions
    are not known.
    """
    condition = models.condition if len(set(models.condition.tolist())) > 1 else models.model
    return list(zip(models.cluster.tolist(), condition.tolist(), strict=True))


def _permuted(way: _Way, keys: Floats, place: dict[tuple[str, str], int]) -> tuple[Floats, Floats]:
    """r_rm and signed t of a specification, the observed first. Shapes: (permutations + 1,)."""
    models, left = way.models.with_parents(), way.left
    key = keys[:, [place[cell] for cell in _cells(models)]]
    parent = codes(models.parent)
    drawn = np.tile(models.y, (len(keys) + 1, 1))
    for at in (np.flatnonzero(parent == each) for each in range(int(parent.max()) + 1)):
        drawn[1:, at] = models.y[at][np.argsort(key[:, at], axis=1)]
    cell = models.cells()
    gaps = drawn.T if cell is None else group_means(demeaned(drawn.T, parent), cell)[left.kept]
    u = left.u / np.sqrt(left.u @ left.u)
    v = demeaned(gaps, left.stratum).T
    v = v / np.sqrt(np.maximum(np.square(v).sum(axis=1, keepdims=True), 1e-300))
    r, t = studentised(u, np.ascontiguousarray(v), left.h, left.df)
    t = np.where(np.isfinite(t), t, np.nanmax(np.where(t < inf, t, 0), initial=0))
    return r, np.sign(r) * t


def _levels(ways: Sequence[_Way]) -> list[Level]:
    found = []
    r = np.array([way.found.r for way in ways])
    for place, choice in enumerate(CHOICES):
        names = list(dict.fromkeys(way.levels[place] for way in ways))
        if len(names) < 2:
            continue
        own = np.array([names.index(way.levels[place]) for way in ways])
        decides = _between(np.sign(r), own)
        for number, name in enumerate(names):
            of = r[own == number]
            median, above = float(np.median(of)), float((of > 0).mean())
            found.append(Level(choice, name, len(of), median, above, decides))
    return found


def _between(values: Floats, group: Ints) -> float:
    """epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k), eta^2 the share of the variance between k
    groups; NaN where values do not vary.
    """
    share = indicators(group)
    n, k = share.shape
    centred = values - values.mean()
    total = float(centred @ centred)
    if total == 0:
        return float("nan")
    eta2 = float(((centred @ share) ** 2 / share.sum(axis=0)).sum()) / total
    return float(1 - (1 - eta2) * (n - 1) / max(1, n - k))
