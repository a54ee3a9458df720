"""Items that are in several groups: a long table with a row for each item and group.

Coverage of the difference of two groups that hold each of 200 items with chance .5, and .8,
independently (4,000 sets):

          recall   precision   F1     FPR    AUC
    .5    .966     .962        .966   .962   .968
    .8    .976     .969        .968   .968   .971
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import biasbridge
from biasbridge.extrinsic.gap_table import gap_table, make_block
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.measures import MEASURES
from biasbridge.extrinsic.spread import DIFFERENCE, estimate_spread
from biasbridge.files import InputError
from biasbridge.intrinsic.resampling import times_drawn

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

GROUPS = ("a", "b", "c")
SIMULATED = ("recall", "precision", "f1", "fpr", "auc")
ASKED = Gaps("a", "b", min_support=0, measures=tuple(MEASURES), compare=("pair", "one-vs-rest"))
Item = tuple[int, int, frozenset[str]]


def items(n: int = 120, seed: int = 0) -> dict[str, Item]:
    """Label, prediction and groups, none or all three at the most, of each id."""
    rng = np.random.default_rng(seed)
    found = {}
    for number in range(n):
        label = int(rng.random() < 0.4)
        prediction = label if rng.random() < 0.7 else 1 - label
        member = frozenset(name for name in GROUPS if rng.random() < 0.4)
        found[f"i{number}"] = (label, prediction, member)
    return found


def long(items: dict[str, Item]) -> pd.DataFrame:
    """A row for each item and group, shuffled."""
    rows = [
        (name, label, prediction, group)
        for name, (label, prediction, member) in items.items()
        for group in (sorted(member) if member else [None])
    ]
    table = pd.DataFrame(rows, columns=["id", "label", "prediction", "group"])
    return table.sample(frac=1, random_state=1).reset_index(drop=True)


def literal(measure: str, pairs: list[tuple[int, int]]) -> tuple[float, int]:
    """The measure of some items, (label, prediction), and its denominator."""
    tn, fp, fn, tp = (pairs.count(cell) for cell in ((0, 0), (0, 1), (1, 0), (1, 1)))
    k, n, value = {
        "precision": (tp, tp + fp, None),
        "recall": (tp, tp + fn, None),
        "f1": (2 * tp, tp + fp + fn, 2 * tp / max(2 * tp + fp + fn, 1)),
        "fpr": (fp, tn + fp, None),
        "fnr": (fn, tp + fn, None),
        "accuracy": (tn + tp, len(pairs), None),
        "selection_rate": (fp + tp, len(pairs), None),
        "base_rate": (fn + tp, len(pairs), None),
    }[measure]
    return (k / n if value is None else value), n


def test_an_item_counts_once_in_all_and_in_the_rest_by_a_loop_over_sets() -> None:
    data = items()
    table = gap_table(long(data), ASKED)
    sets = {name: {i for i, (_, _, of) in data.items() if name in of} for name in GROUPS}
    sides = {"all": {*data}, **sets}
    for measure in MEASURES:
        found = {
            name: literal(measure, [data[i][:2] for i in sorted(of)]) for name, of in sides.items()
        }
        for name in sides:
            row = table.query("kind == 'value' and measure == @measure and group == @name").iloc[0]
            assert (row["value"], row["support"]) == pytest.approx(found[name])
        sign = -1 if measure in ("fpr", "fnr") else 1
        gaps = table.query("kind == 'gap' and measure == @measure")
        for _, gap in gaps[gaps["privileged"] == "rest"].iterrows():
            name = gap["unprivileged"]
            rest = literal(measure, [data[i][:2] for i in sorted({*data} - sets[name])])
            assert gap["value"] == pytest.approx(sign * (rest[0] - found[name][0]))
            assert gap["support_privileged"] == rest[1]
        for _, gap in gaps[gaps["privileged"] == "a"].iterrows():
            assert gap["value"] == pytest.approx(sign * (found["a"][0] - found["b"][0]))
        assert len(gaps) == (0 if measure == "base_rate" else 4)


def test_what_base_rates_make_of_two_groups_counts_their_shared_items_once() -> None:
    data = items()
    row = gap_table(long(data), ASKED).query("kind == 'gap' and measure == 'precision'").iloc[0]
    union = [each for each in data.values() if each[2] & {"a", "b"}]
    recall, fpr = (np.mean([guess for label, guess, _ in union if label == of]) for of in (1, 0))

    def precision(name: str) -> float:
        rate = np.mean([label for label, _, of in union if name in of])
        return float(rate * recall / (rate * recall + (1 - rate) * fpr))

    assert row["expected_from_base_rates"] == pytest.approx(precision("a") - precision("b"))


def test_the_interval_of_two_groups_counts_what_they_share_by_a_loop_over_items() -> None:
    data = items()
    row = gap_table(long(data), ASKED).query("kind == 'gap' and measure == 'recall'").iloc[0]
    positive = [(guess, of) for label, guess, of in data.values() if label]
    n, k = (
        {g: sum(w for w, of in x if g in of) for g in "ab"}
        for x in ([(1, of) for _, of in positive], positive)
    )
    moved = 0.0
    for guess, of in positive:
        moved += (
            sum(
                sign * (guess - k[g] / n[g]) / (n[g] + 2)
                for sign, g in ((1, "a"), (-1, "b"))
                if g in of
            )
            ** 2
        )
    p = {g: (k[g] + 1) / (n[g] + 2) for g in "ab"}
    pseudo = sum(
        p[g] * (1 - p[g]) / (n[g] + 2) - k[g] * (1 - k[g] / n[g]) / (n[g] + 2) ** 2 for g in "ab"
    )
    half = 1.959964 * sqrt(moved + pseudo)
    middle = p["a"] - p["b"]
    assert (row["low"], row["high"]) == pytest.approx((middle - half, middle + half), abs=1e-6)
    apart = confint_proportions_2indep(k["a"], n["a"], k["b"], n["b"], method="newcomb")
    assert row["high"] - row["low"] < 0.95 * (apart[1] - apart[0])


def test_groups_that_share_nothing_have_newcombes_interval_whatever_others_share() -> None:
    data = items()
    apart = {i: (x, y, of - {"b"} if "a" in of else of) for i, (x, y, of) in data.items()}
    row = gap_table(long(apart), ASKED).query("kind == 'gap' and measure == 'recall'").iloc[0]
    (k, n), (j, m) = (
        (sum(guesses), len(guesses))
        for name in ("a", "b")
        for guesses in [[guess for label, guess, of in apart.values() if label and name in of]]
    )
    expected = confint_proportions_2indep(k, n, j, m, method="newcomb", compare="diff")
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def test_groups_of_the_same_items_may_yet_differ_but_by_little() -> None:
    same = {i: (x, y, frozenset("ab") if of else of) for i, (x, y, of) in items(400).items()}
    table = gap_table(
        long(same), Gaps("a", "b", measures=("recall",), compare=("pair", "max-difference"))
    )
    for kind in ("gap", "max_difference"):
        row = table[table["kind"] == kind].iloc[0]
        assert row["value"] == 0
        assert 0 < row["high"] < 5 / int(row["support"])


def test_items_in_several_groups_are_resampled_as_one() -> None:
    data = long(items()).assign(resampled_by=lambda table: table["id"])
    table = gap_table(data, ASKED).query("kind == 'gap' and measure == 'recall'")
    row = table.set_index("unprivileged").loc["c"]
    positive = data[data["label"] == 1]
    inside = {*positive.loc[positive["group"] == "c", "id"]}
    times = dict(zip(positive["id"], times_drawn(positive["id"]), strict=True))
    right = positive.set_index("id")["prediction"].groupby(level=0).first()
    ends = []
    for side in ({*positive["id"]} - inside, inside):
        drawn = sum(times[name] for name in side)
        ends.append(sum(times[name] * right[name] for name in side) / drawn)
    assert row["resampled"] == pytest.approx(ends[0] - ends[1])


@pytest.mark.parametrize("options", [{}, {"pred": ["prediction", "other"]}, {"multiclass": True}])
def test_every_way_of_asking_counts_an_id_once(options: dict[str, Any]) -> None:
    data = long(items())
    data["other"] = data["label"]
    table = biasbridge.gaps(data, **options, measures=["accuracy"])
    whole = table[(table["kind"] == "value") & (table["group"] == "all")]
    assert (whole["support"] == 120).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": [1, 0, 1]}, "the rows of id 'x' differ in their label"),
        ({"prediction": [0, 1, 1]}, "the rows of id 'x' differ in their prediction"),
        ({"score": [0.5, 0.6, 0.1]}, "the rows of id 'x' differ in their score"),
        ({"group": ["a", "a", "b"]}, "id 'x' occurs twice in group 'a'"),
        ({"group": ["", "", "b"]}, "id 'x' occurs twice without a group|a gap needs two"),
        ({"id": ["x", "x", None]}, "1 of 3 rows have no id; give each, or drop the column"),
    ],
)
def test_rows_that_contradict_one_another_are_refused(change: dict[str, Any], message: str) -> None:
    rows = {"id": ["x", "x", "y"], "label": [1, 1, 1], "prediction": [1, 1, 1]}
    rows |= {"group": ["a", "b", "b"], "score": [0.5, 0.5, 0.1]} | change
    with pytest.raises(InputError, match=message):
        biasbridge.gaps(pd.DataFrame(rows), score="score", min_support=0)


def draw(n: int, share: float, groups: int, rng: np.random.Generator) -> GroupedPredictions:
    """Items that are in each group by chance, independently; the first two change the rates."""
    member = rng.random((n, groups)) < share
    label = (rng.random(n) < 0.4).astype(int)
    chance = np.where(label == 1, 0.85 - 0.15 * member[:, 0], 0.15 + 0.1 * member[:, 1])
    guess = (rng.random(n) < chance).astype(int)
    score = rng.normal(1.2 * label - 0.3 * member[:, 0], 1)
    names = [f"g{number}" for number in range(groups)]
    items, group_id = np.nonzero(member)
    return GroupedPredictions(names, items, group_id, 2 * label + guess, score, min_support=10)


def coverage(share: float, measure: str, sets: int) -> float:
    rng = np.random.default_rng(7)
    sides = GroupOrRest("g0"), GroupOrRest("g1")
    truth = draw(400_000, share, 2, rng).difference(measure, *sides).value
    found = (draw(200, share, 2, rng).difference(measure, *sides) for _ in range(sets))
    known = [each for each in found if not np.isnan(each.value)]
    return float(np.mean([each.low <= truth <= each.high for each in known]))


@pytest.mark.parametrize("measure", SIMULATED)
def test_the_difference_of_two_groups_that_share_half_holds_the_truth(measure: str) -> None:
    """In 400 sets; the standard error is .01."""
    assert 0.93 <= coverage(0.5, measure, 400) <= 0.99


@pytest.mark.stress
@pytest.mark.parametrize("measure", SIMULATED)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_difference_of_two_groups_holds_the_truth_at_full_size(
    measure: str, share: float
) -> None:
    found = coverage(share, measure, 4000)
    print(share, measure, f"{found:.3f}")
    assert 0.94 <= found <= 0.98


@pytest.mark.stress
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_the_largest_difference_among_overlapping_groups_holds_the_truth(share: float) -> None:
    rng, names = np.random.default_rng(3), ("g0", "g1", "g2")

    def values(sample: GroupedPredictions) -> Floats:
        return make_block(sample, "recall", names).observed

    truth = float(np.ptp(values(draw(400_000, share, 3, rng))))
    found = [
        estimate_spread([make_block(draw(300, share, 3, rng), "recall", names)], DIFFERENCE, 0.95)
        for _ in range(500)
    ]
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.93
