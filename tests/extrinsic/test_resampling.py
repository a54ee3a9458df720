"""Resamples of the posts that are the same for everybody who predicts them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, poisson

from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.measures import MEASURES
from biasbridge.intrinsic.resampling import RESAMPLES, resample_counts

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


EVERY = Gaps(measures=tuple(MEASURES))


def posts(n: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    groups = rng.choice(["male", "female", "none"], n, p=[0.5, 0.3, 0.2])
    ids = [f"post {number}" for number in range(n)]
    return pd.DataFrame({"resampled_by": ids, "group": groups, "label": rng.integers(0, 2, n)})


def predicted(table: pd.DataFrame, seed: int, errors: float = 0.3) -> pd.DataFrame:
    wrong = np.random.default_rng(seed).random(len(table)) < errors
    return table.assign(prediction=np.where(wrong, 1 - table["label"], table["label"]))


def resampled(predictions: pd.DataFrame, measure: str) -> Floats:
    table = gap_table(predictions, EVERY)
    found = table.query("kind == 'gap' and measure == @measure")["resampled"].tolist()
    assert len(found) == 1
    return np.array(found[0])


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "base_rate"])
def test_equal_predictions_in_any_order_have_equal_lists(measure: str) -> None:
    data = predicted(posts(), seed=1)
    one = resampled(data, measure)
    assert one.shape == (RESAMPLES,)
    assert one.std() > 0
    shuffled = data.sample(frac=1, random_state=0)
    others = data["group"] == "none"
    names = data["resampled_by"].where(~others, "x")
    renamed = data.assign(resampled_by=names, label=data["label"].mask(others, 1))
    for same in (shuffled, data[~others], renamed):
        np.testing.assert_array_equal(resampled(same, measure), one)


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "base_rate"])
def test_the_spread_is_the_standard_error_of_the_bootstrap(measure: str) -> None:
    """The ordinary bootstrap: as many posts as there are, drawn from each group."""
    data = predicted(posts(3000), seed=2)
    rng = np.random.default_rng(0)
    values = {}
    for group in ("male", "female"):
        part = data[data["group"] == group]
        cells = np.bincount(2 * part["label"] + part["prediction"], minlength=4)
        drawn = rng.multinomial(len(part), cells / len(part), size=4000)
        values[group] = MEASURES[measure].values(drawn)
    expected = (values["male"] - values["female"]).std()
    found = resampled(data, measure)
    assert found.std() == pytest.approx(expected, rel=0.15)
    table = gap_table(data, EVERY).query("kind == 'gap' and measure == @measure")
    assert found.mean() == pytest.approx(table["value"].iloc[0], abs=0.3 * expected)


def test_how_often_a_post_is_drawn_is_poisson_and_its_own() -> None:
    ids = [str(number) for number in range(10_000)]
    kinds = np.arange(10_000) % 5
    counts = resample_counts(ids, kinds, 5)
    assert counts.shape == (RESAMPLES, 5)
    parts = (slice(3000), slice(3000, None))
    np.testing.assert_array_equal(
        counts, sum(resample_counts(ids[part], kinds[part], 5) for part in parts)
    )
    one_each = resample_counts(ids[:500], np.arange(500), 500)
    found = np.bincount(one_each.ravel(), minlength=9)
    expected = poisson.pmf(np.arange(5), 1) * one_each.size
    tail = (found[5:].sum(), one_each.size - expected.sum())
    assert chisquare([*found[:5], tail[0]], [*expected, tail[1]]).pvalue > 0.001


def test_a_resample_without_support_is_nan() -> None:
    rows = [(f"m{i}", "male", 1, 1) for i in range(20)] + [("f", "female", 1, 1)]
    data = pd.DataFrame(rows, columns=["resampled_by", "group", "label", "prediction"])
    table = gap_table(data, Gaps(min_support=0)).query("kind == 'gap'").set_index("measure")
    recall = np.array(table["resampled"]["recall"])
    assert np.isnan(recall).mean() == pytest.approx(np.exp(-1), abs=0.12)
    assert (recall[~np.isnan(recall)] == 0).all()
    assert table["resampled"]["fpr"] == []
