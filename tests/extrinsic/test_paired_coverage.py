"""Do the intervals of differences between two classifiers hold the truth? Simulated test sets of
two groups, on whose items both classifiers are tested.

Coverage of the difference of two gaps, mean, lowest and highest over the mixes of rates and
agreement in ``MIXES``, by the number of items in each group (4,000 sets each):

           precision        recall           F1               FPR
    30     .981 .969 .992   .964 .927 .998   .966 .948 .991   .965 .949 .981
    50     .970 .959 .980   .959 .937 .983   .960 .949 .978   .958 .949 .965
    100    .961 .954 .968   .953 .939 .963   .954 .950 .964   .954 .951 .959

Above .97 lie sets in which the classifiers differ on few of the items that a measure counts: where
fewer than three are expected to, an interval that says how much is open holds the truth in 99%.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.weighted_sum import WeightedSum
from biasbridge.stats.intervals import Estimate, combination, quantile, wilson

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

LEVEL = 0.95
MEASURES = ("precision", "recall", "f1", "fpr")
PREVALENCE = 0.4
ONE, OTHER = GroupOrRest("one"), GroupOrRest("other")
LABEL, FIRST, SECOND = np.array(list(product((0, 1), repeat=3))).T


class Rates(NamedTuple):
    """The recall and the false positive rate of both classifiers in a group, and the correlation of
    their predictions within labels.
    """

    recall: tuple[float, float]
    fpr: tuple[float, float]
    agreement: float

    def shares(self) -> Floats:
        """Of the items by label and the two predictions, (8,)."""
        found = []
        for weight, (p, q) in ((1 - PREVALENCE, self.fpr), (PREVALENCE, self.recall)):
            both = p * q + self.agreement * sqrt(p * (1 - p) * q * (1 - q))
            both = min(both, p, q)
            found += [weight * x for x in (1 - p - q + both, q - both, p - both, both)]
        return np.array(found)


MIXES = [
    (Rates((0.8, 0.7), (0.2, 0.1), r), Rates((0.6, 0.7), (0.3, 0.15), r)) for r in (0.0, 0.5, 0.8)
] + [(Rates((0.9, 0.8), (0.3, 0.3), r), Rates((0.9, 0.9), (0.1, 0.2), r)) for r in (0.0, 0.5, 0.8)]
SIZES = (30, 50, 100)


def paired(counts: np.ndarray) -> WeightedSum:
    """The difference of the classifiers on so many items of each kind in each group, (2, 8)."""
    kind = np.concatenate([np.repeat(np.arange(8), each) for each in counts])
    group = np.repeat([0, 1], counts.sum(axis=1))
    cells = (2 * LABEL[kind] + prediction[kind] for prediction in (FIRST, SECOND))
    items = np.arange(len(kind))
    samples = [
        GroupedPredictions(("one", "other"), items, group, cell, min_support=10) for cell in cells
    ]
    return WeightedSum(samples, [1, -1])


def truth(measure: str, mix: tuple[Rates, Rates]) -> float:
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


def draw(mix: tuple[Rates, Rates], size: int, sets: int) -> Iterator[WeightedSum]:
    rng = np.random.default_rng([size, MIXES.index(mix)])
    drawn = [rng.multinomial(size, rates.shares(), sets) for rates in mix]
    return map(paired, np.stack(drawn, axis=1))


def coverage(mix: tuple[Rates, Rates], size: int, sets: int) -> dict[str, Floats]:
    """Whether the interval of each set's difference of gaps holds the truth, by measure."""
    held: dict[str, list[bool]] = {measure: [] for measure in MEASURES}
    truths = {measure: truth(measure, mix) for measure in MEASURES}
    for pair in draw(mix, size, sets):
        for measure in MEASURES:
            found = pair.difference(measure, ONE, OTHER)
            if not np.isnan(found.value):
                assert found.low < found.value < found.high
                held[measure].append(found.low <= truths[measure] <= found.high)
    return {measure: np.array(each) for measure, each in held.items()}


def test_the_difference_of_two_gaps_holds_the_truth() -> None:
    """Of about 700 sets a measure; the standard error is .008."""
    found = [coverage(mix, size, 60) for mix, size in product(MIXES, SIZES[1:])]
    for measure in MEASURES:
        assert 0.93 <= np.concatenate([each[measure] for each in found]).mean() <= 0.98


@pytest.mark.parametrize(
    ("measure", "counts"),
    [
        ("f1", [[35, 4, 9, 14, 12, 3, 3, 12], [17, 0, 20, 1, 14, 0, 0, 1]]),
        ("precision", [[48, 0, 0, 1, 11, 8, 0, 9], [12, 1, 0, 11, 3, 3, 0, 9]]),
    ],
)
def test_no_interval_ends_at_the_value(measure: str, counts: list[list[int]]) -> None:
    """As it did where the sum of squares and products of half widths came out negative."""
    found = paired(np.array(counts)).difference(measure, ONE, OTHER)
    assert found.low + 0.05 < found.value < found.high - 0.05


@pytest.mark.stress
@pytest.mark.parametrize("size", SIZES)
def test_the_difference_of_two_gaps_holds_the_truth_in_every_mix(size: int) -> None:
    found = [coverage(mix, size, 4000) for mix in MIXES]
    table = {measure: [float(each[measure].mean()) for each in found] for measure in MEASURES}
    for measure, shares in table.items():
        print(size, measure, *(f"{x:.3f}" for x in (np.mean(shares), min(shares), max(shares))))
    for shares in table.values():
        assert 0.94 <= np.mean(shares) <= (0.985 if size < 50 else 0.975)
        assert min(shares) >= (0.92 if size < 50 else 0.93)


def proportion(k: int, n: int) -> Estimate:
    return Estimate(k / n, *wilson(k, n, LEVEL))


def influences(k: int, n: int, before: int, after: int) -> Floats:
    """Of n items, of which the first k count, among others that are of no concern."""
    moved = ((np.arange(n) < k) - k / n) / n
    return np.concatenate([np.zeros(before), moved, np.zeros(after)])


@pytest.mark.parametrize(("k", "n", "j", "m"), [(9, 10, 12, 40), (0, 15, 15, 15), (30, 60, 1, 20)])
def test_of_two_proportions_that_share_no_item_it_is_agresti_and_caffos(
    k: int, n: int, j: int, m: int
) -> None:
    moved = [influences(k, n, 0, m), influences(j, m, n, 0)]
    found = combination([proportion(k, n), proportion(j, m)], [1, -1], moved, LEVEL)
    expected = confint_proportions_2indep(k, n, j, m, method="agresti-caffo", compare="diff")
    assert found[1:] == pytest.approx(np.clip(expected, -1, 1), abs=1e-12)


def test_of_several_proportions_it_is_price_and_bonetts() -> None:
    """Their formula: sum c (f + 2/m) / (n + 4/m), with variance sum c^2 p (1 - p) / (n + 4/m)."""
    counts, weights = [(9, 10), (12, 40), (25, 30), (4, 20)], [0.5, 0.5, -0.5, -0.5]
    starts = np.cumsum([0, *(n for _, n in counts)])
    moved = [influences(k, n, starts[i], 100 - starts[i] - n) for i, (k, n) in enumerate(counts)]
    found = combination([proportion(*each) for each in counts], weights, moved, LEVEL)
    middle = variance = 0.0
    for c, (k, n) in zip(weights, counts, strict=True):
        p = (k + 2 / 4) / (n + 4 / 4)
        middle += c * p
        variance += c**2 * p * (1 - p) / (n + 4 / 4)
    half = quantile(LEVEL) * sqrt(variance)
    assert found == pytest.approx(
        (0.5 * (0.9 + 0.3 - 25 / 30 - 0.2), middle - half, middle + half), abs=1e-12
    )


def test_of_two_recalls_on_the_same_items_by_a_loop_over_them() -> None:
    first, second = [1] * 14 + [0] * 6, [1] * 10 + [0] * 8 + [1] * 2
    items = np.arange(20)
    cells = (2 + np.array(each) for each in (first, second))
    pair = WeightedSum(
        [GroupedPredictions(("one",), items, items * 0, cell) for cell in cells], [1, -1]
    )
    found = pair.group_measure("recall", ONE).estimate
    # Of 22, with one success and one failure
    p, q, variance = (sum(first) + 1) / 22, (sum(second) + 1) / 22, 0.0
    for x, y in zip(first, second, strict=True):
        # About their means, by which alone the pseudo-items are apart
        variance += ((x - 14 / 20) / 22 - (y - 12 / 20) / 22) ** 2
    for share, seen in ((p, 14), (q, 12)):
        variance += share * (1 - share) / 22 - 20 * (seen / 20) * (1 - seen / 20) / 22**2
    half = 1.959964 * sqrt(variance)
    assert found == pytest.approx((0.1, p - q - half, p - q + half), abs=1e-6)


def test_a_difference_of_two_gaps_by_the_delta_method_in_a_loop_over_items() -> None:
    """Many items, on which the pseudo-items hardly count."""
    pair = next(draw(MIXES[1], 4_000, 1))
    found = pair.difference("recall", ONE, OTHER)
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
    assert found == pytest.approx((contrast, contrast - half, contrast + half), abs=2e-3)


def test_classifiers_that_always_agree_leave_open_a_difference_of_three_in_n() -> None:
    """The rule of three, from both sides; of identical predictions nothing is seen to move."""
    for n in (20, 100, 1000):
        counts = np.zeros((2, 8), dtype=int)
        counts[:, 7], counts[:, 4] = n - n // 20, n // 20
        found = paired(counts).group_measure("recall", ONE).estimate
        assert found.value == 0
        assert found.high == pytest.approx(-found.low)
        assert 1 / n < found.high < 4 / n
