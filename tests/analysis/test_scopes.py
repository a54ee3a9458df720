"""What a correlation holds for, against literal loops; whether a straight line describes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.api import OLS

from biasbridge.analysis.correlate import Levels, correlate
from biasbridge.analysis.correlation import residuals
from biasbridge.analysis.scopes import (
    CORPORA,
    DOSES,
    LISTS,
    METHODS,
    RUNS,
    SEEDS,
    _leave_out,
    measure_scopes,
)
from biasbridge.analysis.slices import _find_nonlinearity, _partial_f, scope_table
from tests.analysis.conftest import make_rows
from tests.analysis.test_correlation import literal

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations


def sweep(seed: int = 0) -> Observations:
    """Six parents of unequal size in conditions of five methods and the unmodified one."""
    rng = np.random.default_rng(seed)
    parent = np.repeat(np.arange(6), (11, 11, 9, 11, 8, 11))
    condition = np.concatenate([np.arange(size) for size in (11, 11, 9, 11, 8, 11)])
    method = np.where(condition == 0, "none", np.char.add("m", ((condition - 1) // 2).astype(str)))
    x = rng.normal(size=len(parent)) + parent
    y = 0.4 * x + rng.normal(size=len(parent))
    return make_rows(x, y, parent=parent, condition=condition, method=method).models()


def expected_interval(r: float, without: list[float], shares: list[float]) -> tuple[float, float]:
    z = np.arctanh(without)
    groups, weights = len(z), np.array(shares) / sum(shares)
    error = math.sqrt((groups - 1) / groups * float(((z - z.mean()) ** 2).sum()))
    reach = stats.t.ppf(0.975, 1 / float((weights**2).sum()) - 1) * error
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def test_over_parents_each_is_left_out() -> None:
    models = sweep()
    x, y, parent = models.x, models.y, models.parent.astype(int)
    without = [literal(x[parent != i], y[parent != i], parent[parent != i]) for i in range(6)]
    shares = [float(((x - x[parent == i].mean())[parent == i] ** 2).sum()) for i in range(6)]
    actual = _leave_out(models, models.parent, SEEDS)
    assert actual.n == 6
    assert actual.r == pytest.approx(literal(x, y, parent))
    assert actual.interval[1:] == pytest.approx(expected_interval(actual.r, without, shares))
    assert (actual.low > 0) == (actual.p < 0.05)
    assert measure_scopes(models, 99, full=True)[SEEDS] == actual


def test_over_methods_each_is_left_out_and_the_unmodified_models_stay() -> None:
    models = sweep()
    means = models.condition_means()
    x, y, method = means.x, means.y, means.method

    def r(kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        return float(np.corrcoef(x[kept], y[kept])[0, 1])

    names = [f"m{number}" for number in range(5)]
    shares = [float(((x - x.mean())[method == name] ** 2).sum()) for name in names]
    actual = _leave_out(means, means.family, METHODS)
    assert actual.n == 5
    expected = expected_interval(actual.r, [r(method != name) for name in names], shares)
    assert actual.interval[1:] == pytest.approx(expected)


def test_one_parent_that_holds_most_of_the_score_leaves_no_degrees_of_freedom() -> None:
    models = sweep()
    large = models._replace(x=np.where(models.parent == "0", 50, 1) * models.x)
    assert _leave_out(large, large.parent, SEEDS).df == pytest.approx(1, abs=0.01)


def test_methods_that_share_word_lists_have_the_wider_interval() -> None:
    """A slope that belongs to a list would look like one of every method."""
    models = sweep()
    lists = np.where(models.condition == "0", "", (models.condition.astype(int) % 2).astype(str))
    scopes = measure_scopes(models._replace(word_list=lists), 99, full=True)
    means = models._replace(word_list=lists).condition_means()
    methods = _leave_out(means, means.family, METHODS)
    of_lists = _leave_out(means, means.word_list, LISTS, minimum=2)
    assert scopes[LISTS].reason == "2 of 4"
    assert scopes[METHODS].p == max(methods.p, of_lists.p)
    assert scopes[METHODS].slope.low == min(methods.slope.low, of_lists.slope.low)


def test_families_count_once() -> None:
    models = sweep()
    one_idea = np.where(np.isin(models.method, ["m0", "m1", "m2"]), "projection", models.family)
    assert measure_scopes(models._replace(family=one_idea), 99, full=True)[METHODS].n == 3


def test_a_table_of_scopes_has_a_row_each() -> None:
    rng = np.random.default_rng(0)
    doses = np.tile(np.linspace(-1, 1, 4), 20)
    table = pd.DataFrame(
        {
            "parent": np.repeat(np.arange(5), 16),
            "method": np.tile(np.repeat([*"abcd"], 4), 5),
            "dose": doses,
            "wordset": np.tile(np.repeat(["v", "w"], 8), 5),
            "x": doses + rng.normal(size=80),
            "name": np.arange(80),
        }
    )
    table["y"] = table["x"] + rng.normal(size=80)
    levels = Levels(["name"], ["parent"], ["method", "dose", "wordset"])
    (actual,) = correlate(table, x="x", y="y", levels=levels, confirmatory=["all"])
    scopes = scope_table([actual])
    counts = {RUNS: 80, DOSES: 16, LISTS: 2, METHODS: 4, SEEDS: 5, CORPORA: 5}
    assert dict(zip(scopes["scope"], scopes["n"], strict=True)) == counts
    assert set(scopes["holds"]) <= {"yes", "no", "too few"}
    assert scopes["holds"][2] == "too few"
    ideas = dict(zip("abcd", "ppqq", strict=True))
    families = table.assign(method_family=table["method"].map(ideas))
    levels = Levels(["name"], ["parent"], ["method", "dose", "wordset", "method_family"])
    (actual,) = correlate(families, x="x", y="y", levels=levels, confirmatory=["all"])
    assert actual.scopes[METHODS].n == 2


def test_a_partial_f_is_that_of_nested_regressions() -> None:
    models = sweep()
    of = residuals(models.x, models.y, models.parent.astype(int))
    indicators = pd.get_dummies(models.parent).to_numpy(dtype=float)
    squared = of.u[:, None] ** 2
    plain = OLS(models.y, np.column_stack([indicators, models.x])).fit()
    bent = OLS(models.y, np.column_stack([indicators, models.x, squared])).fit()
    assert _partial_f(of, squared) == pytest.approx(bent.compare_f_test(plain)[1])
    assert math.isnan(_partial_f(of, of.u[:, None])), "the score itself explains nothing more"
    assert math.isnan(_partial_f(of, np.zeros((len(of.u), 0))))


def test_the_rise_of_a_curve_is_that_of_a_parabola() -> None:
    models = sweep(3)
    u = residuals(models.x, models.y, models.parent.astype(int)).u
    noise = 0.1 * np.random.default_rng(2).normal(size=len(u))
    means = models.condition_means()
    assert _find_nonlinearity(models._replace(y=u + noise), means).curve == 0
    bent = _find_nonlinearity(models._replace(y=u + u**2 + noise), means)
    assert bent.curve == pytest.approx(np.ptp(u + u**2), rel=0.1)


def test_changes_by_method_are_those_of_each_alone_over_its_own_scores() -> None:
    models = sweep(3)
    means = models.condition_means()
    actual = _find_nonlinearity(models, means)
    assert [*actual.methods] == [f"m{number}" for number in range(5)]
    for name, change in actual.methods.items():
        own = np.isin(means.method, [name, "none"])
        slope = OLS(means.y[own], np.column_stack([np.ones(own.sum()), means.x[own]])).fit()
        assert change == pytest.approx(slope.params[-1] * np.ptp(means.x[own]))


def test_one_method_has_no_change_of_its_own() -> None:
    models = sweep(3)
    method = np.where(models.condition == models.condition[0], "none", "balance")
    means = models._replace(method=method).condition_means()
    assert _find_nonlinearity(models, means).methods == {}
