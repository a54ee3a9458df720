"""Do the 95% intervals of gaps hold the truth? Simulated test sets of two groups.

Coverage, mean and lowest over pairs of groups with rates from .5 to 1, and mean width, by the
number of positives expected in each group. Score intervals (325 pairs, 10,000 sets):

                  precision        recall           F1
    5             .974 .937 .93    .977 .936 .91    .958 .936 .74
    10            .974 .940 .67    .974 .937 .65    .957 .936 .53
    30            .970 .942 .36    .968 .944 .36    .954 .943 .31
    100           .961 .944 .18    .959 .943 .19    .951 .943 .17
    10 and 100    .958 .932 .48    .956 .946 .47    .952 .945 .41
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep

from biasbridge.extrinsic.bbq import estimate_scores
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest, WeightedSum
from biasbridge.extrinsic.measures import MEASURES, Counts
from biasbridge.extrinsic.spread import DIFFERENCE, RATIO, Block, Spread, estimate_spread
from biasbridge.stats.intervals import Estimate, quantile
from biasbridge.stats.proportions import combination, difference, wilson

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


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


def score(measure: str, cells: Counts) -> Floats:
    """The estimate of each set (sets, 3); NaN where the measure is undefined."""
    spec, undefined = MEASURES[measure], (np.nan, np.nan, np.nan)
    different, of = np.unique(cells[:, 1:], axis=0, return_inverse=True)
    counts = np.pad(different, ((0, 0), (1, 0)))  # whatever tn is
    result = [spec.estimate(count, LEVEL) if spec.support(count) else undefined for count in counts]
    return np.array(result)[of]


def score_interval(a: Floats, b: Floats) -> Floats:
    """Low and high of each set's gap (sets, 2)."""
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([difference(Estimate(*x), Estimate(*y))[1:] for x, y in pairs])


class Coverage(NamedTuple):
    """How often intervals hold the truth, on average and in the worst pair of rates; their mean
    width.
    """

    mean: float
    lowest: float
    width: float


def simulate(measure: str, positives: tuple[int, int], sets: int, rates: list[Rates]) -> Coverage:
    rng = np.random.default_rng(0)
    a, b = ({each: score(measure, each.draw(n, sets, rng)) for each in rates} for n in positives)
    held, widths = [], []
    for one, other in combinations_with_replacement(rates, 2):
        bounds = score_interval(a[one], b[other])
        low, high = bounds[~np.isnan(bounds[:, 0])].T
        truth = one.truth(measure) - other.truth(measure)
        held.append(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean())
        widths.append((high - low).mean())
    result = Coverage(float(np.mean(held)), float(min(held)), float(np.mean(widths)))
    print(measure, *positives, *(f"{each:.3f}" for each in result))
    return result


@pytest.mark.parametrize("n", POSITIVES)
def test_recall_of_so_many_positives_exactly(n: int) -> None:
    """Summed over all outcomes. Precision is the same of the predicted positives, and the false
    positive rate, with k for n - k, of the negatives. In steps of .01, 6% of the pairs of rates
    lie below .93 at n = 5 (lowest .901), 1% at 10 (.928), none at 30 and 100; with 10 in one group
    and 100 in the other .3% (.914, at .95 and 1).
    """
    cells = np.array([[0, 0, n - k, k] for k in range(n + 1)])
    every = np.repeat(np.arange(n + 1), n + 1), np.tile(np.arange(n + 1), n + 1)
    estimates = score("recall", cells)
    low, high = score_interval(estimates[every[0]], estimates[every[1]]).T
    for one, other in product((0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0), repeat=2):
        held = (low - 1e-9 <= one - other) & (one - other <= high + 1e-9)
        chance = binom.pmf(every[0], n, one) * binom.pmf(every[1], n, other)
        assert chance[held].sum() >= 0.93


@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
@pytest.mark.parametrize("n", [5, 30])
def test_gaps_of_random_test_sets(measure: str, n: int) -> None:
    result = simulate(measure, (n, n), 10_000, FEW)
    assert result.lowest >= 0.93


@pytest.mark.stress
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
@pytest.mark.parametrize("positives", [*((n, n) for n in POSITIVES), (10, 100)])
def test_gaps_over_the_whole_grid(measure: str, positives: tuple[int, int]) -> None:
    assert simulate(measure, positives, 10_000, GRID).lowest >= 0.93


# Intervals of items in three groups at random, in clusters or not, against the rest and none.
#
# Coverage of the recall gap (4,000 sets, 20 items a cluster), by clusters and intraclass
# correlation:
#
#                rest, a   rest, b   none, a   none, b
#     10, 0      .950      .949      .949      .946
#     10, .1     .960      .952      .959      .954
#     10, .3     .963      .958      .959      .964
#     60, 0      .947      .947      .956      .953

GROUPS = ("a", "b", "c")
SHARE, COST, MEAN = 0.4, 0.15, 0.7
# Recall: MEAN, COST less for items of group a; membership in the three groups is independent
TRUTH = {"rest a": COST, "rest b": 0.0, "none a": COST, "none b": SHARE * COST}
SIDES = {
    f"{side} {name}": (
        GroupOrRest(name, rest=True) if side == "rest" else GroupOrRest("none"),
        GroupOrRest(name),
    )
    for side in ("rest", "none")
    for name in "ab"
}


def draw(n_clusters: int, size: int, icc: float, rng: np.random.Generator) -> GroupedPredictions:
    """Items with label 1 in clusters, each of a recall of its own, or of one if ``icc`` is 0."""
    n = n_clusters * size
    member = rng.random((n, len(GROUPS))) < SHARE
    scale = (1 / icc - 1) if icc else np.inf
    # Beta on [.4, 1]: mean .7
    rates = (
        0.4 + 0.6 * rng.beta(scale / 2, scale / 2, n_clusters) if icc else np.full(n_clusters, MEAN)
    )
    chance = np.repeat(rates, size) - COST * member[:, 0]
    item, group_id = np.nonzero(member)
    unit = np.repeat(np.arange(n_clusters), size) if icc else None
    cells = 2 + (rng.random(n) < chance).astype(int)
    return GroupedPredictions(GROUPS, item, group_id, cells, unit=unit)


def coverage(n_clusters: int, icc: float, sets: int) -> dict[str, float]:
    rng, held = np.random.default_rng(n_clusters), dict.fromkeys(TRUTH, 0)
    for _ in range(sets):
        sample = draw(n_clusters, 20, icc, rng)
        for name, sides in SIDES.items():
            low, high = sample.difference("recall", *sides)[1:]
            held[name] += low <= TRUTH[name] <= high
    return {name: count / sets for name, count in held.items()}


@pytest.mark.parametrize("icc", [0.0, 0.1])
@pytest.mark.parametrize("n_clusters", [10, 60])
def test_intervals_of_overlapping_groups_hold_the_truth(n_clusters: int, icc: float) -> None:
    """Within two standard errors of .93 to .97."""
    error = 2 * np.sqrt(0.05 * 0.95 / 400)
    for name, held in coverage(n_clusters, icc, 400).items():
        assert 0.93 - error <= held <= 0.97 + error, name


@pytest.mark.stress
@pytest.mark.parametrize("icc", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("n_clusters", [10, 60])
def test_intervals_of_overlapping_groups_at_full_size(n_clusters: int, icc: float) -> None:
    result = coverage(n_clusters, icc, 4000)
    print(icc, n_clusters, result)
    assert all(0.93 <= held <= 0.97 for held in result.values())


# Do the intervals of differences between two classifiers hold the truth? Simulated test sets of
# two groups, on whose items both classifiers are tested.
#
# Coverage of the difference of two gaps, mean, lowest and highest over the mixes of rates and
# agreement in ``MIXES``, by the number of items in each group (4,000 sets each):
#
#            precision        recall           F1               FPR
#     30     .981 .969 .992   .964 .927 .998   .966 .948 .991   .965 .949 .981
#     50     .970 .959 .980   .959 .937 .983   .960 .949 .978   .958 .949 .965
#     100    .961 .954 .968   .953 .939 .963   .954 .950 .964   .954 .951 .959
#
# Above .97 lie sets in which the classifiers differ on few of the items that a measure counts:
# where
# fewer than three are expected to, an interval that says how much is open holds the truth in 99%.

PAIRED_LEVEL = 0.95
PAIRED_MEASURES = ("precision", "recall", "f1", "fpr")
PAIRED_PREVALENCE = 0.4
ONE, OTHER = GroupOrRest("one"), GroupOrRest("other")
LABEL, FIRST, SECOND = np.array(list(product((0, 1), repeat=3))).T


class PairedRates(NamedTuple):
    """The recall and the false positive rate of both classifiers in a group, and the correlation of
    their predictions within labels.
    """

    recall: tuple[float, float]
    fpr: tuple[float, float]
    agreement: float

    def shares(self) -> Floats:
        """Of the items by label and the two predictions, (8,)."""
        found = []
        for weight, (p, q) in ((1 - PAIRED_PREVALENCE, self.fpr), (PAIRED_PREVALENCE, self.recall)):
            both = p * q + self.agreement * sqrt(p * (1 - p) * q * (1 - q))
            both = min(both, p, q)
            found += [weight * x for x in (1 - p - q + both, q - both, p - both, both)]
        return np.array(found)


MIXES = [
    (PairedRates((0.8, 0.7), (0.2, 0.1), r), PairedRates((0.6, 0.7), (0.3, 0.15), r))
    for r in (0.0, 0.5, 0.8)
] + [
    (PairedRates((0.9, 0.8), (0.3, 0.3), r), PairedRates((0.9, 0.9), (0.1, 0.2), r))
    for r in (0.0, 0.5, 0.8)
]
SIZES = (30, 50, 100)


def paired(counts: np.ndarray) -> WeightedSum:
    """The difference of the classifiers on so many items of each kind in each group, (2, 8)."""
    kind = np.concatenate([np.repeat(np.arange(8), count) for count in counts])
    group = np.repeat([0, 1], counts.sum(axis=1))
    cells = (2 * LABEL[kind] + prediction[kind] for prediction in (FIRST, SECOND))
    items = np.arange(len(kind))
    samples = [
        GroupedPredictions(("one", "other"), items, group, cell, min_support=10) for cell in cells
    ]
    return WeightedSum(samples, [1, -1])


def truth(measure: str, mix: tuple[PairedRates, PairedRates]) -> float:
    """The difference of the gaps over all items there are."""

    def of(shares: Floats, prediction: np.ndarray) -> float:
        tn, fp, fn, tp = (
            shares[(label == LABEL) & (guess == prediction)].sum()
            for label, guess in product((0, 1), repeat=2)
        )
        values = {"precision": tp / (tp + fp), "recall": tp / (tp + fn), "fpr": fp / (tn + fp)}
        return float((values | {"f1": 2 * tp / (2 * tp + fp + fn)})[measure])

    one, other = ([of(rates.shares(), each) for each in (FIRST, SECOND)] for rates in mix)
    return one[0] - one[1] - (other[0] - other[1])


def draw_pairs(mix: tuple[PairedRates, PairedRates], size: int, sets: int) -> Iterator[WeightedSum]:
    rng = np.random.default_rng([size, MIXES.index(mix)])
    drawn = [rng.multinomial(size, rates.shares(), sets) for rates in mix]
    return map(paired, np.stack(drawn, axis=1))


def paired_coverage(
    mix: tuple[PairedRates, PairedRates], size: int, sets: int
) -> dict[str, Floats]:
    """Whether the interval of each set's difference of gaps holds the truth, by measure."""
    held: dict[str, list[bool]] = {measure: [] for measure in PAIRED_MEASURES}
    truths = {measure: truth(measure, mix) for measure in PAIRED_MEASURES}
    for pair in draw_pairs(mix, size, sets):
        for measure in PAIRED_MEASURES:
            result = pair.difference(measure, ONE, OTHER)
            if not np.isnan(result.value):
                assert result.low < result.value < result.high
                held[measure].append(result.low <= truths[measure] <= result.high)
    return {measure: np.array(each) for measure, each in held.items()}


def test_the_difference_of_two_gaps_holds_the_truth() -> None:
    """Of about 700 sets a measure; the standard error is .008."""
    result = [paired_coverage(mix, size, 60) for mix, size in product(MIXES, SIZES[1:])]
    for measure in PAIRED_MEASURES:
        assert 0.93 <= np.concatenate([each[measure] for each in result]).mean() <= 0.98


@pytest.mark.parametrize(
    ("measure", "counts"),
    [
        ("f1", [[35, 4, 9, 14, 12, 3, 3, 12], [17, 0, 20, 1, 14, 0, 0, 1]]),
        ("precision", [[48, 0, 0, 1, 11, 8, 0, 9], [12, 1, 0, 11, 3, 3, 0, 9]]),
    ],
)
def test_no_interval_ends_at_the_value(measure: str, counts: list[list[int]]) -> None:
    """As it did where the sum of squares and products of half widths came out negative."""
    result = paired(np.array(counts)).difference(measure, ONE, OTHER)
    assert result.low + 0.05 < result.value < result.high - 0.05


@pytest.mark.stress
@pytest.mark.parametrize("size", SIZES)
def test_the_difference_of_two_gaps_holds_the_truth_in_every_mix(size: int) -> None:
    result = [paired_coverage(mix, size, 4000) for mix in MIXES]
    table = {
        measure: [float(each[measure].mean()) for each in result] for measure in PAIRED_MEASURES
    }
    for measure, shares in table.items():
        print(size, measure, *(f"{x:.3f}" for x in (np.mean(shares), min(shares), max(shares))))
    for shares in table.values():
        assert 0.94 <= np.mean(shares) <= (0.985 if size < 50 else 0.975)
        assert min(shares) >= (0.92 if size < 50 else 0.93)


def proportion(k: int, n: int) -> Estimate:
    return Estimate(k / n, *wilson(k, n, PAIRED_LEVEL))


def influences(k: int, n: int, before: int, after: int) -> Floats:
    """Of n items, of which the first k count, among others that are of no concern."""
    moved = ((np.arange(n) < k) - k / n) / n
    return np.concatenate([np.zeros(before), moved, np.zeros(after)])


@pytest.mark.parametrize(("k", "n", "j", "m"), [(9, 10, 12, 40), (0, 15, 15, 15), (30, 60, 1, 20)])
def test_of_two_proportions_that_share_no_item_it_is_agresti_and_caffos(
    k: int, n: int, j: int, m: int
) -> None:
    moved = [influences(k, n, 0, m), influences(j, m, n, 0)]
    result = combination([proportion(k, n), proportion(j, m)], [1, -1], moved, PAIRED_LEVEL)
    expected = confint_proportions_2indep(k, n, j, m, method="agresti-caffo", compare="diff")
    assert result[1:] == pytest.approx(np.clip(expected, -1, 1), abs=1e-12)


def test_of_several_proportions_it_is_price_and_bonetts() -> None:
    """Their formula: sum c (f + 2/m) / (n + 4/m), with variance sum c^2 p (1 - p) / (n + 4/m)."""
    counts, weights = [(9, 10), (12, 40), (25, 30), (4, 20)], [0.5, 0.5, -0.5, -0.5]
    starts = np.cumsum([0, *(n for _, n in counts)])
    moved = [influences(k, n, starts[i], 100 - starts[i] - n) for i, (k, n) in enumerate(counts)]
    result = combination([proportion(*count) for count in counts], weights, moved, PAIRED_LEVEL)
    middle = variance = 0.0
    for c, (k, n) in zip(weights, counts, strict=True):
        p = (k + 2 / 4) / (n + 4 / 4)
        middle += c * p
        variance += c**2 * p * (1 - p) / (n + 4 / 4)
    half = quantile(PAIRED_LEVEL) * sqrt(variance)
    assert result == pytest.approx(
        (0.5 * (0.9 + 0.3 - 25 / 30 - 0.2), middle - half, middle + half), abs=1e-12
    )


def test_of_two_recalls_on_the_same_items_by_a_loop_over_them() -> None:
    first, second = [1] * 14 + [0] * 6, [1] * 10 + [0] * 8 + [1] * 2
    items = np.arange(20)
    cells = (2 + np.array(each) for each in (first, second))
    pair = WeightedSum(
        [GroupedPredictions(("one",), items, items * 0, cell) for cell in cells], [1, -1]
    )
    result = pair.group_measure("recall", ONE).estimate
    # Of 22, with one success and one failure
    p, q, variance = (sum(first) + 1) / 22, (sum(second) + 1) / 22, 0.0
    for x, y in zip(first, second, strict=True):
        # About their means, by which alone the pseudo-items are apart
        variance += ((x - 14 / 20) / 22 - (y - 12 / 20) / 22) ** 2
    for share, seen in ((p, 14), (q, 12)):
        variance += share * (1 - share) / 22 - 20 * (seen / 20) * (1 - seen / 20) / 22**2
    half = 1.959964 * sqrt(variance)
    assert result == pytest.approx((0.1, p - q - half, p - q + half), abs=1e-6)


def test_a_difference_of_two_gaps_by_the_delta_method_in_a_loop_over_items() -> None:
    """Many items, on which the pseudo-items hardly count."""
    pair = next(draw_pairs(MIXES[1], 4_000, 1))
    result = pair.difference("recall", ONE, OTHER)
    contrast = 0.0
    variance = 0.0
    for side, gap_sign in (("one", 1), ("other", -1)):
        number = pair.groups.index(side)
        values = []
        for item in np.flatnonzero(pair.samples[0].group_id == number):
            first, second = (int(sample.confusion_cell[item]) for sample in pair.samples)
            if first >= 2:  # label 1
                values.append((first == 3) - (second == 3))
        mean = sum(values) / len(values)
        contrast += gap_sign * mean
        variance += sum((value - mean) ** 2 for value in values) / len(values) ** 2
    half = 1.959964 * sqrt(variance)
    assert result == pytest.approx((contrast, contrast - half, contrast + half), abs=2e-3)


def test_classifiers_that_always_agree_leave_open_a_difference_of_three_in_n() -> None:
    """The rule of three, from both sides; of identical predictions nothing is seen to move."""
    for n in (20, 100, 1000):
        counts = np.zeros((2, 8), dtype=int)
        counts[:, 7], counts[:, 4] = n - n // 20, n // 20
        result = paired(counts).group_measure("recall", ONE).estimate
        assert result.value == 0
        assert result.high == pytest.approx(-result.low)
        assert 1 / n < result.high < 4 / n


# How often does the interval of the largest difference hold the truth? Simulated tables.
#
# By how the groups lie: all alike; evenly apart (``line``); one apart from the others (``one``);
# two
# camps (``half``); one at either end and the others between (``between``). Mean, lowest and highest
# over differences of .1, .2 and .4 below .5 and .9, of 100 and 300 items a group; 500 tables each:
#
#                3 groups            6 groups
#     alike      .956 .952 .958      .965 .952 .976
#     line       .954 .928 .982      .970 .952 .992
#     one        .951 .932 .964      .948 .922 .978
#     half       .958 .942 .970      .957 .944 .974
#     all        .954 .928 .982      .960 .922 .992
#
# Of groups of 30 to 300 items side by side it is .90 to .99.

SPREAD_LEVEL = 0.95
TABLES = 200


def shape(name: str, k: int) -> Floats:
    """Where k groups lie between the lowest (0) and the highest (1)."""
    line = np.linspace(0, 1, k)
    shapes: dict[str, Floats] = {
        "alike": np.zeros(k),
        "line": line,
        "one": (line == 1).astype(float),
        "half": (line >= 0.5).astype(float),
        "between": np.where((line > 0) & (line < 1), 0.5, line),
    }
    return shapes[name]


def spread_coverage(rates: Floats, n: int, tables: int, spread: Spread = DIFFERENCE) -> float:
    rng = np.random.default_rng(0)
    truth = float(spread.compute(rates))
    held = 0
    for _ in range(tables):
        values = rng.binomial(n, rates) / n
        result = estimate_spread(
            [Block(values, np.full(len(rates), float(n)))], spread, SPREAD_LEVEL
        )
        held += result.low - 1e-9 <= truth <= result.high + 1e-9
    return held / tables


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasbridge.extrinsic.spread.N_DRAWS", 500)


@pytest.mark.parametrize(("k", "name"), [(3, "alike"), (3, "half"), (6, "alike"), (6, "one")])
def test_it_holds_the_truth_among_three_and_six_groups(k: int, name: str) -> None:
    """Of 120 tables; the standard error is .02."""
    assert 0.90 <= spread_coverage(0.7 - 0.3 * shape(name, k), 100, 120) <= 0.995


def test_an_interval_that_forgets_the_maximum_does_not() -> None:
    """Newcombe's, of the two groups that come out furthest apart, among six that are alike."""
    from biasbridge.stats.proportions import difference

    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        right = np.sort(rng.binomial(100, 0.7, 6))[[-1, 0]]
        best, worst = (
            MEASURES["recall"].estimate(np.array([0, 0, 100 - k, k]), SPREAD_LEVEL) for k in right
        )
        held += difference(best, worst).low <= 0
    assert held / 300 < 0.8


@pytest.mark.stress
@pytest.mark.parametrize("k", [3, 6])
@pytest.mark.parametrize("spread", [DIFFERENCE, RATIO], ids=["difference", "ratio"])
def test_over_every_shape(k: int, spread: Spread) -> None:
    result = {("alike", base, n, 0.0): 0.0 for base, n in product((0.5, 0.9), (100, 300))}
    shapes = ("line", "one", "half", "between")[: 3 if k == 3 else 4]
    result |= dict.fromkeys(product(shapes, (0.5, 0.9), (100, 300), (0.1, 0.2, 0.4)), 0.0)
    for name, base, n, apart in result:
        rates = base - apart * shape(name, k)
        result[name, base, n, apart] = spread_coverage(rates, n, TABLES, spread)
        print(k, spread.kind, name, base, n, apart, result[name, base, n, apart])
    every = np.array([*result.values()])
    print(k, spread.kind, f"{every.mean():.3f} {every.min():.3f} {every.max():.3f}")
    assert 0.93 <= every.mean() <= 0.97
    assert every.min() >= 0.90


# Coverage of BBQ's intervals over templates, by simulation.
#
# 25 templates of unequal size are drawn from a population of templates, whose shares of named, of
# biased and of right answers vary as they do in UnifiedQA's answers (RACE and ARC). Coverage of
# accuracy and score in ambiguous, then disambiguated contexts (2,500 sets):
#
#     race       .953   .954   .939   .950
#     arc        .945   .949   .944   .945
#     unbiased   .949   .953   .945   .952
#
# Where few templates hold nearly all answers that are not unknown, it is lower.

SETS = 2_000
TEMPLATE_SIZES = (16, 40, 60, 100, 200)
# Mean and concentration of the shares: right if disambiguated, named if ambiguous, biased of named
WORLDS = {
    "race": ((0.93, 20), (0.45, 4), (0.7, 3)),
    "arc": ((0.9, 10), (0.66, 4), (0.87, 4)),
    "unbiased": ((0.8, 8), (0.5, 8), (0.5, 6)),
}


def draw_templates(world: str, k: int, rng: np.random.Generator) -> Floats:
    """Draw counts of k templates, (k, contexts, 4)."""
    right, share_named, share_biased = (
        rng.beta(mean * m, (1 - mean) * m, k) for mean, m in WORLDS[world]
    )
    n = rng.choice(TEMPLATE_SIZES, k)
    named = rng.binomial(n, share_named)
    ambiguous = [n, n - named, named, rng.binomial(named, share_biased)]
    correct = rng.binomial(n, right)
    named = correct + rng.binomial(n - correct, 0.5)
    lean = rng.binomial(named, 0.5 + (share_biased - 0.5) / 5)
    return np.stack([np.stack(ambiguous, -1), np.stack([n, correct, named, lean], -1)], 1) * 1.0


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_cover_as_they_say(world: str) -> None:
    rng = np.random.default_rng(3)
    truth = estimate_scores(draw_templates(world, 100_000, rng), "paper")
    covered = np.zeros((2, 2))
    for _ in range(SETS):
        estimates = estimate_scores(draw_templates(world, 25, rng), "paper")
        for place, (accuracy, score, _) in enumerate(estimates):
            true_accuracy, true_score, _ = truth[place]
            pairs = ((accuracy, true_accuracy), (score, true_score))
            for number, (estimate, true) in enumerate(pairs):
                covered[place, number] += estimate.low <= true.value <= estimate.high
    assert (covered / SETS >= 0.93).all(), covered / SETS
    assert (covered / SETS <= 0.97).all(), covered / SETS
