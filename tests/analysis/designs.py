"""Made-up studies in the designs that sweeps make, with a known association, and how often the
inference is right about them.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis.coefficients import Coefficients
from analysis.evidence import Evidence, described, evidence
from analysis.findings import Finding
from analysis.joined import join_points, rows_of
from analysis.judging import judge
from analysis.permutation import permutation_p
from analysis.pooling import Part, disagreement, pooled
from analysis.results import Tables
from analysis.units import Resampled, Rows
from analysis.verdict import CONTRADICTS, NEGLIGIBLE, SUPPORTS
from analysis.within import (
    indicators,
    interval,
    residuals,
    unit_error,
    without_each,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

Kind = Literal[
    "normal",
    "ladder of doses",
    "doses that saturate",
    "growing noise",
    "quiet units",
    "heavy-tailed noise",
    "heavy tails",
    "lone outlier",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Bases and the units of each: 8 to 60 units of 1 to 10 bases.
SIZES = ((1, 8), (2, 4), (2, 9), (4, 5), (6, 4), (10, 3), (5, 12), (2, 30), (10, 6))
# Bases, units of each, r and how far items shift it
ON_ITEMS = tuple(product((2, 6, 10), (9, 20), (0.0, 0.5), (0.1, 0.3)))
QUERIES, MEASURES = 3, 2
FAMILY = QUERIES * MEASURES
RESAMPLES = 599


class Studies(NamedTuple):
    """Studies of one design: x of every query (studies, queries, units), y of every measure
    (studies, measures, units), the base of each unit (units,).
    """

    x: Floats
    y: Floats
    base: Ints

    def pairs(self, study: int) -> Iterator[tuple[Floats, Floats]]:
        """The slices of a study, a query and a measure each."""
        for x in self.x[study]:
            for y in self.y[study]:
                yield x, y


def studies(kind: Kind, bases: int, units: int, r: float, count: int, seed: int = 0) -> Studies:
    """Studies whose y follows the x of the first query within bases by a correlation of about r
    (``truth`` has it).

    Every base moves x and y of its units by effects of its own, with four times the variance of
    what modification does. Other queries share two thirds of their variance with the first, and all
    share the gaps.
    """
    rng = np.random.default_rng(seed)
    n, base = bases * units, np.repeat(np.arange(bases), units)
    doses = np.linspace(-1, 1, units)
    if kind == "doses that saturate":
        doses = np.tanh(4 * doses)
    moved: Floats = rng.normal(size=(count, 1, n))
    if kind not in ("normal", "heavy tails"):
        moved = np.tile(doses / doses.std(), bases) + 0.4 * moved
    if kind == "heavy tails":
        moved = rng.standard_t(3, size=moved.shape)
    moved = moved / moved.std()
    others: Floats = rng.normal(size=(count, QUERIES - 1, n))
    x = np.concatenate([moved, sqrt(2 / 3) * moved + sqrt(1 / 3) * others], axis=1)
    noise: Floats = rng.normal(size=(count, MEASURES, n))
    if kind in ("heavy-tailed noise", "heavy tails"):
        noise = rng.standard_t(3, size=noise.shape)
    elif kind == "growing noise":
        noise = noise * (0.3 + np.abs(moved) ** 1.5)
    elif kind == "quiet units":
        noise = noise * (0.2 + 1 / (0.3 + np.abs(moved)))
    elif kind == "lone outlier":
        noise[np.arange(count), :, rng.integers(n, size=count)] += 8
    y = r * moved + sqrt(1 - r**2) * noise / noise.std()
    effects: Floats = rng.normal(0, 2, size=(2, count, 1, bases))
    return Studies(x + effects[0][:, :, base], y + effects[1][:, :, base], base)


@cache
def truth(kind: Kind, bases: int, units: int, r: float) -> float:
    """The correlation within bases of the population that ``studies`` draws from."""
    of = studies(kind, bases, units, r, 20_000, seed=99)
    x, y = (centred(side[:, 0], of.base) for side in (of.x, of.y))
    return float((x * y).sum()) / sqrt(float((x * x).sum()) * float((y * y).sum()))


def centred(values: Floats, base: Ints) -> Floats:
    """Without the means of the bases. Shape (studies, units)."""
    share = indicators(base)
    means: Floats = values @ share / share.sum(axis=0)
    return values - means[:, base]


def found_within(x: Floats, y: Floats, base: Ints) -> Evidence:
    """That part of ``evidence`` that decides about signs: r within bases, interval and p."""
    of = residuals(x, y, base)
    r = interval(of)
    bases = int(base.max()) + 1
    return Evidence(
        len(x),
        bases,
        bases,
        free=of.free,
        within=r.value,
        within_low=r.low,
        within_high=r.high,
        within_p=permutation_p(of, base, RESAMPLES),
        within_error=unit_error(of, without_each(of)).size,
    )


def verdicts(found: Sequence[Evidence], smallest: float = 0.3) -> list[str]:
    """The verdicts on primary slices of one family."""
    slices = [Finding({"slice": str(i)}, Coefficients(3, 0), each) for i, each in enumerate(found)]
    judged = judge(slices, [()] * len(slices), smallest=smallest)
    return [each.judgement.verdict for each in judged]


class Rates(NamedTuple):
    """Shares of studies: p below .05 in one slice; that slice ``supported`` or ``contradicted`` on
    its own; any of a family of six; the interval holding the truth, below it and above it; p below
    .05 where bases are ignored.
    """

    p: float
    supported: float
    contradicted: float
    family: float
    coverage: float
    below: float
    above: float
    ignored: float


def rates(kind: Kind, bases: int, units: int, r: float, count: int, seed: int = 1) -> Rates:
    """What is found in so many studies of a design."""
    of, true = studies(kind, bases, units, r, count, seed), truth(kind, bases, units, r)
    told = []
    for study in range(count):
        found = [found_within(x, y, of.base) for x, y in of.pairs(study)]
        first = found[0]
        alone, family = verdicts(found[:1])[0], verdicts(found)
        told.append(
            (
                first.within_p < 0.05,
                alone == SUPPORTS,
                alone == CONTRADICTS,
                SUPPORTS in family or CONTRADICTS in family,
                first.within_low <= true <= first.within_high,
                first.within_high < true,
                first.within_low > true,
                stats.pearsonr(of.x[study, 0], of.y[study, 0]).pvalue < 0.05,
            )
        )
    return Rates(*np.mean(told, axis=0).tolist())


def power(
    bases: int,
    units: int,
    r: float,
    count: int,
    alone: bool,
    seed: int = 2,
    kind: Kind = "ladder of doses",
) -> float:
    """How often the first slice of a family of six is supported in studies, with doses on a ladder
    where nothing else is said: where it ``alone`` has an association, or all six have.
    """
    of = studies(kind, bases, units, r, count, seed)
    others = studies(kind, bases, units, 0, count, seed + 1) if alone else of
    supported = 0
    for study in range(count):
        pairs = [next(of.pairs(study)), *list(others.pairs(study))[1:]]
        supported += verdicts([found_within(x, y, of.base) for x, y in pairs])[0] == SUPPORTS
    return supported / count


def measured(
    bases: int, units: int, r: float, noise: tuple[float, float], seed: int, resamples: int = 200
) -> Rows:
    """One study of true values with correlation r within bases, measured with errors.

    Half of the variance of an error, ``noise`` times that of the true values for x and for y, is
    shared by all units, for they are measured on the same words and posts. The resamples have
    errors of the same kind.
    """
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(bases), units)
    n = len(base)
    true: Floats = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n).T
    true = true + rng.normal(0, 2, size=(2, bases))[:, base]
    sides, resampled = [], []
    for side, share in zip(true, noise, strict=True):
        own, shared = sqrt(share) * rng.normal(size=(n, 1)), sqrt(share) * rng.normal()
        value: Floats = side + own[:, 0] + shared
        again = sqrt(share) * (rng.normal(size=(n, resamples)) + rng.normal(size=resamples))
        sides.append(value)
        resampled.append(value[:, None] + again)
    rows = Rows.of(sides[0], sides[1], np.arange(n), base)
    return rows._replace(
        x_resampled=Resampled.of(resampled[0]), y_resampled=Resampled.of(resampled[1])
    )


def on_items(
    bases: int,
    units: int,
    items: int,
    r: float,
    spread: float,
    rng: np.random.Generator,
    noise: float | None = None,
) -> tuple[Rows, float]:
    """One study whose gaps are means over test items that all embeddings share, and its r within
    bases in the population of embeddings and items.

    Each item has a slope of its own on the score, 0 on average, and an error of its own with every
    embedding; ``spread``: the standard error of the mean slope, and of the mean error where
    ``noise`` is not that, those of chance over embeddings being 1.
    """
    noise = spread if noise is None else noise
    base = np.repeat(np.arange(bases), units)
    doses = np.linspace(-1, 1, units)
    x: Floats = np.tile(doses / doses.std(), bases) + 0.4 * rng.normal(size=len(base))
    x = x / sqrt(1.16)
    slopes: Floats = rng.normal(0, spread * sqrt(items), size=items)
    errors: Floats = rng.normal(0, noise * sqrt(items), size=(len(base), items))
    of_items: Floats = x[:, None] * slopes + errors
    true = r / sqrt(1 - r * r) * x + rng.normal(size=len(base))
    weights: Floats = rng.poisson(1, size=(items, 200)).astype(float)
    effects = rng.normal(0, 2, size=(2, bases))[:, base]
    rows = Rows.of(x + effects[0], true + of_items.mean(axis=1), np.arange(len(base)), base)
    again = true[:, None] + of_items @ (weights / weights.sum(axis=0))
    seen = r / sqrt(1 - r * r)
    whole = seen / sqrt(seen**2 + 1 + noise**2)
    return rows._replace(y_resampled=Resampled.of(again)), whole


Parts = Literal["queries", "algorithms", "alike algorithms"]
PARTS: tuple[Parts, ...] = get_args(Parts)


def parts_on_items(
    of: Parts, parts: int, bases: int, units: int, r: float, spread: float, rng: np.random.Generator
) -> list[Rows]:
    """Parts of one study on the same 200 items, as ``on_items`` has them.

    ``queries``: uncorrelated scores of the same embeddings, whose gaps follow each by the slopes
    that items have on it (and by r the first alone); ``algorithms``: embeddings of their own, and
    slopes of items; ``alike``: the same slopes.
    """
    base, items = np.repeat(np.arange(bases), units), 200
    weights: Floats = rng.poisson(1, size=(items, 200)).astype(float)
    weights = weights / weights.sum(axis=0)
    x: Floats = rng.normal(size=(parts, len(base)))
    slopes: Floats = rng.normal(0, spread * sqrt(items), size=(parts, items))
    if of == "alike algorithms":
        slopes[:] = slopes[0]

    def gaps(x: Floats, slopes: Floats) -> tuple[Floats, Floats]:
        true = r / sqrt(1 - r * r) * x[0] + rng.normal(size=len(base))
        errors: Floats = rng.normal(0, spread * sqrt(items), size=(len(base), items))
        on_each: Floats = x.T @ slopes + errors
        return true + on_each.mean(axis=1), true[:, None] + on_each @ weights

    if of == "queries":
        measured = [gaps(x, slopes)] * parts
    else:
        measured = [gaps(x[[place]], slopes[[place]]) for place in range(parts)]
    return [
        Rows.of(score, y, np.arange(len(base)), base)._replace(y_resampled=Resampled.of(again))
        for score, (y, again) in zip(x, measured, strict=True)
    ]


class OfParts(NamedTuple):
    """Shares of studies: parts said to disagree, and the interval of their random-effects mean
    holding r, NaN below four parts; how wide that is on average; the shares again where parts are
    taken as independent.
    """

    said: float
    coverage: float
    width: float
    independent_said: float
    independent_coverage: float


def of_parts(
    of: Parts,
    parts: int,
    bases: int,
    units: int,
    r: float,
    spread: float,
    count: int,
    seed: int = 10,
) -> OfParts:
    """What is said of parts of studies on shared items."""
    rng, seen = np.random.default_rng(seed), r / sqrt(1 - r * r)
    true = seen / sqrt(seen**2 + 1 + spread**2)
    told = []
    for _ in range(count):
        study = [
            described(rows) for rows in parts_on_items(of, parts, bases, units, r, spread, rng)
        ]
        known = [Part(each.evidence, each.shifts) for each in study]
        alone = [each.evidence._replace(items_error=np.nan) for each in study]
        row = []
        for each in (known, [Part(found, np.zeros(0)) for found in alone]):
            mean = pooled(each)
            held = mean.low <= true <= mean.high if mean.m > 3 else np.nan
            row += [bool(disagreement(each)), held, mean.high - mean.low]
        told.append(row[:-1])
    return OfParts(*np.mean(told, axis=0).tolist())


class OnItems(NamedTuple):
    """Shares of studies with p below .05, and with an interval that holds r; the same where items
    are taken for all that there are.
    """

    p: float
    coverage: float
    fixed_p: float
    fixed_coverage: float


def on_shared_items(
    bases: int, units: int, items: int, r: float, spread: float, count: int, seed: int = 9
) -> OnItems:
    """What is found of studies on shared items."""
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(count):
        rows, true = on_items(bases, units, items, r, spread, rng)
        fixed = rows._replace(y_resampled=Resampled.of(np.zeros((len(rows.x), 0))))
        both = [evidence(each, resamples=RESAMPLES) for each in (rows, fixed)]
        told.append(
            [
                share
                for e in both
                for share in (e.within_p < 0.05, e.within_low <= true <= e.within_high)
            ]
        )
    return OnItems(*np.mean(told, axis=0).tolist())


def clustered(
    seeds: int, units: int, within: float, between: float, rng: np.random.Generator
) -> tuple[Rows, float]:
    """A study of two bases a seed, which share its corpus, and the correlation over all its rows in
    the population: effects of seed and base have variance 1 as those of modification have.
    """
    base = np.repeat(np.arange(2 * seeds), units)

    def pair(number: int, r: float) -> Floats:
        drawn: Floats = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=number).T
        return drawn

    of_seed, of_base = pair(seeds, between)[:, base // 2], pair(2 * seeds, between)[:, base]
    x, y = of_seed + of_base + pair(len(base), within)
    rows = Rows.of(x, y, np.arange(len(base)), base)
    return rows._replace(cluster=(base // 2).astype(str)), (2 * between + within) / 3


def total_coverage(
    seeds: int, units: int, within: float, between: float, count: int, seed: int = 3
) -> float:
    """How often the interval of r over all rows holds it, over clusters of seeds."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(count):
        rows, true = clustered(seeds, units, within, between, rng)
        found = evidence(rows, resamples=9)
        held += found.r_low <= true <= found.r_high
    return held / count


class Corrections(NamedTuple):
    """Of studies measured with errors: the mean of r and of r corrected for them; of those with a
    correction how often its 90% interval holds the truth; how often the verdict is negligible.
    """

    observed: float
    corrected: float
    coverage: float
    negligible: float


def corrections(
    bases: int, units: int, r: float, noise: tuple[float, float], count: int, seed: int = 4
) -> Corrections:
    """What is found where words and posts are a sample."""
    told = []
    for study in range(count):
        found = evidence(measured(bases, units, r, noise, seed * count + study), resamples=199)
        known = found.corrected == found.corrected
        held = found.corrected_low <= r <= found.corrected_high if known else np.nan
        told.append((found.within, found.corrected, held, verdicts([found])[0] == NEGLIGIBLE))
    return Corrections(*np.nanmean(np.array(told, dtype=float), axis=0).tolist())


def disagreements(
    parts: int, bases: int, units: int, kind: Kind, r: float, count: int, seed: int = 5
) -> float:
    """How often parts of one correlation, an embedding each, are said to disagree."""
    found = [
        [
            Part(found_within(of.x[study, 0], of.y[study, 0], of.base), np.zeros(0))
            for of in [studies(kind, bases, units, r, count, seed + part)]
            for study in range(count)
        ]
        for part in range(parts)
    ]
    return sum(bool(disagreement(each)) for each in zip(*found, strict=True)) / count


class Chance(NamedTuple):
    """Standard deviations of what chance does to score and gap: of a corpus, and of a training."""

    corpus: float
    training: float


CHANCES = (Chance(0, 1), Chance(1, 1), Chance(1, 0.3))


def generated_worlds(
    seeds: int,
    algorithms: int,
    levels: int,
    slope: float,
    count: int,
    chance: Chance = CHANCES[0],
    seed: int = 8,
) -> Iterator[Tables]:
    """Sweeps over generated worlds, none of whose embeddings is modified: one a seed, algorithm and
    planted level. Seed and algorithm move score and gap by a standard deviation of 2, ``chance`` by
    those of the corpus, which algorithms share, and of the training; the gap follows by ``slope``
    what the level moves of the score.
    """
    rng = np.random.default_rng(seed)
    names = ["word2vec", "fasttext"][:algorithms]
    for _ in range(count):
        of_seed, of_name = (rng.normal(0, 2, size=(number, 2)) for number in (seeds, algorithms))
        of_corpus = chance.corpus * rng.normal(size=(seeds, levels, 2))
        points, scores, gaps = [], [], []
        for own, name, level in product(range(seeds), range(algorithms), range(levels)):
            key = f"{own} {names[name]} {level}"
            points.append(
                {"point": key, "embedding": names[name], "method": "none", "status": "done"}
                | {"generated": True, "seed": own, "stereotype": level / levels}
                | {"base_key": key, "vectors_key": key, "corpus_key": f"{own} {level}"}
            )
            x, y = of_seed[own] + of_name[name] + of_corpus[own, level]
            x, y = np.array([x, y]) + chance.training * rng.normal(size=2)
            moved = 6 * level / levels
            scores.append({"point": key, "metric": "weat", "query": "weat7", "value": x + moved})
            gaps.append(
                {"point": key, "task": "t", "kind": "gap", "measure": "recall"}
                | {"privileged": "male", "unprivileged": "female", "value": y + slope * moved}
            )
        yield Tables(*(pd.DataFrame(rows) for rows in (points, scores, gaps)))


def of_generated_worlds(
    seeds: int,
    algorithms: int,
    levels: int,
    slope: float,
    count: int,
    chance: Chance = CHANCES[0],
) -> list[Evidence]:
    """What is found of all embeddings of such sweeps together."""
    return [
        evidence(rows_of(join_points(tables)), resamples=RESAMPLES)
        for tables in generated_worlds(seeds, algorithms, levels, slope, count, chance)
    ]


class Limits(NamedTuple):
    """Shares of studies without association in which p is below .05, and in which the intervals of
    the partial correlation, and of r across bases and across modifications, exclude 0; NaN where
    there is none.
    """

    p: float
    partial: float
    across: float
    arms: float


def _excludes_0(low: float, high: float) -> float:
    """NaN where there is no interval."""
    return float(low > 0 or high < 0) if low == low else np.nan


def own_effects(
    bases: int, spread: float, count: int, saturates: bool = False, seed: int = 6
) -> Limits:
    """Two methods move the score by their doses, of either sign, and the gap by effects of their
    own, the same in all bases, that have nothing to do with the score; ``spread``: of these, noise
    having 1. Nine modifications; 17, where the score ``saturates``.
    """
    rng = np.random.default_rng(seed)
    doses = (0.05, 0.1, 0.3, 1) if saturates else (0.5, 1)
    signed = [sign * dose for sign in (-1, 1) for dose in doses]
    dose = np.array([0, *signed, *signed])
    if saturates:
        dose = np.tanh(4 * dose)
    base = np.repeat(np.arange(bases), len(dose))
    told = []
    for _ in range(count):
        x = np.tile(dose, bases) + 0.3 * rng.normal(size=len(base))
        y = np.tile(spread * rng.normal(size=len(dose)), bases) + rng.normal(size=len(base))
        rows = Rows.of(x, y, np.arange(len(base)), base)
        rows = rows._replace(modification=np.tile(np.arange(len(dose)).astype(str), bases))
        found = evidence(rows, resamples=RESAMPLES)
        told.append(
            (
                found.within_p < 0.05,
                _excludes_0(found.partial_low, found.partial_high),
                _excludes_0(found.across_low, found.across_high),
                _excludes_0(found.arms_low, found.arms_high),
            )
        )
    return Limits(*np.mean(told, axis=0).tolist())


def own_slopes(bases: int, units: int, spread: float, count: int, seed: int = 7) -> Limits:
    """The gap follows the score in every base by a slope of its own, 0 on average."""
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(bases), units)
    told = []
    for _ in range(count):
        x = rng.normal(size=len(base))
        y = (spread * rng.normal(size=bases))[base] * x + rng.normal(size=len(base))
        found = evidence(Rows.of(x, y, np.arange(len(base)), base), resamples=RESAMPLES)
        told.append(
            (
                found.within_p < 0.05,
                _excludes_0(found.partial_low, found.partial_high),
                _excludes_0(found.across_low, found.across_high),
                _excludes_0(found.arms_low, found.arms_high),
            )
        )
    return Limits(*np.mean(told, axis=0).tolist())
