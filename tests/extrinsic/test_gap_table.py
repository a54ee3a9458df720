"""Gaps and intervals against scikit-learn, fairlearn, scipy and a literal loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap
from sklearn.metrics import f1_score, precision_score, recall_score

from extrinsic.gaps import Gaps, Row, gap_rows, gap_table
from files import InputError


def undefined_is_nan(scorer: Callable[..., float]) -> Callable[[np.ndarray, np.ndarray], float]:
    def score(label: np.ndarray, prediction: np.ndarray) -> float:
        return scorer(label, prediction, zero_division=np.nan)

    return score


SCORERS = {
    name: undefined_is_nan(f)
    for name, f in [("precision", precision_score), ("recall", recall_score), ("f1", f1_score)]
}
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


def cell(rows: list[Row], measure: str, group: str) -> Row:
    (found,) = (row for row in rows if (row.measure, row.group) == (measure, group))
    assert found.kind == "value"
    return found


def gap(rows: list[Row], measure: str) -> Row:
    (found,) = (row for row in rows if (row.measure, row.kind) == (measure, "gap"))
    assert found.group == ""
    return found


def test_a_gap_by_hand() -> None:
    # male: tp 3, fp 1, fn 0; female: tp 1, fp 1, fn 3
    male = [(1, 1, "male")] * 3 + [(0, 1, "male")] + [(0, 0, "male")] * 2
    female = [(1, 1, "female"), (0, 1, "female")] + [(1, 0, "female")] * 3
    table = gap_rows(frame(male + female), Gaps(), seed=0)
    expected = {"precision": 3 / 4 - 1 / 2, "recall": 1 - 1 / 4, "f1": 6 / 7 - 2 / 6}
    for measure, value in expected.items():
        assert gap(table, measure).value == pytest.approx(value)
    assert cell(table, "precision", "all").value == pytest.approx(4 / 6)
    supports = {"precision": (4, 2, 2), "recall": (3, 4, 3), "f1": (4, 5, 4)}
    for measure, (privileged, unprivileged, smaller) in supports.items():
        row = gap(table, measure)
        assert (row.privileged, row.unprivileged) == ("male", "female")
        assert (row.support_privileged, row.support_unprivileged, row.support) == (
            privileged,
            unprivileged,
            smaller,
        )


@settings(deadline=None, max_examples=60)
@given(st.lists(item, min_size=2, max_size=60))
def test_values_are_fairlearns(rows: list[tuple[int, int, str]]) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    table = gap_rows(data, Gaps(resamples=5), seed=0)
    for measure, scorer in SCORERS.items():
        theirs = MetricFrame(
            metrics=scorer,
            y_true=data["label"],
            y_pred=data["prediction"],
            sensitive_features=data["group"],
        )
        for group, value in theirs.by_group.items():
            assert cell(table, measure, str(group)).value == pytest.approx(value, nan_ok=True)
        assert cell(table, measure, "all").value == pytest.approx(theirs.overall, nan_ok=True)
        signed = theirs.by_group["male"] - theirs.by_group["female"]
        assert gap(table, measure).value == pytest.approx(signed, nan_ok=True)


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60), st.integers(0, 2**63))
def test_swapping_the_groups_mirrors_the_gap(rows: list[tuple[int, int, str]], seed: int) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    one = gap_rows(data, Gaps(resamples=50), seed=seed)
    other = gap_rows(data, Gaps("female", "male", resamples=50), seed=seed)
    for measure in SCORERS:
        a, b = gap(one, measure), gap(other, measure)
        assert (a.value, a.low, a.high) == pytest.approx((-b.value, -b.high, -b.low), nan_ok=True)
        assert a.support == b.support
        assert a.support_privileged == b.support_unprivileged


@settings(deadline=None, max_examples=40)
@given(st.lists(item, min_size=2, max_size=60))
def test_nan_exactly_where_there_is_no_support_and_then_with_a_reason(
    rows: list[tuple[int, int, str]],
) -> None:
    data = frame(rows)
    assume({"male", "female"} <= set(data["group"]))
    table = gap_table(data, Gaps(resamples=20), seed=0)
    empty = table["support"] == 0
    assert (table["value"].isna() == empty).all()
    assert (table["low"].isna() == empty).all()
    assert (table.loc[empty, "reason"] != "").all()
    kept = table[~empty]
    assert (kept["low"] <= kept["high"]).all()


def literal_gaps(data: pd.DataFrame, measure: str, resamples: int) -> np.ndarray:
    """Draw items one group at a time, score them with scikit-learn, subtract."""
    rng = np.random.default_rng(11)
    parts = {name: part[["label", "prediction"]].to_numpy() for name, part in data.groupby("group")}
    out = []
    for _ in range(resamples):
        scores = {}
        for name, items in parts.items():
            drawn = items[rng.integers(len(items), size=len(items))]
            scores[name] = SCORERS[measure](drawn[:, 0], drawn[:, 1])
        out.append(scores["male"] - scores["female"])
    return np.array(out)


@pytest.mark.parametrize("measure", SCORERS)
def test_the_interval_of_a_gap_is_that_of_a_literal_loop(measure: str) -> None:
    data = sample()
    expected = np.nanquantile(literal_gaps(data, measure, 600), [0.05, 0.95])
    row = gap(gap_rows(data, Gaps(resamples=4000, level=0.9), seed=0), measure)
    assert [row.low, row.high] == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize("measure", SCORERS)
def test_the_interval_of_a_group_is_scipys(measure: str) -> None:
    data = sample()
    male = data[data["group"] == "male"]
    theirs = bootstrap(
        (male["label"].to_numpy(), male["prediction"].to_numpy()),
        SCORERS[measure],
        paired=True,
        vectorized=False,
        n_resamples=600,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    row = cell(gap_rows(data, Gaps(resamples=4000), seed=0), measure, "male")
    assert [row.low, row.high] == pytest.approx([theirs.low, theirs.high], abs=0.025)


def test_no_positive_prediction_leaves_precision_undefined_and_says_so() -> None:
    rows: list[tuple[int, int, str | None]] = [
        (1, 1, "male"),
        (0, 1, "male"),
        (1, 0, "female"),
        (0, 0, "female"),
    ]
    table = gap_rows(frame(rows), Gaps(), seed=0)
    row = cell(table, "precision", "female")
    assert np.isnan([row.value, row.low, row.high]).all()
    assert row.reason == "no item predicted positive"
    lost = gap(table, "precision")
    assert np.isnan(lost.value)
    assert lost.reason == "female: no item predicted positive"
    assert (lost.support, lost.support_privileged, lost.support_unprivileged) == (0, 2, 0)
    assert cell(table, "recall", "female").value == 0.0


def test_resamples_without_support_are_left_out_and_reported() -> None:
    # One positive among five: a resample misses it with probability (4/5)^5.
    data = frame([(1, 1, "male")] + [(0, 0, "male")] * 4 + [(1, 1, "female")])
    table = gap_rows(data, Gaps(resamples=20000), seed=0)
    row = cell(table, "recall", "male")
    assert (row.value, row.low, row.high) == (1.0, 1.0, 1.0)
    share = re.fullmatch(
        r"undefined in (\d+)% of resamples, which the interval leaves out", row.reason
    )
    assert share is not None
    assert int(share[1]) == pytest.approx(100 * (4 / 5) ** 5, abs=1)
    assert cell(table, "recall", "female").reason == ""


def test_a_row_without_group_counts_in_all_only() -> None:
    data = frame([(1, 1, "male"), (1, 1, "female"), (1, 0, None), (1, 0, None)])
    table = gap_rows(data, Gaps(), seed=0)
    assert {row.group for row in table} == {"male", "female", "all", ""}
    row = cell(table, "recall", "all")
    assert (row.value, row.support) == (0.5, 4)
    # Group sizes are fixed: two hits and two misses in every resample
    assert (row.low, row.high) == (0.5, 0.5)


def test_order_of_rows() -> None:
    data = pd.concat([sample(), frame([(1, 1, "both"), (0, 1, "another")])], ignore_index=True)
    table = gap_table(data, Gaps("female", "male"), seed=0)
    names = ["female", "male", "another", "both", "all"]
    expected = [("value", m, g, "", "") for g in names for m in SCORERS]
    expected += [("gap", m, "", "female", "male") for m in SCORERS]
    columns = ["kind", "measure", "group", "privileged", "unprivileged"]
    assert list(table[columns].itertuples(index=False, name=None)) == expected


def test_a_group_may_have_hyphens_in_its_name() -> None:
    data = sample().replace({"female": "non-binary", "male": "cis-man"})
    table = gap_rows(data, Gaps("cis-man", "non-binary"), seed=0)
    row = gap(table, "recall")
    assert (row.privileged, row.unprivileged) == ("cis-man", "non-binary")
    assert row.value == cell(table, "recall", "cis-man").value - (
        cell(table, "recall", "non-binary").value
    )


def test_the_seed_decides_and_the_order_of_items_does_not() -> None:
    data = sample()
    table = gap_table(data, seed=7)
    pd.testing.assert_frame_equal(table, gap_table(data, seed=7))
    pd.testing.assert_frame_equal(table, gap_table(data.sample(frac=1, random_state=0), seed=7))
    assert not table["low"].equals(gap_table(data, seed=8)["low"])


def test_labels_may_be_text_or_booleans() -> None:
    data = sample()
    table = gap_table(data, seed=0)
    pd.testing.assert_frame_equal(
        table, gap_table(data.assign(label=data["label"].astype(str)), seed=0)
    )
    pd.testing.assert_frame_equal(
        table, gap_table(data.assign(prediction=data["prediction"].astype(bool)), seed=0)
    )
    pd.testing.assert_frame_equal(
        table, gap_table(data.assign(group=data["group"].astype("category")), seed=0)
    )


@pytest.mark.parametrize(
    ("change", "privileged", "message"),
    [
        ({"label": 2}, "male", r"column 'label' holds 2 in 200 of 200 rows; it must be 0 or 1"),
        ({"prediction": np.nan}, "male", r"column 'prediction' holds nan in 200 of 200 rows"),
        ({"label": "hate"}, "male", r"column 'label' holds 'hate'"),
        (
            {},
            "mael",
            r"no rows of group 'mael'; did you mean 'male'\?; groups present: 'female', 'male'",
        ),
        ({"group": None}, "male", r"no rows of group 'male'; groups present: none"),
        ({"group": "all"}, "male", r"a group is called 'all'"),
    ],
)
def test_bad_input_is_refused(
    change: dict[str, str | float | None], privileged: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        gap_table(sample().assign(**change), Gaps(privileged), seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unprivileged": "male"}, "group are both 'male'; name two groups"),
        ({"resamples": 0}, "resamples=0: give a whole number of at least 1"),
        ({"level": 95}, "level=95: give a number above 0 and below 1"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gaps(**options)


def test_a_missing_column_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no column 'prediction'; did you mean 'predictions'\?"):
        gap_table(sample().rename(columns={"prediction": "predictions"}), seed=0)
