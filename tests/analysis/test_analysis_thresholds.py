"""Thresholds of the analysis: what lies just on one side of each, and what just on the other.

The rules are those of docs/inference.md and of the docstrings.
"""

from __future__ import annotations

from math import isfinite, isnan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import scipy
from statsmodels.stats.multitest import multipletests

from biasbridge.analysis.condition_effects import (
    Cells,
    equal_scores,
    mean_change,
    share_explained,
)
from biasbridge.analysis.correlate import _describe_repeats, correlate_slices
from biasbridge.analysis.correlation import (
    Correlation,
    NullDistribution,
    _studentised,
    correlation,
    minimum_detectable,
    residuals,
    sampling_error,
)
from biasbridge.analysis.joined import join_points, low_skill_reason
from biasbridge.analysis.naming import GENDERS, group_mismatch
from biasbridge.analysis.observations import _select_comparable, reliability
from biasbridge.analysis.report.page import _coverage
from biasbridge.analysis.scopes import DOSES, METHODS, RUNS, SEEDS, _leave_out, measure_scopes
from biasbridge.analysis.slices import _saturation_reason, measure_slice
from biasbridge.stats.intervals import Estimate
from tests.analysis.conftest import make_rows, make_sweep
from tests.analysis.test_correlation import jackknife
from tests.analysis.test_study_claims import SHOWN, judged

if TYPE_CHECKING:
    from numpy.typing import NDArray


def known_pairs(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores, and gaps that follow them."""
    x, noise = np.random.default_rng(seed).normal(size=(2, n))
    return x, x + noise


SHIFTED = SHOWN._replace(slope=Estimate(0.001, -0.002, 0.004))


def at_most(change: float) -> Correlation:
    """A slope whose 90% interval, over a range of 4, ends at a change."""
    width = change / 4 * scipy.stats.t.ppf(0.975, 26) / scipy.stats.t.ppf(0.95, 26)
    return SHIFTED._replace(r=0.1, p=0.6, slope=Estimate(0.0, -width, width))


@pytest.mark.parametrize(
    ("scopes", "changed", "verdict"),
    [
        ({RUNS: SHOWN._replace(p=0.0499)}, {}, "rises"),
        ({RUNS: SHOWN._replace(p=0.05)}, {}, "cannot tell"),
        ({DOSES: SHOWN._replace(p=0.0499)}, {}, "rises"),
        ({DOSES: SHOWN._replace(p=0.05)}, {}, "cannot tell"),
        ({DOSES: SHOWN._replace(n=10)}, {}, "rises"),
        ({DOSES: SHOWN._replace(n=9)}, {}, "cannot tell"),
        ({RUNS: SHOWN._replace(df=8)}, {}, "rises"),
        ({RUNS: SHOWN._replace(df=7)}, {}, "cannot tell"),
        ({}, {"n_lost": 10, "n_planned": 100}, "rises"),
        ({}, {"n_lost": 11, "n_planned": 100}, "cannot tell"),
        ({RUNS: at_most(0.0199), DOSES: at_most(0.0199)}, {}, "at most"),
        ({RUNS: at_most(0.0201), DOSES: at_most(0.0201)}, {}, "cannot tell"),
    ],
)
def test_a_verdict_changes_where_its_rule_says(
    scopes: dict[str, Correlation], changed: dict[str, object], verdict: str
) -> None:
    assert judged(scopes, **changed).verdict == verdict


def test_the_detectable_correlation_is_that_of_two_normal_quantiles() -> None:
    """tanh((z(1 - .05 / 2 / tests) + z(.8)) / sqrt(df - 1)), quantiles of printed tables."""
    assert minimum_detectable(26) == pytest.approx(tanh((1.959964 + 0.841621) / 5), rel=1e-6)
    assert minimum_detectable(26, 2) == pytest.approx(tanh((2.241403 + 0.841621) / 5), rel=1e-6)
    assert isfinite(minimum_detectable(2))
    assert isnan(minimum_detectable(1))


def test_beyond_500_observations_t_is_students() -> None:
    for n, permuted in ((500, True), (501, False)):
        actual = correlation(*known_pairs(n), permutations=19)
        assert (actual.p == 1 / 20) == permuted, n
        error = abs(np.arctanh(actual.r)) / actual.s
        if not permuted:
            assert actual.p == pytest.approx(2 * scipy.stats.t.sf(error, actual.df))


def test_over_clusters_an_interval_takes_five_parents() -> None:
    for parents, has_interval in ((4, False), (5, True)):
        models = make_rows(*known_pairs(40), parent=np.arange(40) % parents).models()
        actual = _leave_out(models, models.parent, SEEDS)
        assert isfinite(actual.r) == has_interval
        assert (actual.n, actual.reason) == (parents, "" if has_interval else "4 of 5")


def test_over_methods_an_interval_takes_four() -> None:
    for methods, has_interval in ((3, False), (4, True)):
        method = np.char.add("m", (np.arange(40) % methods).astype(str))
        rows = make_rows(*known_pairs(40), condition=np.arange(40), method=method)
        scopes = measure_scopes(rows.models(), 19, full=True)
        assert isfinite(scopes[METHODS].r) == has_interval


@pytest.mark.parametrize(("off", "exact"), [(3e-5, True), (1e-4, False)])
def test_r_within_a_billionth_of_1_is_1(off: float, exact: bool) -> None:
    """1 - r is off^2 / 2: 4.5e-10 and 5e-9."""
    side = np.array([1.0, 1, -1, -1] * 4)
    other = np.array([1.0, -1, 1, -1] * 4)
    actual = correlation(side, side + off * other, permutations=99)
    assert (actual.high == 1) == exact
    assert isfinite(actual.slope.high) != exact


@pytest.mark.parametrize(("above", "p"), [(1e-6, 3 / 4), (1e-5, 2 / 4)])
def test_a_t_within_a_millionth_of_that_of_a_permutation_is_its_tie(above: float, p: float) -> None:
    null = NullDistribution(np.array([1.0, 2.0, 3.0]), np.zeros(3), 5)
    assert null.p(2.0 + above) == p


@pytest.mark.parametrize(("step", "is_left"), [(1.2e-5, False), (1.4e-5, True)])
def test_without_an_observation_a_billionth_of_the_squares_is_nothing(
    step: float, is_left: bool
) -> None:
    """Without the first, 6 step^2 of u are left: 8.6e-10 and 1.18e-9. z is 0 of nothing."""
    u, v = (
        np.array(side) / np.linalg.norm(side)
        for side in ((1, step, -step, 2 * step), (1, 1, 2, -1))
    )
    selected = np.array([6 * step**2, *(1 - u[1:] ** 2)])
    z = np.arctanh((u @ v - u * v) / np.sqrt(selected * (1 - v**2)))
    z[0] *= is_left
    t = abs(np.arctanh(u @ v)) / jackknife(z, 3)
    assert _studentised(u, v[None], np.zeros(4), 3)[1] == pytest.approx(t, rel=1e-5)


def test_confirmatory_slices_have_9999_permutations_and_others_999() -> None:
    actual = correlate_slices(join_points(make_sweep(0, 20.0, classifier=("cnn",))))
    for queries, smallest in ((("weat7", "weat8"), 1 / 10_000), (("all",), 1 / 1_000)):
        of_queries = [item for item in actual if item.names["query"] in queries]
        assert {item.within.p for item in of_queries} == {smallest}


@pytest.mark.parametrize(("resamples", "estimated"), [(49, False), (50, True)])
def test_errors_of_words_and_items_take_50_resamples(resamples: int, estimated: bool) -> None:
    x, y = known_pairs(30)
    drawn = y[:, None] + np.outer(x, np.random.default_rng(1).normal(size=resamples))
    of = residuals(x, y, np.zeros(30, dtype=np.intp))
    assert isfinite(sampling_error(of, None, drawn).items) == estimated
    assert isfinite(reliability(of, y, drawn, 30, np.zeros(30))) == estimated
    changes = np.tile(np.random.default_rng(2).normal(size=(1, resamples)), (3, 1))
    own = np.array([0.1, 0.2, 0.3])
    assert (mean_change(own, resampled=changes).error > mean_change(own).error) == estimated


@pytest.mark.parametrize(("own", "is_known"), [([0.1, 0.3], False), ([0.1, 0.2, 0.3], True)])
def test_an_effect_takes_three_parents(own: list[float], *, is_known: bool) -> None:
    assert isfinite(mean_change(np.array(own)).error) == is_known


@pytest.mark.parametrize(("apart", "has_width"), [(1e-9, False), (3e-9, True)])
def test_changes_that_differ_by_rounding_have_no_interval(apart: float, has_width: bool) -> None:
    """The error of the mean of 1 - d, 1 and 1 + d is d / sqrt(3), beside a change of 1."""
    change = mean_change(1 + apart * np.array([-1.0, 0, 1]))
    assert isfinite(change.interval.low) == has_width


def cells_of(gaps: NDArray[np.float64], noise: float) -> Cells:
    """Gaps of six parents under conditions ``0``, ``1`` and so on."""
    n = len(gaps)
    y = gaps + noise * np.random.default_rng(0).normal(size=(6, n))
    label = np.arange(n).astype(str)
    one = np.zeros(6, dtype=np.intp)
    return Cells(y, np.zeros((6, n, 0)), one, label, label, np.full(n, ""), np.ones(n))


@pytest.mark.parametrize(("apart", "is_equal"), [(0.0499, True), (0.0501, False)])
def test_scores_are_nearly_one_within_5_percent_of_their_range(
    apart: float, *, is_equal: bool
) -> None:
    cells = cells_of(np.array([0.0, 0.1, 0.2]), 0.01)
    found = equal_scores(cells, cells.condition, np.array([0, apart, 1.0]))
    assert [pair.conditions for pair in found] == [("0", "1")] * is_equal


@pytest.mark.parametrize(
    ("p", "n_found"),
    [((0.001, 0.024, 0.04), 3), ((0.001, 0.026, 0.04), 1), ((0.02, 0.03, 0.04), 1)],
)
def test_gaps_of_conditions_of_one_score_differ_by_p_after_holm(
    p: tuple[float, ...], n_found: int
) -> None:
    """Three pairs of conditions, by t tests over six parents; the surest is always returned."""
    spread = np.array([-1.0, -1, -1, 1, 1, 1])
    t = scipy.stats.t.isf(np.array(p) / 2, 5)
    cells = cells_of(np.zeros(6), 0.0)
    cells.y[:, 1::2] = spread[:, None] + t * spread.std(ddof=1) / sqrt(6)
    found = equal_scores(cells, cells.condition, np.array([0, 0, 1, 1, 2, 2.0]))
    expected = multipletests(p, method="holm")[1][:n_found]
    assert [pair.p_holm for pair in found] == pytest.approx(expected)
    assert {pair.n_pairs for pair in found} == {3}


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_the_share_a_score_explains_is_that_of_the_effects(share: float) -> None:
    """Effects of length 1 of which the score has a share, nearly without noise."""
    u, other = np.array([1.0, -1, 1, -1]) / 2, np.array([1.0, 1, -1, -1]) / 2
    v = sqrt(share) * u + sqrt(1 - share) * other
    cells = cells_of(v, 1e-4)
    assert share_explained(cells, cells.condition, u, v) == pytest.approx(share, abs=1e-3)


def saturation_of(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    models = make_rows(x, y).models()
    return _saturation_reason(models, models)


@pytest.mark.parametrize(("equal", "refused"), [(20, False), (21, True)])
def test_a_side_that_more_than_half_of_the_models_share_says_too_little(
    equal: int, refused: bool
) -> None:
    x, y = known_pairs(40)
    same = np.where(np.arange(40) < equal, 0.0, y)
    assert saturation_of(x, same).startswith("the gap is exactly 0") == refused
    assert saturation_of(same, x).startswith("the score is exactly 0") == refused


@pytest.mark.parametrize(("share", "refused"), [(0.65, False), (0.68, True)])
def test_a_model_with_more_than_two_thirds_of_the_variance_says_too_much(
    share: float, refused: bool
) -> None:
    """One model lies at t, twenty at -1 and 1: its part of the sum of squares is (with a = 20 / 21)
    t^2 a^2 / (t^2 a + 20).
    """
    a = 20 / 21
    t = sqrt(share * 20 / (a * (a - share)))
    one = np.array([t, *[-1.0, 1.0] * 10])
    x = known_pairs(21)[0]
    text = f"one model (0) carries {share:.0%} of the variance of the gap"
    assert saturation_of(x, one) == (text if refused else "")


@pytest.mark.parametrize(("conditions", "measured"), [(9, False), (10, True)])
def test_r_over_conditions_takes_ten(conditions: int, measured: bool) -> None:
    x, y = known_pairs(3 * conditions)
    parent, condition = np.divmod(np.arange(3 * conditions), conditions)
    rows = make_rows(x, y, parent=parent, condition=condition, method=np.full(len(x), "m"))
    actual = measure_slice(rows, {}, full=True, permutations=19)
    assert isfinite(actual.scopes[DOSES].r) == measured


@pytest.mark.parametrize(("skill", "refused"), [(0.29, True), (0.31, False)])
def test_a_verdict_takes_a_skill_surely_above_a_fifth(skill: float, refused: bool) -> None:
    """Of three parents without spread: .29 - t(2) times .05 / 2.15 is below .2."""
    joined = pd.DataFrame(
        {
            "point": [*"abc"],
            "task": "t",
            "method": "none",
            "skill": skill + np.array([-0.001, 0, 0.001]),
            "skill_error": 0.1 / 4.302653,
        }
    )
    assert bool(low_skill_reason(joined)) == refused


@pytest.mark.parametrize(
    ("models", "lacking", "left_out"), [(5, 1, False), (9, 2, True), (11, 2, False)]
)
def test_a_kind_of_row_that_more_than_a_fifth_lack_is_left_out(
    models: int, lacking: int, left_out: bool
) -> None:
    """All are meant to have both kinds. Where the second is kept, those without it are lost."""
    model, kind = np.divmod(np.arange(2 * models), 2)
    known = (kind == 0) | (model >= lacking)
    selected, _ = _select_comparable(model, kind, known)
    assert selected[kind == 1].any() != left_out
    assert selected[kind == 0].sum() == (models if left_out else models - lacking)


def irregular(*times: int) -> NDArray[np.float64]:
    """Values that occur so many times, on no grid."""
    values = np.append(np.arange(len(times) - 1.0) ** 2, 0.0001)
    return np.repeat(values, times)


@pytest.mark.parametrize(
    ("times", "repeated"),
    [
        ((2, 2, *[1] * 16), False),  # 4 of 20 are a fifth
        ((3, 2, *[1] * 15), True),
    ],
)
def test_gaps_shared_by_more_than_a_fifth_of_the_rows_are_those_of_one_model(
    times: tuple[int, ...], repeated: bool
) -> None:
    y = irregular(*times)
    assert bool(_describe_repeats(make_rows(np.arange(20.0), y))) == repeated


@pytest.mark.parametrize(
    ("times", "repeated"),
    [
        ((*[2] * 8, *[1] * 4), False),  # 16 of 20 are four fifths
        ((*[2] * 7, 3, *[1] * 3), True),
    ],
)
def test_scores_shared_by_more_than_four_fifths_of_the_rows_are_those_of_one_model(
    times: tuple[int, ...], repeated: bool
) -> None:
    x = irregular(*times)
    assert bool(_describe_repeats(make_rows(x, np.arange(20.0) ** 2))) == repeated


@pytest.mark.parametrize(("grid", "repeated"), [(100, False), (110, True)])
def test_three_times_as_many_ties_as_a_grid_makes_are_no_chance(grid: int, repeated: bool) -> None:
    """Half of 20 values have ties; 3 (1 - (1 - 1 / g)^19) is .52 for 100 and .48 for 110."""
    y = np.array([0, 0, 0, *np.repeat(np.arange(1, 6), 2), *range(6, 15), grid - 1.0])
    assert bool(_describe_repeats(make_rows(np.arange(23.0), y))) == repeated


@pytest.mark.parametrize(
    ("times", "repeated"),
    [((11, 9), True), ((7, 7, 6), False), ((8, 8, 8), True), ((8, 8, 7), False)],
)
def test_two_values_alone_or_all_equally_often_are_no_chance(
    times: tuple[int, ...], repeated: bool
) -> None:
    y = np.repeat(np.arange(float(len(times))), times)
    assert bool(_describe_repeats(make_rows(np.arange(float(len(y))), y))) == repeated


@pytest.mark.parametrize(("name", "doubted"), [("g1", False), ("g12", True)])
def test_a_name_of_two_characters_says_nothing(name: str, doubted: bool) -> None:
    assert bool(group_mismatch(GENDERS, [name])) == doubted


@pytest.mark.parametrize(("share", "warned"), [(0.799, True), (0.8, False)])
def test_a_report_warns_where_fewer_than_80_of_100_tokens_have_a_vector(
    share: float, warned: bool
) -> None:
    text = _coverage(pd.DataFrame({"coverage": [0.9, share]}))
    assert ("Warning" in text) == warned
