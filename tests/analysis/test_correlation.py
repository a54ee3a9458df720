"""One statistic for r_rm, its interval and its p: against pingouin, scipy and literal loops, and
what must hold of any table.
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.multitest import multipletests

from biasbridge.analysis.correlation import (
    Correlation,
    _errors_of_z,
    _studentised,
    correlation,
    minimum_detectable,
    residuals,
    sampling_error,
    slope_estimate,
    slope_sampling_error,
)
from biasbridge.analysis.observations import _training_noise, reliability
from biasbridge.stats.intervals import holm
from tests.analysis import slopes
from tests.analysis.conftest import make_rows
from tests.analysis.designs import (
    AVERAGED,
    IGNORED,
    OVER,
    WITHIN,
    Kind,
    Study,
    Sweep,
    clusters,
    conditions,
    errors,
    lossy,
    on_items,
    verdict_of,
)
from tests.analysis.simulate import Design, rates

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


Ints = NDArray[np.intp]
SIZES = (3, 4, 2, 6)
PARENT = np.repeat(np.arange(4), SIZES)


def sides(parent: Ints, seed: int = 0, slope: float = 0.6) -> tuple[Floats, Floats]:
    """x and y that parents move far more than y follows x."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=len(parent))
    y = slope * x + rng.normal(size=len(parent))
    return x + 5 * parent, y - 5 * parent


def residual(side: Floats, parent: Ints, further: Floats | None = None) -> Floats:
    """What least squares leave of a side given its parents, and further columns."""
    design = (parent[:, None] == np.unique(parent)).astype(float)
    if further is not None:
        design = np.column_stack([design, further])
    actual: Floats = side - design @ np.linalg.lstsq(design, side, rcond=None)[0]
    return actual


def literal(x: Floats, y: Floats, parent: Ints, further: Floats | None = None) -> float:
    return float(stats.pearsonr(*(residual(side, parent, further) for side in (x, y))).statistic)


def left_out(x: Floats, y: Floats, parent: Ints, further: Floats | None = None) -> Floats:
    """``literal`` without each observation, from scratch."""
    actual = []
    for i in range(len(x)):
        some = None if further is None else np.delete(further, i, axis=0)
        actual.append(literal(np.delete(x, i), np.delete(y, i), np.delete(parent, i), some))
    return np.array(actual)


def jackknife(z: Floats, df: int) -> float:
    """The module's formula, term by term."""
    return math.sqrt((df + 1) / len(z) * sum((item - z.mean()) ** 2 for item in z))


@pytest.mark.filterwarnings("ignore")  # pingouin's, about pandas
def test_r_and_its_degrees_of_freedom_are_pingouins() -> None:
    pingouin, pandas = pytest.importorskip("pingouin"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    for _ in range(50):
        parents = int(rng.integers(3, 8))
        parent = np.repeat(np.arange(parents), rng.integers(2, 12, size=parents))
        x, y = sides(parent, int(rng.integers(1_000_000)), float(rng.normal()))
        table = pandas.DataFrame({"parent": parent, "x": x, "y": y})
        (expected,) = pingouin.rm_corr(table, x="x", y="y", subject="parent").itertuples()
        actual = correlation(x, y, parent, permutations=1)
        assert (actual.r, actual.df) == pytest.approx((expected.r, expected.dof), abs=1e-12)


def test_of_one_parent_r_is_pearsons() -> None:
    x, y = sides(np.zeros(30, dtype=np.intp))
    assert correlation(x, y).r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("more", [0, 2])
def test_the_jackknife_leaves_out_each_observation(more: int) -> None:
    """Also where further columns are partialled out, as least squares do it."""
    x, y = sides(PARENT)
    further = np.random.default_rng(1).normal(size=(15, more)) if more else None
    left = left_out(x, y, PARENT, further)
    actual = correlation(x, y, PARENT, given=further, permutations=1)
    assert actual.r == pytest.approx(literal(x, y, PARENT, further), abs=1e-12)
    assert (actual.n, actual.df) == (15, 15 - 4 - 1 - more)
    assert actual.s == pytest.approx(jackknife(np.arctanh(left), int(actual.df)))
    most = int(np.argmax(np.abs(left - actual.r)))
    assert actual.influential == most
    assert actual.r_without_influential == pytest.approx(left[most])


@pytest.mark.parametrize("more", [0, 1])
def test_many_permutations_at_once_are_studentised_one_by_one(more: int) -> None:
    x, y = sides(PARENT)
    further = np.arange(15.0)[:, None] ** 2 if more else None
    of = residuals(x, y, PARENT, further)
    rng = np.random.default_rng(2)
    drawn = np.array([residual(rng.permutation(y), PARENT, further) for _ in range(20)])
    drawn /= np.sqrt((drawn**2).sum(axis=1, keepdims=True))
    r, t = _studentised(of.u / np.sqrt(of.u @ of.u), drawn, of.h, of.df)
    for row, r_star, t_star in zip(drawn, r, t, strict=True):
        expected = literal(x, row, PARENT, further)
        s = jackknife(np.arctanh(left_out(x, row, PARENT, further)), of.df)
        assert (r_star, t_star) == pytest.approx((expected, abs(math.atanh(expected)) / s))


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (2, 3, 3), (6,)])
def test_p_is_that_of_all_orders_within_parents(sizes: tuple[int, ...]) -> None:
    parent = np.repeat(np.arange(len(sizes)), sizes)
    x, y = sides(parent, seed=3, slope=1.5)
    df = len(x) - len(sizes) - 1

    def t(values: Floats) -> float:
        left = np.clip(left_out(x, values, parent), -1 + 1e-12, 1 - 1e-12)
        return abs(math.atanh(literal(x, values, parent))) / jackknife(np.arctanh(left), df)

    places = [np.flatnonzero(parent == item) for item in range(len(sizes))]
    orders = itertools.product(*(itertools.permutations(own) for own in places))
    every = np.array([t(y[[i for own in order for i in own]]) for order in orders])
    exact = float(np.mean(every >= t(y) * (1 - 1e-9)))
    actual = correlation(x, y, parent).p
    assert actual == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000) + 1e-4)


@pytest.mark.parametrize(
    ("x", "y", "sizes", "exact"),
    [
        ([0, 0, 1, 0, 1, 1], [0, 0, 1, 0, 0, 1], (3, 3), 4 / 9),  # y's lone ones on, or off, x's
        ([0.1, 0.5, 0.9], [1, 2, 4], (3,), 1 / 3),  # without any one r is 1
        ([0.3, 0.1, 0.1, 0.1, 0.1], [7, 1, 2, 3, 5], (5,), 2 / 5),  # the first is most, or least
    ],
)
def test_orders_that_differ_by_rounding_alone_are_ties(
    x: list[float], y: list[float], sizes: tuple[int, ...], exact: float
) -> None:
    """Without some of these observations r is 1, -1 or undefined: then z is rounding, and p fell to
    its smallest, or rose to 1.
    """
    parent = np.repeat(np.arange(len(sizes)), sizes)
    for scale in (1.0, 0.3, 7.0):
        actual = correlation(scale * np.array(x) - 1 / 3, y, parent)
        assert actual.p == pytest.approx(exact, abs=0.02)


def table(
    n: int, parents: int, kind: str, seed: int
) -> tuple[Floats, Floats, Ints, Floats, Floats]:
    """x, y, parent, and resamples of x and y."""
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(2, n))
    y = noise + rng.choice([0, 0.5, 3]) * x
    parent = rng.integers(parents, size=n)
    if kind == "ties":
        x, y = np.round(x), np.round(y)
    elif kind == "one side of two values":
        x = np.sign(x)
    elif kind == "two sides of two values":
        x, y = np.sign(x), np.sign(y)
    elif kind == "a line":
        y = 2 * x + parent
    elif kind == "one unlike all others":
        x = np.where(np.arange(n) == 0, 1.0, 0.0)
    moves = rng.normal(size=(n, 60)) + np.outer(x, rng.normal(size=60))
    return x, y, parent, x[:, None] + 0.1 * moves, y[:, None] + 0.4 * moves


VALUED = ("one side of two values", "two sides of two values", "one unlike all others")


@given(
    n=st.integers(3, 30) | st.integers(3, 8),
    parents=st.integers(1, 7),
    kind=st.sampled_from(("normal", "ties", "a line", *VALUED)),
    resampled=st.booleans(),
    seed=st.integers(0, 9_999),
    permutations=st.sampled_from([19, 38, 99, 499]),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_what_holds_of_any_table(
    n: int, parents: int, kind: str, resampled: bool, seed: int, permutations: int
) -> None:
    x, y, parent, x_again, y_again = table(n, parents, kind, seed)

    def of(a: float = 1, b: float = 0, c: float = 1, d: float = 0) -> Correlation:
        again = (a * x_again + b, c * y_again + d) if resampled else (None, None)
        return correlation(
            *(a * x + b, c * y + d, parent),
            x_resampled=again[0],
            y_resampled=again[1],
            permutations=permutations,
        )

    result = of()
    if math.isnan(result.r):
        assert result.reason
        assert all(math.isnan(value) for value in (result.p, *result.interval))
        return
    assert -1 <= result.low <= result.r + 1e-12
    assert result.r - 1e-12 <= result.high <= 1
    assert (result.low > 0 or result.high < 0) == (result.p < 0.05)
    assert not result.slope.value < result.slope.low
    assert not result.slope.value > result.slope.high
    if kind == "a line":
        assert result.r == pytest.approx(1)
        assert 0 < result.p <= 1
        assert result.high == 1
    mirrored, moved = of(c=-1), of(a=3, b=5, c=0.2, d=-7)
    ends = result.low, result.high
    assert (moved.r, -mirrored.r) == pytest.approx((result.r, result.r), abs=1e-9)
    for other, actual in (
        (moved, (moved.low, moved.high)),
        (mirrored, (-mirrored.high, -mirrored.low)),
    ):
        assert other.p == pytest.approx(result.p, abs=1e-9)
        assert actual == pytest.approx(ends, abs=1e-5)
    for other, factor in ((moved, 0.2 / 3), (mirrored, -1), (of(a=-1), -1), (of(a=5, c=-1), -0.2)):
        slope = other.slope.times(1 / factor)
        assert slope.value == pytest.approx(result.slope.value, rel=1e-6, abs=1e-9)
        assert slope[1:] == pytest.approx(result.slope[1:], rel=1e-4, abs=1e-4, nan_ok=True)


@pytest.mark.parametrize("reliability", [1.0, 0.8])
def test_the_slope_has_the_interval_of_bell_and_mccaffrey(reliability: float) -> None:
    """Against the whole design: HC2 of least squares, degrees of freedom by literal loops."""
    x, y = sides(PARENT, seed=4, slope=0.2)
    n = len(x)
    design = np.column_stack([x, PARENT[:, None] == np.arange(PARENT.max() + 1)]).astype(float)
    fit = OLS(y, design).fit(cov_type="HC2")
    inverse = np.linalg.inv(design.T @ design)
    hat = design @ inverse @ design.T
    weights = [(inverse @ design[i])[0] / math.sqrt(1 - hat[i, i]) for i in range(n)]
    g = np.array([weights[i] * (np.eye(n)[i] - hat[i]) for i in range(n)])
    eigenvalues = np.linalg.eigvalsh(g @ g.T)
    df = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    of = residuals(x, y, PARENT)
    actual, actual_df = slope_estimate(of, 0.0, reliability)
    slope, reach = fit.params[0], stats.t.ppf(0.975, df) * fit.bse[0]
    ends = np.array([slope, slope - reach, slope + reach]) / reliability
    assert actual == pytest.approx(tuple(ends))
    assert actual_df == pytest.approx(df)
    if reliability == 1:
        assert correlation(x, y, PARENT).slope == pytest.approx(tuple(ends))


def test_of_many_observations_the_slope_has_the_interval_of_least_squares() -> None:
    x, y = sides(np.zeros(600, dtype=np.intp), seed=5)
    actual, of = correlation(x, y).slope, stats.linregress(x, y)
    reach = 1.96 * of.stderr
    expected = (of.slope, of.slope - reach, of.slope + reach)
    assert actual == pytest.approx(expected, abs=0.2 * reach)


def test_points_on_a_line_have_p_and_a_one_sided_interval() -> None:
    x = np.arange(12.0)
    up, down = (correlation(x, slope * x) for slope in (2, -1))
    assert (up.r, up.high, down.r, down.low) == (1, 1, -1, -1)
    assert up.p == down.p == 1 / 10_000
    assert 0.5 < up.low < 1
    assert down.high == -up.low
    assert [*up.slope] == pytest.approx([2, math.nan, math.nan], nan_ok=True)
    few = correlation(x[:3], x[:3])  # of six orders two lie on a line
    assert few.p == pytest.approx(1 / 3, abs=0.02)
    assert (few.low, few.high) == (-1, 1)


@pytest.mark.parametrize(
    ("x", "y", "parent", "n", "reason"),
    [
        ([], [], [], 0, "0 models that have another of their parent are too few"),
        ([1, 2], [2, 1], [0, 0], 2, "2 models that have another of their parent are too few"),
        ([1, 2, 3], [2, 1, 5], [0, 1, 2], 0, "0 models"),
        ([1, 2, 5, 7], [2, 1, 4, 4], [0, 0, 1, 2], 2, "2 models"),
        ([1, 1, 5, 5], [2, 1, 4, 3], [0, 0, 1, 1], 4, "the score does not vary within parents"),
        ([0.3, 0.1 + 0.2, 0.3], [2, 1, 4], [0, 0, 0], 3, "the score does not vary"),
        ([1, 2, 3], [7, 7, 7], [0, 0, 0], 3, "the gap does not vary within parents"),
        ([1, 1, 1], [7, 7, 7], [0, 0, 0], 3, "the score and the gap do"),
    ],
)
def test_what_is_not_defined_says_why(
    x: list[float], y: list[float], parent: list[int], n: int, reason: str
) -> None:
    actual = correlation(np.array(x), np.array(y), np.array(parent))
    assert actual.n == n
    assert actual.reason.startswith(reason)
    assert np.isnan(
        [*actual.interval, *actual.slope, actual.p, actual.s, actual.r_without_influential]
    ).all()


def test_a_model_alone_of_its_parent_says_nothing() -> None:
    x, y = sides(PARENT)
    alone = correlation(np.append(9, x), np.append(-9, y), np.append(7, PARENT))
    assert alone.influential == correlation(x, y, PARENT).influential + 1
    expected = correlation(x, y, PARENT)
    assert alone._replace(influential=0, null=None) == expected._replace(influential=0, null=None)


def test_p_is_not_that_of_chance_where_noise_grows_with_the_score() -> None:
    """Pearson's own p rejects r = 0, which is true, in a fifth of such studies."""
    rng = np.random.default_rng(0)
    parent, x = np.repeat(np.arange(2), 9), np.tile(np.linspace(-2, 2, 9), 2)
    noise = rng.normal(size=(300, 18)) * np.abs(x) ** 1.5
    assert np.mean([stats.pearsonr(x, y).pvalue < 0.05 for y in noise]) > 0.12
    assert np.mean([correlation(x, y, parent, permutations=299).p < 0.05 for y in noise]) < 0.1


def test_many_observations_have_the_normal_limit() -> None:
    x, y = sides(np.zeros(2_500, dtype=np.intp), slope=0.05)
    actual, expected = correlation(x, y), stats.pearsonr(x, y)
    assert actual.p == pytest.approx(expected.pvalue, rel=0.1)
    assert actual.interval[1:] == pytest.approx(expected.confidence_interval(), abs=0.005)


def test_holm_is_statsmodels() -> None:
    for seed in range(5):
        p = np.random.default_rng(seed).uniform(size=9) ** 3
        assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1])
    assert holm([]) == []
    assert holm([0.04, np.nan, 0.01]) == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)


def test_the_detectable_correlation_is_about_cohens() -> None:
    # Cohen (1988), table 3.4.1, two-tailed, power .80: n = 85 for r = .30 and 28 for .50.
    assert minimum_detectable(83) == pytest.approx(0.30, abs=0.01)
    assert minimum_detectable(26) == pytest.approx(0.50, abs=0.03)
    assert minimum_detectable(26, 6) > minimum_detectable(26)
    assert math.isnan(minimum_detectable(1))


# What sampling words and items adds to the error of r, and takes from reliability: against literal
# loops with slopes by finite differences.

PARENT_SAMPLING = np.repeat(np.arange(4), (6, 5, 7, 6))
N = len(PARENT_SAMPLING)


def measured(seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Scores, gaps, and what 400 resamples do to gaps: along scores, across, to models alone."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N) + 3.0 * PARENT_SAMPLING
    noise: Floats = rng.normal(size=N)
    y = 0.6 * x + noise - 2.0 * PARENT_SAMPLING
    moves: Floats = 0.2 * np.outer(x, rng.normal(size=400)) + 0.2 * rng.normal(size=(N, 400))
    moves += 0.3 * np.outer(noise, rng.normal(size=400))
    return x, y, moves


def demeaned(side: Floats) -> Floats:
    means: Floats = np.array(
        [side[parent == PARENT_SAMPLING].mean(axis=0) for parent in PARENT_SAMPLING]
    )
    return side - means


def lengths(x: Floats, y: Floats) -> tuple[float, float]:
    """Of the gaps along the scores and across them."""
    u, v = demeaned(x), demeaned(y)
    along = float(u @ v / np.sqrt(u @ u))
    return along, float(np.linalg.norm(v - along * u / np.sqrt(u @ u)))


def gradients(x: Floats, y: Floats) -> Floats:
    """What each gap does to both lengths, in units of the length of all gaps. Shape (n, 2)."""
    rows = []
    for step in 1e-5 * np.eye(N):
        ends = np.array([lengths(x, y + step), lengths(x, y - step)])
        rows.append((ends[0] - ends[1]) / 2e-5 / np.linalg.norm(demeaned(y)))
    return np.array(rows)


def literal_sampling(x: Floats, y: Floats, moves: Floats) -> Floats:
    """Shared covariance of both lengths, term by term."""
    slopes, moves = gradients(x, y), demeaned(moves)
    together = np.array([sum(slopes[i] * move[i] for i in range(N)) for move in moves.T])
    shared = np.cov(together.T)
    for i in range(N):
        h = 1 / np.bincount(PARENT_SAMPLING)[PARENT_SAMPLING[i]]
        shared -= np.outer(slopes[i], slopes[i]) * float(np.var(moves[i], ddof=1)) / (1 - h)
    return shared


def drawn(r: float, covariance: Floats) -> tuple[float, float]:
    """Distances of z to its quantiles of .16 and .84, from random moves of both lengths."""
    rng = np.random.default_rng(0)
    moved = rng.multivariate_normal([r, math.sqrt(1 - r * r)], covariance, 400_000, tol=1e-6)
    low, high = np.quantile(np.arcsinh(moved[:, 0] / np.abs(moved[:, 1])), stats.norm.cdf([-1, 1]))
    return math.atanh(r) - float(low), float(high) - math.atanh(r)


def test_it_is_what_resamples_do_to_all_models_together_less_what_to_each() -> None:
    x, y, moves = measured()
    moves[3, 7], moves[5, 9] = np.nan, np.inf
    resampled = y[:, None] + moves
    items = sampling_error(residuals(x, y, PARENT_SAMPLING), None, resampled)
    along, across = np.divide(lengths(x, y), np.linalg.norm(demeaned(y))).tolist()
    expected = _errors_of_z(along, across, literal_sampling(x, y, np.delete(moves, [7, 9], axis=1)))
    assert items[1:] == pytest.approx(expected, rel=1e-6)
    assert math.isnan(items.words)
    assert math.sqrt(items.variance) == pytest.approx(items.items)
    swapped = sampling_error(residuals(y, x, PARENT_SAMPLING), resampled, None)
    mirrored = sampling_error(residuals(x, -y, PARENT_SAMPLING), None, -resampled)
    assert (swapped.words, swapped.outward) == pytest.approx(expected, rel=1e-6)
    assert mirrored[1:] == pytest.approx(expected, rel=1e-6)
    of_words = x[:, None] + 0.2 * np.outer(y, np.random.default_rng(1).normal(size=60))
    both = sampling_error(residuals(x, y, PARENT_SAMPLING), of_words, resampled)
    words = sampling_error(residuals(x, y, PARENT_SAMPLING), of_words, None)
    assert both[:2] == (words.words, items.items)
    assert math.sqrt(both.variance) == pytest.approx(math.hypot(words.words, items.items))
    assert both.outward == pytest.approx(math.hypot(words.outward, items.outward))


@pytest.mark.parametrize("r", [0.0, 0.6, 0.99])
def test_the_errors_of_z_are_those_of_random_moves(r: float) -> None:
    for own, covariance in ((0.04, -0.01), (0.01, 0.005), (1e-8, 5e-9)):
        moves = np.array([[own, covariance], [covariance, own]])
        errors = _errors_of_z(r, math.sqrt(1 - r * r), moves)
        assert errors == pytest.approx(drawn(r, moves), rel=0.02)
        if own < 1e-4:
            gradient = np.array([1, -r / math.sqrt(1 - r * r)])
            assert errors == pytest.approx([math.sqrt(gradient @ moves @ gradient)] * 2, rel=0.01)


def test_what_scales_all_gaps_moves_no_z() -> None:
    for r in (0.3, 0.9):
        along, across = r, math.sqrt(1 - r * r)
        scaling = 0.05 * np.outer([along, across], [along, across])
        assert _errors_of_z(along, across, scaling) == pytest.approx((math.nan, 0), nan_ok=True)


def test_the_slope_moves_with_words_and_items_by_finite_differences() -> None:
    x, y, moves = measured()
    of_words = 0.2 * np.outer(y, np.random.default_rng(1).normal(size=400))
    actual = {
        "words": slope_sampling_error(
            residuals(x, y, PARENT_SAMPLING), x[:, None] + of_words, None
        ).words,
        "items": slope_sampling_error(
            residuals(x, y, PARENT_SAMPLING), None, y[:, None] + moves
        ).items,
    }
    step = 1e-5
    for side, error in actual.items():
        gradient = [
            (slope(*moved(x, y, i, step, side)) - slope(*moved(x, y, i, -step, side))) / (2 * step)
            for i in range(N)
        ]
        effects = np.array(gradient)[:, None] * demeaned(of_words if side == "words" else moves)
        h = 1 / np.bincount(PARENT_SAMPLING)[PARENT_SAMPLING]
        item = effects.var(axis=1, ddof=1) / (1 - h)
        expected = effects.sum(axis=0).var(ddof=1) - item.sum()
        assert error**2 == pytest.approx(expected, rel=1e-5)


def slope(x: Floats, y: Floats) -> float:
    """b per standard deviation of the score, in the unit of the score as measured."""
    u, v, measured_u = demeaned(x), demeaned(y), demeaned(measured()[0])
    return float(u @ v / np.sqrt(u @ u) / np.sqrt(measured_u @ measured_u))


def moved(x: Floats, y: Floats, i: int, step: float, side: str) -> tuple[Floats, Floats]:
    change = np.where(np.arange(N) == i, step, 0)
    return (x + change, y) if side == "words" else (x, y + change)


def test_what_moves_no_model_against_another_is_not_estimated() -> None:
    """A shift of all models of a parent, and moves of each model that cancel in z."""
    x, y, moves = measured()
    of, rng = residuals(x, y, PARENT_SAMPLING), np.random.default_rng(1)
    shift: Floats = rng.normal(size=(4, 400))[PARENT_SAMPLING]
    slopes = gradients(x, y) @ [1, -of.r / math.sqrt(1 - of.r**2)]
    cancel = moves - np.outer(slopes, slopes @ moves) / (slopes @ slopes)
    for item in (shift, cancel):
        actual = sampling_error(of, x[:, None] + shift, y[:, None] + item)
        assert np.isnan([actual.words, actual.items]).all(), "and never 0"
        assert actual.variance == 0


def test_it_is_not_estimated_from_few_resamples_nor_of_a_line() -> None:
    x, y, moves = measured()
    few = y[:, None] + moves[:, :49]
    of, line = residuals(x, y, PARENT_SAMPLING), residuals(x, 2 * x, PARENT_SAMPLING)
    for actual in (
        sampling_error(of, None, None),
        sampling_error(of, few, few),
        sampling_error(line, x[:, None] + moves, 2 * x[:, None] + moves),
    ):
        assert np.isnan([actual.words, actual.items]).all()


def test_it_widens_the_interval_and_p_but_not_the_jackknife() -> None:
    x, y, moves = measured()
    fixed = correlation(x, y, PARENT_SAMPLING)
    actual = correlation(x, y, PARENT_SAMPLING, y_resampled=y[:, None] + moves)
    z, towards, outward = math.atanh(fixed.r), actual.sampling.items, actual.sampling.outward
    assert (actual.r, actual.s) == (fixed.r, fixed.s)
    q = (z - math.atanh(fixed.low)) / fixed.s
    ends = z - q * math.hypot(fixed.s, towards), z + q * math.hypot(fixed.s, outward)
    assert (actual.low, actual.high) == pytest.approx(np.tanh(ends), rel=1e-6)
    assert actual.p > fixed.p


def test_noise_by_hand() -> None:
    """Variance 2 of models, resamples that vary by .5, trainings by .25: .25, and .375."""
    x = np.tile([-2.0, -1, 1, 2], 10) * math.sqrt(0.8)
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 100))
    own -= own.mean(axis=0)
    own /= own.std(axis=1, ddof=1, keepdims=True)
    own -= own.mean(axis=0)
    # What all models share, however large, is no noise of a correlation.
    again: Floats = x[:, None] + math.sqrt(0.5) * own + 9 * rng.normal(size=100)
    of = residuals(x, rng.normal(size=40), np.zeros(40, dtype=np.intp))
    trained = np.full(40, 0.25 / (1 - 1 / 40))
    assert reliability(of, x, again, math.inf, 0 * trained) == pytest.approx(0.75, abs=0.005)
    assert reliability(of, x, again, math.inf, trained) == pytest.approx(0.625, abs=0.005)
    far = x[:, None] + 9 * (again - x[:, None])
    assert reliability(of, x, far, math.inf, trained) == 0
    assert math.isnan(reliability(of, x, again[:, :49], math.inf, trained))


@pytest.mark.parametrize("shared", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize(("parents", "conditions", "items"), [(4, 7, 400), (8, 12, 32)])
def test_reliability_is_what_noise_proper_to_models_leaves(
    parents: int, conditions: int, items: int, share: float, shared: float
) -> None:
    """True gaps of variance 1, of each item an error that follows two traits of the models
    (``shared`` in variance) and one of each model for itself; the truth is taken from the latter.
    Posts, and words that are fewer than the models.
    """
    rng = np.random.default_rng(0)
    n, parent = parents * conditions, np.repeat(np.arange(parents), conditions)
    own_variance, errors = (1 - share) / share, []
    for _ in range(6):
        traits: Floats = rng.normal(size=(n, 2)) * math.sqrt(shared / 2)
        own: Floats = math.sqrt(own_variance * items) * rng.normal(size=(n, items))
        moved: Floats = traits @ rng.normal(size=(2, items)) * math.sqrt(items) + own
        of_items = rng.normal(size=n)[:, None] + moved + 5 * rng.normal(size=items)
        draws = rng.multinomial(items, np.full(items, 1 / items), size=200) / items
        y, again = of_items.mean(axis=1), of_items @ draws.T
        of = residuals(y, y, parent)
        truth = 1 - own_variance * (n - parents) / float(of.v @ of.v)
        errors.append(reliability(of, y, again, items, np.zeros(n)) - truth)
    assert np.mean(errors) == pytest.approx(0, abs=0.06)
    assert np.std(errors) < 0.12


def test_the_noise_of_trainings_by_hand() -> None:
    """Two settings; queries repeat a gap; a model without a second training has the mean noise.
    Each is of a parent of its own, so that no training moves several.
    """
    rows = make_rows(
        *(np.arange(9), [1, 1, 3, 5, 6, 2, 4, 7, 7]),
        model=[*"000001122"],
        parent=[*"000001122"],
        setting=[*"aaabbaaaa"],
        training=[*"001010100"],
    )
    first = (1 / 2) ** 2 * 2 / 2 + (1 / 2) ** 2 * 0.5 / 2
    assert _training_noise(rows) == pytest.approx([first, 1, (first + 1) / 2])
    once = rows._replace(training=np.full(9, ""))
    assert _training_noise(once).tolist() == [0, 0, 0]


@pytest.mark.parametrize("shared", [0, 5])
def test_noise_of_trainings_is_kept_from_that_of_items(shared: float) -> None:
    """A training moves a gap by .8 standard deviations, and all models of a parent by ``shared``,
    test items all gaps by 2 and those of each training by .6: the variance of a mean of two is
    .64 / 2, whatever moves all models alike.
    """
    rng = np.random.default_rng(0)
    model, actual = np.repeat(np.arange(30), 2), []
    for _ in range(60):
        y = 0.8 * rng.normal(size=60) + 0.6 * rng.normal(size=60)
        y += np.repeat(shared * rng.normal(size=(2, 2)), 15, axis=0).ravel()
        again = y[:, None] + 0.6 * rng.normal(size=(60, 100)) + 2 * rng.normal(size=100)
        rows = make_rows(y, y, model=model, parent=model // 15, training=np.tile([0, 1], 30))
        rows = rows._replace(y_resampled=again)
        actual.append(_training_noise(rows).mean())
    assert np.mean(actual) == pytest.approx(0.64 / 2, abs=0.04)


# How often the inference is right, in simulated studies: a few designs, small. All of them, with
# 1,000 studies each: ``python -m tests.analysis.simulate docs/figures``.

STUDIES = 150
SIZES_SIMULATED = ((8,) * 3, (3,) * 12)


def shares(draw: partial[Study], studies: int = STUDIES) -> dict[str, dict[str, Any]]:
    """The rows of the table of a design, by scope."""
    return {row["scope"]: row for row in rates(Design("", "", draw), studies)}


@pytest.mark.parametrize("sizes", SIZES_SIMULATED)
@pytest.mark.parametrize("kind", ["spread differs by parent", "noise grows with the score"])
def test_nothing_is_claimed_where_nothing_is(kind: Kind, sizes: tuple[int, ...]) -> None:
    row = shares(partial(errors, kind, sizes, 0))[WITHIN]
    assert row["p_below_05"] <= 0.1
    assert row["rm_corr_p_below_05"] > row["p_below_05"], "Student's t takes all noise as alike"


@pytest.mark.parametrize("sizes", SIZES_SIMULATED)
@pytest.mark.parametrize("kind", ["normal", "ladder of doses"])
def test_intervals_hold_r(kind: Kind, sizes: tuple[int, ...]) -> None:
    assert shares(partial(errors, kind, sizes, 0.5))[WITHIN]["coverage"] >= 0.91


@pytest.mark.parametrize("r", [0, 0.5])
def test_items_that_all_models_share_widen_the_interval(r: float) -> None:
    actual = shares(partial(on_items, (5,) * 12, r, 0.3))
    assert actual[WITHIN]["coverage"] >= 0.9, "three standard errors below .95"
    assert actual[IGNORED]["coverage"] < 0.8


def test_items_leave_a_strong_relation_seen() -> None:
    """Their error, four times the own of models, is across the scores and none along them."""
    actual = shares(partial(on_items, (6,) * 6, 0.99, 2, trait="other"))
    assert actual[WITHIN]["coverage"] >= 0.9


def test_seeds_of_a_corpus_are_averaged() -> None:
    actual = shares(partial(clusters, Sweep(12, 5, corpora=2, effect=1)))
    assert actual[AVERAGED]["p_below_05"] <= 0.1 < actual[WITHIN]["p_below_05"]
    related = shares(partial(clusters, Sweep(12, 5, corpora=6, effect=1, slope=1)))
    assert related[AVERAGED]["p_below_05"] >= 0.8


def test_what_conditions_do_by_themselves_is_not_claimed_for_others() -> None:
    actual = shares(partial(conditions, Sweep(8, 12, effect=1)))
    assert actual[OVER]["p_below_05"] <= 0.1
    assert actual[WITHIN]["p_below_05"] > 0.2, "for these conditions the gap does follow the score"


def test_lost_models_make_no_claim() -> None:
    actual = shares(partial(lossy, (5,) * 12, "large score + gap", 0.25))
    assert actual[WITHIN]["p_below_05"] > 0.2
    rng = np.random.default_rng(0)
    drawn = (lossy((5,) * 12, "large score + gap", 0.25, rng) for _ in range(20))
    assert {verdict_of(study).verdict for study in drawn} == {"cannot tell"}


@pytest.mark.parametrize("noise", ["noise per model", "noise per condition too"])
@pytest.mark.parametrize("r", [0, 0.8])
def test_intervals_hold_the_slope(r: float, noise: slopes.Noise) -> None:
    """Within parents that of these conditions."""
    actual = slopes.rates(slopes.Design(noise, 4, 21, r), STUDIES)
    assert actual["coverage"].min() >= 0.9
    if r == 0 and noise == "noise per model":
        assert actual["claimed"].tolist() == pytest.approx((1 - actual["coverage"]).tolist())


def test_intervals_hold_the_slope_where_words_and_items_are_shared() -> None:
    actual = slopes.rates(slopes.Design("strongly shared words and items", 4, 21, 0.8), STUDIES)
    assert actual["coverage"].min() >= 0.9
