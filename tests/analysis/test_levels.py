"""What the rows of anybody's table are of: observations, parents, conditions and clusters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate
from biasbridge.analysis.scopes import METHODS
from biasbridge.analysis.user_table import Levels
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.analysis.slice_results import SliceResult


def table(*levels: Sequence[str], seed: int = 0) -> pd.DataFrame:
    """A row for each combination of the levels, columns a, b, c, ...; y follows x."""
    rows = pd.DataFrame(list(product(*levels)), columns=list("abcde"[: len(levels)]))
    rng = np.random.default_rng(seed)
    x = rng.normal(size=len(rows))
    return rows.assign(x=x, y=x + rng.normal(size=len(rows)))


def found_in(rows: pd.DataFrame, **levels: Sequence[str]) -> SliceResult:
    asked = Levels(
        observation=levels.get("observation", ()),
        parent=levels.get("parent", ()),
        condition=levels.get("condition", ()),
        cluster=levels.get("cluster", ()),
        utility="".join(levels.get("utility", ())),
    )
    (found,) = correlate(rows, x="x", y="y", levels=asked, confirmatory=["all"])
    return found


CONDITIONS = [f"condition {i}" for i in range(24)]


def test_an_observation_is_one_of_its_parent() -> None:
    """2 algorithms x 24 conditions, named alike in both, are 48 models."""
    rows = table(["word2vec", "fasttext"], CONDITIONS)
    found = found_in(rows, observation=["b"], parent=["a"])
    assert (found.n, found.n_parents, found.n_conditions, found.within.df) == (48, 2, 24, 45)
    named = found_in(rows, observation=["b"], parent=["a"], condition=["b"])
    assert repr(named) == repr(found)
    each = found_in(rows, parent=["a"])
    assert (each.n, each.n_conditions, each.within.r) == (48, 0, found.within.r)


@pytest.mark.parametrize("control", ["", "none", "unmodified"])
def test_the_control_is_no_method(control: str) -> None:
    rows = table(["word2vec", "fasttext"], [control, "inlp", "leace"], ["1", "2"])
    rows = rows.rename(columns={"b": "method"})
    found = found_in(rows, observation=["method", "c"], parent=["a"], condition=["method", "c"])
    assert found.scopes[METHODS].n == 2


def test_rows_of_one_observation_are_averaged() -> None:
    rows = table(["word2vec", "fasttext"], CONDITIONS, ["6", "7", "8"])
    found = found_in(rows, observation=["b"], parent=["a"])
    means = rows.groupby(["a", "b"], as_index=False, sort=False)[["x", "y"]].mean()
    left = means[["x", "y"]] - means.groupby("a")[["x", "y"]].transform("mean")
    assert found.n == 48
    assert found.within.r == pytest.approx(np.corrcoef(left["x"], left["y"])[0, 1])


def test_without_levels_each_row_is_a_model_of_one_parent() -> None:
    rows = table(CONDITIONS)
    found = found_in(rows)
    assert (found.n, found.n_parents, found.n_clusters, found.n_conditions) == (24, 0, 0, 0)
    assert found.within.r == pytest.approx(np.corrcoef(rows["x"], rows["y"])[0, 1])


def nested() -> pd.DataFrame:
    """Two languages of three corpora of two seeds, in five conditions."""
    rows = table(["en", "es"], [*"123"], [*"12"], [*"uvwxy"])
    rows["b"] = rows["a"] + rows["b"]
    return rows.assign(c=rows["b"] + rows["c"])


@pytest.mark.parametrize("order", list(itertools.permutations(["a", "b"])), ids="-".join)
def test_clusters_may_be_named_in_any_order_and_the_widest_is_taken(order: Sequence[str]) -> None:
    rows = nested()
    found = found_in(rows, parent=["c"], condition=["d"], cluster=order)
    assert (found.n, found.n_parents, found.n_clusters, found.within.n) == (60, 12, 2, 10)
    one = rows[rows["a"] == "en"]  # of one language its corpora
    found = found_in(one, parent=["c"], condition=["d"], cluster=order)
    assert (found.n_parents, found.n_clusters, found.within.n) == (6, 3, 15)


def test_the_order_of_rows_and_the_names_of_levels_do_not_matter() -> None:
    rows = nested()
    levels = {"parent": ["c"], "condition": ["d"], "cluster": ["b"]}
    found = found_in(rows, **levels)
    renamed = rows.assign(**{name: "x " + rows[name] for name in "abcd"})
    assert repr(found_in(renamed, **levels).within) == repr(found.within)
    shuffled = found_in(rows.sample(frac=1, random_state=1), **levels)
    assert shuffled.within.r == pytest.approx(found.within.r)
    assert shuffled.within.s == pytest.approx(found.within.s)
    assert shuffled.within.p == pytest.approx(found.within.p, abs=0.03)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (
            {"parent": ["a"], "condition": ["d"], "cluster": ["d"]},
            "levels do not nest: parent 'en' is in d 'u' and in 'v'",
        ),
        (
            {"parent": ["c"], "condition": ["d"], "cluster": ["b", "same"]},
            "levels do not nest: b 'en1' is in same '1' and in '2'",
        ),
        (
            {"observation": ["c"], "parent": ["b"], "condition": ["d"]},
            "observation 'en11 of en1' is in the conditions 'u' and 'v'; .* --observation",
        ),
        (
            {"parent": ["c"], "cluster": ["a"]},
            "averaged for each condition; name the column of conditions with --condition",
        ),
        ({"parent": ["C"]}, "no column 'C'"),
        ({"cluster": ["corpus"], "parent": ["c"]}, "no column 'corpus'"),
        ({"utility": ["f1"]}, "no column 'f1'"),
    ],
)
def test_levels_that_say_nothing_are_refused(levels: dict[str, list[str]], message: str) -> None:
    rows = nested()
    with pytest.raises(InputError, match=message) as refused:
        found_in(rows.assign(same=rows["c"].str[-1]), **levels)
    assert "\n" not in str(refused.value)


def test_names_in_several_columns_stay_apart() -> None:
    """``p q`` and ``r`` are another model than ``p`` and ``q r``."""
    labels = [("p q", "r"), ("p", "q r")]
    rows = pd.DataFrame([(*label, i) for i in range(6) for label in labels], columns=[*"abc"])
    found = found_in(rows.assign(x=range(12), y=range(12)), observation=["a", "b", "c"])
    assert found.n == 12
