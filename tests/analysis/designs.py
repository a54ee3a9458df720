"""Simulated studies with a known r_rm, in the designs that sweeps make, and what the inference says
of each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, nan, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import scipy

from biasbridge.analysis.correlation import Correlation, correlation
from biasbridge.analysis.observations import Observations
from biasbridge.analysis.slices import measure_slice
from biasbridge.analysis.verdicts import judge
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from biasbridge.analysis.slices import SliceResult
    from biasbridge.stats.arrays import Floats, Ints

Kind = Literal[
    "normal",
    "ladder of doses",
    "spread differs by parent",
    "noise grows with the score",
    "noise grows faster",
    "one outlier",
    "t with 3 df",
    "5% gross errors",
    "lognormal",
]
Lost = Literal["large scores", "large gaps", "large score + gap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LOST: tuple[Lost, ...] = get_args(Lost)
WITHIN, OVER = "within parents", "over conditions"
AVERAGED, UTILITY = "within clusters, averaged", "given utility"
IGNORED = "within parents, items ignored"
PERMUTATIONS = 999
TRUTH = 20_000  # studies that r of a population is computed from
PARENTS = 2.0  # standard deviation of what parents do to scores and gaps; that of noise is 1
OWN = 0.4  # standard deviation of scores within a parent and condition; doses reach from -1 to 1
ITEMS, RESAMPLES = 200, 200
MEASURED = 0.2  # standard deviation of the error of a utility


class Study(NamedTuple):
    """A simulated study; ``true``: r in its population, under each scope that it is asked for;
    ``planned``: models before any were lost.
    """

    of: Observations
    true: Mapping[str, float]
    planned: int


class Outcome(NamedTuple):
    """What is found of a study under one scope; NaN where there is no such thing.

    ``rm_corr``: whether Student's p, that of ``pingouin.rm_corr``, is below .05; ``coverage``:
    whether the 95% interval holds r.
    """

    p: float = nan
    rm_corr: float = nan
    coverage: float = nan
    width: float = nan


SCOPES: dict[str, Callable[[Observations], Correlation]] = {
    WITHIN: lambda of: of.within_models(PERMUTATIONS),
    AVERAGED: lambda of: of.average_over_clusters().within_models(PERMUTATIONS),
    IGNORED: lambda of: correlation(of.x, of.y, of.parent, permutations=PERMUTATIONS),
    OVER: lambda of: of.condition_means().within_models(PERMUTATIONS),
    UTILITY: lambda of: of.given_utility(PERMUTATIONS),
}


def outcomes(study: Study) -> dict[str, Outcome]:
    """What is found of a study under each of its scopes."""
    actual = {scope: SCOPES[scope](study.of) for scope in study.true if scope in SCOPES}
    return {scope: _outcome(item, study.true[scope]) for scope, item in actual.items()}


def _outcome(found: Correlation, true: float) -> Outcome:
    t = abs(found.r) * sqrt(found.df / max(1e-12, 1 - found.r**2))
    return Outcome(
        p=found.p < ALPHA,
        rm_corr=2 * float(scipy.special.stdtr(found.df, -t)) < ALPHA,
        coverage=found.low <= true <= found.high,
        width=found.high - found.low,
    )


def verdict_of(study: Study) -> SliceResult:
    """The study as a single confirmatory slice, judged by the full rule."""
    actual = measure_slice(study.of, {}, full=True, permutations=PERMUTATIONS)
    lost = study.planned - len(study.of.x)
    return judge([actual._replace(n_lost=lost, n_planned=study.planned, confirmatory=True)])[0]


def study_of(
    x: Floats,
    y: Floats,
    parent: Ints,
    true: Mapping[str, float],
    *,
    cluster: Ints | None = None,
    condition: Ints | None = None,
    utility: Floats | None = None,
    y_resampled: Floats | None = None,
    planned: int | None = None,
) -> Study:
    """A study of models that are named by number; parents are clusters where none is named."""
    n = len(x)

    def labels(numbers: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return np.asarray(numbers).astype(str)

    columns = {
        "model": labels(np.arange(n)),
        "parent": labels(parent),
        "cluster": labels(parent if cluster is None else cluster),
    }
    if condition is not None:
        methods = dict.fromkeys(("method", "family"), np.full(n, "m"))
        columns |= {"condition": labels(condition)} | methods
    given = {"utility": utility, "y_resampled": y_resampled}
    numbers = {name: values for name, values in given.items() if values is not None}
    of = Observations.make(x, y, **columns, **numbers)
    return Study(of, true, n if planned is None else planned)


def parents_of(sizes: tuple[int, ...]) -> Ints:
    """The parent of each model, for numbers of models by parent. Shape (n,)."""
    return np.repeat(np.arange(len(sizes)), sizes)


def effects(parent: Ints, rng: np.random.Generator) -> Floats:
    """What parents do to scores and gaps. Shape (2, n)."""
    actual: Floats = rng.normal(0, PARENTS, size=(2, int(parent.max()) + 1))
    return actual[:, parent]


def errors(kind: Kind, sizes: tuple[int, ...], r: float, rng: np.random.Generator) -> Study:
    """Models of parents with so many each; the noise of gaps is of a kind."""
    parent = parents_of(sizes)
    x, y = sides(kind, sizes, r, 1, rng)
    of_x, of_y = effects(parent, rng)
    return study_of(x[0] + of_x, y[0] + of_y, parent, {WITHIN: truth(kind, sizes, r)})


def sides(
    kind: Kind, sizes: tuple[int, ...], r: float, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Scores and gaps of many studies, less what parents do: y = r x + sqrt(1 - r^2) noise. Shapes
    (studies, n).
    """
    parent = parents_of(sizes)
    n = len(parent)
    x: Floats = rng.normal(size=(count, n))
    if kind == "ladder of doses":
        doses = np.concatenate([np.linspace(-1, 1, size) for size in sizes])
        x = (doses + OWN * x) / sqrt(float((doses**2).mean()) + OWN**2)
    noise = _noise(kind, x, rng)
    if kind == "spread differs by parent":  # from 1/2 to 2, on both sides
        item = np.tile(np.geomspace(0.5, 2, len(sizes)), (count, 1))
        spread = rng.permuted(item, axis=1)[:, parent]
        x, noise = x * spread, noise * spread
    if kind == "one outlier":
        noise[np.arange(count), rng.integers(n, size=count)] += 8
    return x, r * x + sqrt(1 - r * r) * noise


def _noise(kind: Kind, x: Floats, rng: np.random.Generator) -> Floats:
    """Of variance 1. Shape (studies, n)."""
    if kind == "t with 3 df":
        return rng.standard_t(3, size=x.shape) / sqrt(3)
    noise: Floats = rng.normal(size=x.shape)
    if kind == "5% gross errors":  # five times as large
        gross = np.where(rng.random(x.shape) < 0.05, 5, 1)
        return noise * gross / sqrt(0.95 + 0.05 * 25)
    if kind == "lognormal":
        return (np.exp(noise) - exp(0.5)) / sqrt((exp(1) - 1) * exp(1))
    if kind in ("noise grows with the score", "noise grows faster"):
        power = 1.0 if kind == "noise grows with the score" else 1.5
        normal = np.linspace(-8, 8, 4_001)
        density = np.exp(-(normal**2) / 2) / np.exp(-(normal**2) / 2).sum()
        variance = float(((0.3 + np.abs(normal) ** power) ** 2 * density).sum())
        return noise * (0.3 + np.abs(x) ** power) / sqrt(variance)
    return noise


@cache
def truth(kind: Kind, sizes: tuple[int, ...], r: float) -> float:
    """r_rm of the population: of many studies together, each less the means of its parents."""
    if r == 0:
        return 0.0
    parent = parents_of(sizes)
    means = (parent[:, None] == np.arange(len(sizes))) / np.array(sizes)
    share = np.eye(len(parent)) - means[:, parent]
    u, v = (side @ share for side in sides(kind, sizes, r, TRUTH, np.random.default_rng(99)))
    return float((u * v).sum() / sqrt(float((u * u).sum()) * float((v * v).sum())))


class Sweep(NamedTuple):
    """Every parent in every condition; ``corpora``: how many the parents share, ``effect``:
    standard deviation of what a condition does to the gaps of all models of a corpus, but not
    through the score; ``spread``: of the slopes of corpora around ``slope``.
    """

    parents: int
    conditions: int
    corpora: int = 1
    effect: float = 0.0
    slope: float = 0.0
    spread: float = 0.0

    @property
    def doses(self) -> Floats:
        """What conditions do to scores. Shape (conditions,)."""
        return np.linspace(-1, 1, self.conditions)

    def r(self, members: int = 1, own: Floats | None = None) -> float:
        """r of models, or of means of so many, by condition: among all conditions there might be,
        or among those with such effects of their ``own``.
        """
        dose, error = self.doses, 1 / members
        x = float(dose.var(ddof=1)) + OWN**2 * error
        moved, both = self.effect**2, 0.0
        if own is not None:
            moved, both = float(own.var(ddof=1)), float(np.cov(dose, own)[0, 1])
        y = self.slope**2 * x + 2 * self.slope * both + moved + error
        return (self.slope * x + both) / sqrt(x * y)

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats, Ints, Ints, Ints, Floats]:
        """Scores, gaps, parents, corpora and conditions of the models, and what the conditions of
        each corpus do to gaps.
        """
        parent = np.repeat(np.arange(self.parents), self.conditions)
        condition = np.tile(np.arange(self.conditions), self.parents)
        corpus = parent * self.corpora // self.parents
        own: Floats = self.effect * rng.normal(size=(self.corpora, self.conditions))
        slopes = self.slope + self.spread * rng.normal(size=self.corpora)
        x = self.doses[condition] + OWN * rng.normal(size=len(parent))
        y = slopes[corpus] * x + own[corpus, condition] + rng.normal(size=len(parent))
        of_x, of_y = effects(parent, rng)
        return x + of_x, y + of_y, parent, corpus, condition, own


def conditions(sweep: Sweep, rng: np.random.Generator) -> Study:
    """Conditions with effects of their own on all models; within parents r is that among these."""
    x, y, parent, _, condition, own = sweep.draw(rng)
    true = {WITHIN: sweep.r(own=own[0]), OVER: sweep.r(sweep.parents)}
    return study_of(x, y, parent, true, condition=condition)


def clusters(sweep: Sweep, rng: np.random.Generator) -> Study:
    """Parents (seeds) that share corpora, whose conditions have effects of their own."""
    x, y, parent, corpus, condition, _ = sweep.draw(rng)
    true = {WITHIN: sweep.r(), AVERAGED: sweep.r(sweep.parents // sweep.corpora)}
    return study_of(x, y, parent, true, cluster=corpus, condition=condition)


def damaged(sizes: tuple[int, ...], strength: float, rng: np.random.Generator) -> Study:
    """Damage raises score and gap and lowers utility; nothing else relates them."""
    parent = parents_of(sizes)
    damage = strength * rng.normal(size=len(parent))
    x, y = effects(parent, rng) + damage + rng.normal(size=(2, len(parent)))
    utility = -damage - strength * MEASURED * rng.normal(size=len(parent))
    true = {WITHIN: strength**2 / (1 + strength**2), UTILITY: 0.0}
    return study_of(x, y, parent, true, utility=utility)


def lossy(sizes: tuple[int, ...], lost: Lost, share: float, rng: np.random.Generator) -> Study:
    """No relation, and a share of the models lost: those with large scores or gaps for their
    parent.
    """
    parent = parents_of(sizes)
    x, y = rng.normal(size=(2, len(parent)))
    by = {"large scores": x, "large gaps": y, "large score + gap": x + y}[lost]
    selected = np.sort(np.argsort(by)[: len(by) - round(share * len(by))])
    of_x, of_y = effects(parent, rng)
    x, y = (x + of_x)[selected], (y + of_y)[selected]
    return study_of(x, y, parent[selected], {WITHIN: 0.0}, planned=len(parent))


def on_items(
    sizes: tuple[int, ...],
    r: float,
    spread: float,
    rng: np.random.Generator,
    trait: Literal["score", "other"] = "score",
) -> Study:
    """Gaps are means over test items that all models share.

    Each item has a slope of its own, 0 on average, on the score or on another trait of the models,
    and an error of its own with each model; ``spread``: the standard error of the mean of either
    over the items, chance over models being 1. r is that over all items there might be, with errors
    as large as here.
    """
    parent = parents_of(sizes)
    n, slope = len(parent), r / sqrt(1 - r * r)
    x: Floats = rng.normal(size=n)
    own = slope * x + rng.normal(size=n)
    slopes: Floats = rng.normal(size=ITEMS)
    errors_of_items = rng.normal(size=(n, ITEMS))
    followed = x if trait == "score" else rng.normal(size=n)
    of_items = spread * sqrt(ITEMS) * (followed[:, None] * slopes + errors_of_items)
    weights = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=RESAMPLES).T / ITEMS
    of_x, of_y = effects(parent, rng)
    true = slope / sqrt(slope**2 + 1 + (1 if trait == "score" else 2) * spread**2)
    return study_of(
        x + of_x,
        own + of_items.mean(axis=1) + of_y,
        parent,
        {WITHIN: true, IGNORED: true},
        y_resampled=(own + of_y)[:, None] + of_items @ weights,
    )
