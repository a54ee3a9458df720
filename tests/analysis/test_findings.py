"""What is found of a slice, and the table of it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from biasbridge.analysis.correlation import Correlation, slope_estimate
from biasbridge.analysis.measurement import measure
from biasbridge.analysis.reliability import NoiseShares
from biasbridge.analysis.residuals import residuals
from biasbridge.analysis.rows import Resampled
from biasbridge.analysis.scopes import DOSES, RUNS
from biasbridge.analysis.slice_results import SliceResult, correlation_table, scope_table
from biasbridge.stats.formatting import format_number
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
    doses = found.scopes[DOSES]
    assert (doses.n, doses.reason, math.isnan(doses.r)) == (5, "5 of 10", True)
    names = ["slice", "r_rm", "p", "r_pearson", "n_lost"]
    (row,) = correlation_table([found], names).to_numpy()
    kept = np.isfinite(y)
    r = np.corrcoef(x[kept], y[kept])[0, 1]  # over points, parents aside
    assert row.tolist() == ["s", found.within.r, found.within.p, pytest.approx(r), 1]
    explored = measure(rows, {}, full=False)
    assert explored.within.r == found.within.r
    assert explored.scopes.keys() == {RUNS}


def test_the_change_is_over_the_range_of_the_means_of_conditions() -> None:
    """Two parents of three models, by hand; the means of conditions are -1, 0 and 3 from the
    unmodified ones, whose scores are 1 and 3 and gaps .1 and .3.
    """
    rows = make_rows(
        *([1, 0, 4, 3, 2, 6], [0.1, 0.05, 0.25, 0.3, 0.25, 0.45]),
        parent=[*"aaabbb"],
        condition=["none", "balance -1", "balance 1"] * 2,
        method=["none", "balance", "balance"] * 2,
    )
    found = measure(rows, {}, full=True, permutations=19)
    assert (found.score_low, found.score_high) == pytest.approx((1, 5))
    assert found.gap_unmodified == pytest.approx(0.2)
    assert found.change.value == pytest.approx(0.05 * 4)


def test_the_tables_have_the_changes_of_models_and_of_means_of_conditions() -> None:
    """With 12 conditions of 3 parents."""
    parent, condition = np.repeat([*"abc"], 12), np.tile([*"defghijklmno"], 3)
    x, noise = np.random.default_rng(0).normal(size=(2, 36))
    y = 0.03 * x + 0.02 * noise
    rows = make_rows(x, y, parent=parent, condition=condition, method=["balance"] * 36)
    found = measure(rows, {}, full=True, permutations=99)._replace(confirmatory=True)
    changes = scope_table([found]).set_index("scope")
    u, v = (side - side.reshape(3, 12).mean(axis=1).repeat(12) for side in (x, y))
    means_u, means_v = (side.reshape(3, 12).mean(axis=0) for side in (u, v))
    span = np.ptp(means_u)
    these, others = (changes.loc[scope, "change"] for scope in (RUNS, DOSES))
    assert (
        these == pytest.approx(span * (u @ v) / (u @ u)) == pytest.approx(span * found.line.slope)
    )
    assert others == pytest.approx(span * (means_u @ means_v) / (means_u @ means_u))
    assert (changes["change_low"] < changes["change"])[:2].all()
    assert (changes["change_high"] > changes["change"])[:2].all()
    (row,) = correlation_table([found]).to_dict("records")
    ends = ["change", "change_low", "change_high"]
    (doses,) = changes.loc[[DOSES], ends].to_numpy().tolist()
    assert [row[name] for name in ends] == doses


def test_the_most_influential_model_is_named_with_r_without_it() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    x[7], y[7] = 9, 9
    rows = make_rows(x, y, model=[f"model {i}" for i in range(12)])
    found = measure(rows, {}, full=True, permutations=99)
    without = np.corrcoef(np.delete(x, 7), np.delete(y, 7))[0, 1]
    assert found.influential == f"model 7 (without: {format_number(without)})"
    assert found.saturated.startswith("one model (model 7) carries")


def test_reliability_is_at_least_the_square_of_r() -> None:
    """Noise proper to models cannot make two sides agree."""
    all_noise = NoiseShares(1, 0)
    found = SliceResult({}, {RUNS: Correlation(0.6)}, noise_x=all_noise, noise_y=all_noise)
    assert (found.reliability_x, found.reliability_y) == pytest.approx((0.36, 0.36))
    exact = found._replace(noise_x=NoiseShares(0, 0))
    assert exact.reliability_x == 1


def test_the_corrected_slope_takes_no_less_reliability_than_r_squared() -> None:
    x = np.tile(np.random.default_rng(0).normal(size=40), 3)
    y = x + 0.1 * np.random.default_rng(1).normal(size=120)
    rows = make_rows(x, y, parent=np.repeat([*"abc"], 40))
    noise = np.random.default_rng(2).normal(size=(120, 60))
    words = Resampled.of(x[:, None] + noise)
    found = measure(rows._replace(x_resampled=words), {}, full=True, permutations=19)
    assert found.reliability_x == pytest.approx(found.within.r**2)
    slope = found.within.slope.value / found.reliability_x
    assert found.slope_without_noise.value == pytest.approx(slope)


def test_noise_of_scores_is_taken_from_the_slope_of_condition_means() -> None:
    """Noise that halves the slope of models, of means of three takes a quarter: 1 of 1 + 1 / 3."""
    rng = np.random.default_rng(0)
    score = np.tile(rng.normal(size=400), 3)
    x = score + rng.normal(size=1200)
    rows = make_rows(
        *(x, score + 0.1 * rng.normal(size=1200)),
        parent=np.repeat([*"abc"], 400),
        condition=np.tile(np.arange(400), 3),
        method=["balance"] * 1200,
    )
    words = Resampled.of(x[:, None] + rng.normal(size=(1200, 60)))
    found = measure(rows._replace(x_resampled=words), {}, full=True, permutations=19)
    assert found.scopes[DOSES].slope.value == pytest.approx(0.75, abs=0.05)
    assert found.slope_without_noise.value == pytest.approx(1, abs=0.06)


def test_the_slope_without_noise_leaves_out_each_observation() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 20)) + np.arange(20) / 5
    of = residuals(x, y, np.zeros(20, dtype=np.intp))
    found, noise = slope_estimate(of, 0.0, 0.8), 0.2 * float(of.u @ of.u)
    without = []
    for i in range(20):
        u, v = (np.delete(side, i) - np.delete(side, i).mean() for side in (x, y))
        without.append(float(u @ v) / (float(u @ u) - noise * 19 / 20))
    spread = np.array(without) - np.mean(without)
    reach = stats.t.ppf(0.975, 18) * math.sqrt(19 / 20 * float(spread @ spread))
    assert found.value == pytest.approx(of.slope / 0.8)
    assert found[1:] == pytest.approx((found.value - reach, found.value + reach))
