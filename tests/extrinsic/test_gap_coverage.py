"""Do the 95% intervals of gaps hold the truth? Simulated test sets of two groups."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from extrinsic.measures import MEASURES, Counts, Estimate, Floats, difference

POSITIVES = (5, 10, 30, 100)
PREVALENCE = 0.25
LEVEL = 0.95


class Rates(NamedTuple):
    """What a classifier does in a group."""

    recall: float
    precision: float

    def truth(self, measure: str) -> float:
        f1 = 2 * self.recall * self.precision / (self.recall + self.precision)
        return {"recall": self.recall, "precision": self.precision, "f1": f1}[measure]

    def draw(self, positives: int, sets: int, rng: np.random.Generator) -> Counts:
        """The cells of test sets (sets, 4) with so many positives on average."""
        tp = PREVALENCE * self.recall
        fp = tp * (1 - self.precision) / self.precision
        shares = [1 - PREVALENCE - fp, fp, PREVALENCE - tp, tp]
        return rng.multinomial(round(positives / PREVALENCE), shares, sets)


GRID = [Rates(*each) for each in product((0.5, 0.7, 0.9, 0.95, 1.0), repeat=2)]
FEW = [Rates(0.5, 0.5), Rates(0.5, 1), Rates(0.9, 0.7), Rates(0.95, 0.95), Rates(1, 0.9)]


@cache
def estimate(measure: str, cells: tuple[int, ...]) -> Estimate | None:
    spec, counts = MEASURES[measure], np.array(cells)
    return spec.estimate(counts, LEVEL) if spec.support(counts) else None


def score(measure: str, a: Counts, b: Counts) -> Floats:
    """The interval of each set (sets, 2); NaN where a measure is undefined."""
    sides = (
        [estimate(measure, tuple(cells)) for cells in (each * [0, 1, 1, 1]).tolist()]
        for each in (a, b)
    )
    pairs = zip(*sides, strict=True)
    return np.array([difference(x, y)[1:] if x and y else (np.nan, np.nan) for x, y in pairs])


def bootstrap(measure: str, a: Counts, b: Counts, *, smoothed: bool) -> Floats:
    """Percentiles over 300 resamples: of the items, or (smoothed) shares of the cells drawn from
    their Jeffreys posterior.
    """
    rng, spec = np.random.default_rng(1), MEASURES[measure]
    drawn = []
    for cells in (a, b):
        shape = (300, *cells.shape)
        shares = rng.standard_gamma(np.broadcast_to(cells + 0.5, shape))
        items = rng.multinomial(cells.sum(-1), cells / cells.sum(-1, keepdims=True), shape[:2])
        # Shares as counts of many items
        drawn.append(spec.values((1e6 * shares).astype(np.int64) if smoothed else items))
    with np.errstate(invalid="ignore"):
        found = np.nanquantile(drawn[0] - drawn[1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    found[:, (spec.support(a) == 0) | (spec.support(b) == 0)] = np.nan
    return np.asarray(found.T)


class Coverage(NamedTuple):
    """How often intervals hold the truth, on average and in the worst pair of rates; their mean
    width.
    """

    mean: float
    lowest: float
    width: float


def simulate(
    method: str,
    measure: str,
    positives: tuple[int, int],
    *,
    sets: int,
    rates: list[Rates] = GRID,
) -> Coverage:
    rng = np.random.default_rng(0)
    held, widths = [], []
    drawn = [{each: each.draw(n, sets, rng) for each in rates} for n in positives]
    for one, other in combinations_with_replacement(rates, 2):
        a, b = drawn[0][one], drawn[1][other]
        bounds = (
            score(measure, a, b)
            if method == "score"
            else bootstrap(measure, a, b, smoothed=method == "smoothed")
        )
        low, high = bounds[~np.isnan(bounds[:, 0])].T
        truth = one.truth(measure) - other.truth(measure)
        # The truth may lie on a bound
        held.append(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean())
        widths.append((high - low).mean())
    found = Coverage(float(np.mean(held)), float(min(held)), float(np.mean(widths)))
    print(method, measure, positives, found)
    return found


@pytest.mark.parametrize("n", POSITIVES)
def test_recall_of_so_many_positives_exactly(n: int) -> None:
    """Summed over all outcomes. Precision is the same of the predicted positives, and the false
    positive rate, with k for n - k, of the negatives.
    """
    cells = np.array([[0, 0, n - k, k] for k in range(n + 1)])
    every = np.repeat(np.arange(n + 1), n + 1), np.tile(np.arange(n + 1), n + 1)
    low, high = score("recall", cells[every[0]], cells[every[1]]).T
    for one, other in product((0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0), repeat=2):
        held = (low - 1e-9 <= one - other) & (one - other <= high + 1e-9)
        chance = binom.pmf(every[0], n, one) * binom.pmf(every[1], n, other)
        assert chance[held].sum() >= 0.93


@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
@pytest.mark.parametrize("n", [5, 30])
def test_gaps_of_random_test_sets(measure: str, n: int) -> None:
    found = simulate("score", measure, (n, n), sets=2000, rates=FEW)
    assert found.lowest >= 0.93


@pytest.mark.stress
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
@pytest.mark.parametrize("positives", [*((n, n) for n in POSITIVES), (10, 100)])
def test_gaps_over_the_whole_grid(measure: str, positives: tuple[int, int]) -> None:
    """325 pairs of rates, positives on average.

    TABLE
    """
    assert simulate("score", measure, positives, sets=10_000).lowest >= 0.93


@pytest.mark.stress
@pytest.mark.parametrize("method", ["percentile", "smoothed"])
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
@pytest.mark.parametrize("n", POSITIVES)
def test_a_bootstrap_is_no_better(method: str, measure: str, n: int) -> None:
    """TABLE"""
    found, ours = (
        simulate(each, measure, (n, n), sets=2000, rates=FEW) for each in (method, "score")
    )
    assert found.lowest <= ours.lowest + 0.01
