"""What is found of a slice, and the table of it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from analysis.measurement import measure
from analysis.slice_results import correlation_table, scope_table
from tests.analysis.conftest import make_rows


def test_a_finding_counts_and_names_its_models() -> None:
    """Four parents of one corpus each but the last two, in five conditions; one model is lost."""
    parent, condition = np.array(list(product("abcd", "uvwxy"))).T
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    y[3] = np.nan
    rows = make_rows(
        *(x, y),
        parent=parent,
        condition=condition,
        cluster=np.where(parent > "b", "cd", parent),
        model=np.char.add(parent, condition),
        method=np.where(condition == "u", "none", "balance"),
    )
    found = measure(rows, {"slice": "s"}, full=True, permutations=99)
    counts = (found.n, found.n_parents, found.n_conditions, found.n_clusters)
    assert counts == (19, 4, 5, 3)
    assert (found.lost, found.planned, found.lost_models) == (1, 20, "1 of 16 balance")
    assert found.within.n == 4 + 5 + 5, "the seeds of a corpus averaged"
    assert math.isnan(found.conditions.r), "five conditions are too few"
    assert found.given_condition.df == 14 - 3 - 4 - 1
    (row,) = correlation_table([found], ["slice", "r_rm", "p", "n_lost"]).to_numpy()
    assert row.tolist() == ["s", found.within.r, found.within.p, 1]
    explored = measure(rows, {}, full=False)
    assert explored.within.r == found.within.r
    assert math.isnan(explored.given_condition.r)


def test_the_tables_have_the_slopes_of_models_and_of_means_of_conditions() -> None:
    """With 12 conditions of 3 parents; where scores of both signs stand together it has none."""
    parent, condition = np.repeat([*"abc"], 12), np.tile([*"defghijklmno"], 3)
    x, noise = np.random.default_rng(0).normal(size=(2, 36))
    y = 0.03 * x + 0.02 * noise
    rows = make_rows(x, y, parent=parent, condition=condition)
    found = measure(rows, {}, full=True, permutations=99)
    slopes = scope_table([found]).set_index("scope")
    u, v = (side - side.reshape(3, 12).mean(axis=1).repeat(12) for side in (x, y))
    these = slopes.loc["these conditions"]
    assert these["slope"] == pytest.approx(u @ v / (u @ u)) == pytest.approx(found.line.slope)
    assert these["slope_low"] < these["slope"] < these["slope_high"]
    u, v = (side.reshape(3, 12).mean(axis=0) for side in (u, v))
    others = slopes.loc["other doses and words"]
    assert others["slope"] == pytest.approx(u @ v / (u @ u))
    (row,) = correlation_table([found]).to_dict("records")
    assert [row[name] for name in ("slope", "slope_low")] == [others["slope"], others["slope_low"]]
    assert row["gap_change"] == pytest.approx(others["slope"] * np.ptp(u))
    (mixed,) = correlation_table([found._replace(sign=math.nan)]).to_dict("records")
    assert math.isnan(mixed["slope"])


def test_the_most_influential_model_is_named_with_r_without_it() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    x[7], y[7] = 9, 9
    rows = make_rows(x, y, model=[f"model {i}" for i in range(12)])
    found = measure(rows, {}, full=True, permutations=99)
    without = np.corrcoef(np.delete(x, 7), np.delete(y, 7))[0, 1]
    assert found.influential == f"model 7 (without: {without:.2f})"
    assert found.saturated.startswith("one model (model 7) carries")
