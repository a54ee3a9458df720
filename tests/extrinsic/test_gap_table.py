"""Gaps and intervals against statsmodels and counts by hand; ``test_many_groups`` has fairlearn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.files import InputError

# The cell counted and the cells it is counted among, as (label, prediction)
PROPORTIONS = {
    "precision": ((1, 1), [(0, 1), (1, 1)]),
    "recall": ((1, 1), [(1, 0), (1, 1)]),
    "fpr": ((0, 1), [(0, 0), (0, 1)]),
}
ANY = Gaps(min_support=0)
GAPPED = [name for name in ANY.measures if name != "base_rate"]
item = st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from(["male", "female", "both"]))


def frame(rows: Sequence[tuple[int, int, str | None]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["label", "prediction", "group"])


def sample(n: int = 200, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "label": label,
            "prediction": np.where(rng.random(n) < 0.7, label, 1 - label),
            "group": rng.choice(["male", "female"], n, p=[0.6, 0.4]),
        }
    )


def cell(table: pd.DataFrame, measure: str, group: str) -> pd.Series:
    found = table[(table["measure"] == measure) & (table["group"] == group)]
    assert found["kind"].tolist() == ["value"]
    return found.iloc[0]


def gap(table: pd.DataFrame, measure: str) -> pd.Series:
    found = table[(table["measure"] == measure) & (table["kind"] == "gap")]
    assert found["group"].tolist() == [""]
    return found.iloc[0]


def test_a_gap_by_hand() -> None:
    # male: tp 3, fp 1, fn 0; female: tp 1, fp 1, fn 3
    male = [(1, 1, "male")] * 3 + [(0, 1, "male")] + [(0, 0, "male")] * 2
    female = [(1, 1, "female"), (0, 1, "female")] + [(1, 0, "female")] * 3
    table = gap_table(frame(male + female), ANY)
    # Of a false positive rate the larger is the worse
    expected = {
        "precision": 3 / 4 - 1 / 2,
        "recall": 1 - 1 / 4,
        "f1": 6 / 7 - 2 / 6,
        "fpr": 1 / 1 - 1 / 3,
    }
    for measure, value in expected.items():
        assert gap(table, measure)["value"] == pytest.approx(value)
    assert cell(table, "precision", "all")["value"] == pytest.approx(4 / 6)
    supports = {"precision": (4, 2, 2), "recall": (3, 4, 3), "f1": (4, 5, 4), "fpr": (3, 1, 1)}
    for measure, (privileged, unprivileged, smaller) in supports.items():
        row = gap(table, measure)
        assert (row["privileged"], row["unprivileged"]) == ("male", "female")
        assert (row["support_privileged"], row["support_unprivileged"], row["support"]) == (
            privileged,
            unprivileged,
            smaller,
        )


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_swapping_the_groups_mirrors_the_gap(rows: list[tuple[int, int, str]]) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    one = gap_table(data, ANY)
    other = gap_table(data, Gaps("female", "male", min_support=0))
    for measure in GAPPED:
        a, b = gap(one, measure), gap(other, measure)
        assert (a["value"], a["low"], a["high"]) == pytest.approx(
            (-b["value"], -b["high"], -b["low"]), nan_ok=True
        )
        assert a["support"] == b["support"]
        assert a["support_privileged"] == b["support_unprivileged"]
        assert -1 <= a["low"] < a["high"] <= 1 or np.isnan(a["value"])


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_nan_exactly_where_there_is_no_support_and_then_with_a_reason(
    rows: list[tuple[int, int, str]],
) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    table = gap_table(data, ANY)
    empty = table["support"] == 0
    assert (table["value"].isna() == empty).all()
    assert (table["low"].isna() == empty).all()
    assert (table.loc[empty, "reason"] != "").all()
    kept = table[~empty]
    assert (kept["low"] < kept["high"]).all()
    assert kept["value"].between(kept["low"], kept["high"]).all()


def counts(data: pd.DataFrame, measure: str) -> tuple[int, int]:
    """How many items a measure counts, among how many."""
    counted, among = PROPORTIONS[measure]
    items = list(zip(data["label"], data["prediction"], strict=True))
    return items.count(counted), sum(map(items.count, among))


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("measure", PROPORTIONS)
def test_intervals_are_those_of_statsmodels(measure: str, level: float) -> None:
    data = sample()
    table = gap_table(data, Gaps(level=level))
    groups = {name: counts(part, measure) for name, part in data.groupby("group")}
    for name, found in (groups | {"all": counts(data, measure)}).items():
        row = cell(table, measure, str(name))
        expected = proportion_confint(*found, alpha=1 - level, method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)
    better, worse = ("female", "male") if measure == "fpr" else ("male", "female")
    row = gap(table, measure)
    expected = confint_proportions_2indep(
        *groups[better], *groups[worse], method="newcomb", compare="diff", alpha=1 - level
    )
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def test_the_interval_of_f1_is_that_of_the_share_it_is_made_from() -> None:
    data = sample()
    tp, others = ((data["label"] & data["prediction"]).sum(), data["label"] != data["prediction"])
    low, high = proportion_confint(int(tp), int(tp + others.sum()), method="wilson")
    row = cell(gap_table(data), "f1", "all")
    expected = (2 * low / (1 + low), 2 * high / (1 + high))
    assert (row["low"], row["high"]) == pytest.approx(expected)


def test_too_little_support_leaves_values_and_gaps_undefined_and_says_so() -> None:
    data = frame(
        [(1, 1, "male")] * 4 + [(0, 0, "male")] * 9 + [(1, 1, "female")] * 3 + [(0, 0, "female")]
    )
    table = gap_table(data, Gaps(min_support=4))
    assert cell(table, "recall", "male")["value"] == 1
    few = cell(table, "recall", "female")
    assert np.isnan([few["value"], few["low"], few["high"]]).all()
    assert few["reason"] == "3 actual positives of group female, fewer than 4"
    lost = gap(table, "recall")
    assert np.isnan([lost["value"], lost["low"], lost["high"]]).all()
    assert (lost["support"], lost["reason"]) == (3, few["reason"])
    both = gap(gap_table(data), "recall")["reason"]
    assert both == (
        "4 actual positives of group male, fewer than 10;"
        " 3 actual positives of group female, fewer than 10"
    )


def test_a_row_without_group_counts_in_all_only() -> None:
    data = frame([(1, 1, "male"), (1, 1, "female"), (1, 0, None), (1, 0, None)])
    table = gap_table(data, ANY)
    assert set(table["group"]) == {"male", "female", "all", ""}
    row = cell(table, "recall", "all")
    assert (row["value"], row["support"]) == (0.5, 4)


def test_order_of_rows() -> None:
    data = pd.concat([sample(), frame([(1, 1, "both"), (0, 1, "another")])], ignore_index=True)
    table = gap_table(data, Gaps("female", "male"))
    names = ["female", "male", "another", "both", "all"]
    expected = [("value", m, g, "", "") for g in names for m in ANY.measures]
    expected += [("gap", m, "", "female", "male") for m in GAPPED]
    columns = ["kind", "measure", "group", "privileged", "unprivileged"]
    assert list(table[columns].itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize(
    ("change", "privileged", "message"),
    [
        ({"label": 2}, "male", r"column 'label' holds 2 in 200 of 200 rows; it must be 0 or 1"),
        ({"prediction": np.nan}, "male", r"column 'prediction' holds nan in 200 of 200 rows"),
        (
            {},
            "mael",
            r"no rows of group 'mael'; did you mean 'male'\?; groups present: 'female', 'male'",
        ),
        ({"group": None}, "male", r"no rows of group 'male'; groups present: none"),
        ({"group": "all"}, "male", r"a group is called 'all'"),
        ({"id": None}, "male", r"200 of 200 rows have no id; give each, or drop the column"),
    ],
)
def test_bad_input_is_refused(
    change: dict[str, str | float | None], privileged: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        gap_table(sample().assign(**change), Gaps(privileged))


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_a_constant_classifier_is_counted_by_making_one(rows: list[tuple[int, int, str]]) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    gaps = replace(ANY, measures=("f1", "accuracy"))

    def of_all(table: pd.DataFrame, column: str) -> list[float]:
        rows = table[(table["kind"] == "value") & (table["group"] == "all")]
        return rows[column].tolist()

    same = [of_all(gap_table(data.assign(prediction=each), gaps), "value") for each in (0, 1)]
    for found, reached in zip(
        of_all(gap_table(data, gaps), "majority_baseline"), np.nanmax(same, axis=0), strict=True
    ):
        assert np.isnan(found) or found == pytest.approx(reached)


def test_base_rates_alone_make_a_precision_gap() -> None:
    """A classifier that finds .8 and calls .2 of the rest so, in groups of which .5 and .2 are 1:
    tp / (tp + fp) is .4 / .5 = .8 and .16 / .32 = .5. Worked by hand.
    """
    cells = {"male": (40, 10, 10, 40), "female": (64, 16, 4, 16)}
    rows = [
        (label, prediction, group)
        for group, counts in cells.items()
        for (label, prediction), count in zip(((0, 0), (0, 1), (1, 0), (1, 1)), counts, strict=True)
        for _ in range(count)
    ]
    table = gap_table(frame(rows), ANY)
    assert gap(table, "precision")["expected_from_base_rates"] == pytest.approx(0.3)
    assert gap(table, "precision")["value"] == pytest.approx(0.3)
    assert (
        gap(table, "recall")["expected_from_base_rates"]
        == gap(table, "fpr")["expected_from_base_rates"]
        == 0
    )
