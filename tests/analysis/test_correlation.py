"""One statistic for r_rm, its interval and its p: against pingouin, scipy and literal loops, and
what must hold of any table.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from biasbridge.analysis.correlation import (
    Correlation,
    correlation,
    minimum_detectable,
    studentised,
)
from biasbridge.analysis.residuals import residuals
from biasbridge.stats.multiple_testing import holm

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Ints = NDArray[np.intp]
SIZES = (3, 4, 2, 6)
PARENT = np.repeat(np.arange(4), SIZES)


def made(parent: Ints, seed: int = 0, slope: float = 0.6) -> tuple[Floats, Floats]:
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
    found: Floats = side - design @ np.linalg.lstsq(design, side, rcond=None)[0]
    return found


def literal(x: Floats, y: Floats, parent: Ints, further: Floats | None = None) -> float:
    return float(stats.pearsonr(*(residual(side, parent, further) for side in (x, y))).statistic)


def left_out(x: Floats, y: Floats, parent: Ints, further: Floats | None = None) -> Floats:
    """``literal`` without each observation, from scratch."""
    found = []
    for i in range(len(x)):
        some = None if further is None else np.delete(further, i, axis=0)
        found.append(literal(np.delete(x, i), np.delete(y, i), np.delete(parent, i), some))
    return np.array(found)


def jackknife(z: Floats, df: int) -> float:
    """The module's formula, term by term."""
    return math.sqrt((df + 1) / len(z) * sum((each - z.mean()) ** 2 for each in z))


@pytest.mark.filterwarnings("ignore")  # pingouin's, about pandas
def test_r_and_its_degrees_of_freedom_are_pingouins() -> None:
    pingouin, pandas = pytest.importorskip("pingouin"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    for _ in range(50):
        parents = int(rng.integers(3, 8))
        parent = np.repeat(np.arange(parents), rng.integers(2, 12, size=parents))
        x, y = made(parent, int(rng.integers(1_000_000)), float(rng.normal()))
        table = pandas.DataFrame({"parent": parent, "x": x, "y": y})
        (expected,) = pingouin.rm_corr(table, x="x", y="y", subject="parent").itertuples()
        found = correlation(x, y, parent, permutations=1)
        assert (found.r, found.df) == pytest.approx((expected.r, expected.dof), abs=1e-12)


def test_of_one_parent_r_is_pearsons() -> None:
    x, y = made(np.zeros(30, dtype=np.intp))
    assert correlation(x, y).r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("more", [0, 2])
def test_the_jackknife_leaves_out_each_observation(more: int) -> None:
    """Also where further columns are partialled out, as least squares do it."""
    x, y = made(PARENT)
    further = np.random.default_rng(1).normal(size=(15, more)) if more else None
    left = left_out(x, y, PARENT, further)
    found = correlation(x, y, PARENT, given=further, permutations=1)
    assert found.r == pytest.approx(literal(x, y, PARENT, further), abs=1e-12)
    assert (found.n, found.df) == (15, 15 - 4 - 1 - more)
    assert found.s == pytest.approx(jackknife(np.arctanh(left), int(found.df)))
    most = int(np.argmax(np.abs(left - found.r)))
    assert found.influential == most
    assert found.r_without_influential == pytest.approx(left[most])


@pytest.mark.parametrize("more", [0, 1])
def test_many_permutations_at_once_are_studentised_one_by_one(more: int) -> None:
    x, y = made(PARENT)
    further = np.arange(15.0)[:, None] ** 2 if more else None
    of = residuals(x, y, PARENT, further)
    rng = np.random.default_rng(2)
    drawn = np.array([residual(rng.permutation(y), PARENT, further) for _ in range(20)])
    drawn /= np.sqrt((drawn**2).sum(axis=1, keepdims=True))
    r, t = studentised(of.u / np.sqrt(of.u @ of.u), drawn, of.h, of.df)
    for row, r_star, t_star in zip(drawn, r, t, strict=True):
        expected = literal(x, row, PARENT, further)
        s = jackknife(np.arctanh(left_out(x, row, PARENT, further)), of.df)
        assert (r_star, t_star) == pytest.approx((expected, abs(math.atanh(expected)) / s))


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (2, 3, 3), (6,)])
def test_p_is_that_of_all_orders_within_parents(sizes: tuple[int, ...]) -> None:
    parent = np.repeat(np.arange(len(sizes)), sizes)
    x, y = made(parent, seed=3, slope=1.5)
    df = len(x) - len(sizes) - 1

    def t(values: Floats) -> float:
        left = np.clip(left_out(x, values, parent), -1 + 1e-12, 1 - 1e-12)
        return abs(math.atanh(literal(x, values, parent))) / jackknife(np.arctanh(left), df)

    places = [np.flatnonzero(parent == each) for each in range(len(sizes))]
    orders = itertools.product(*(itertools.permutations(own) for own in places))
    every = np.array([t(y[[i for own in order for i in own]]) for order in orders])
    exact = float(np.mean(every >= t(y) * (1 - 1e-9)))
    found = correlation(x, y, parent).p
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000) + 1e-4)


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
        found = correlation(scale * np.array(x) - 1 / 3, y, parent)
        assert found.p == pytest.approx(exact, abs=0.02)


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

    found = of()
    if math.isnan(found.r):
        assert found.reason
        assert all(math.isnan(value) for value in (found.p, *found.interval))
        return
    assert -1 <= found.low <= found.r + 1e-12
    assert found.r - 1e-12 <= found.high <= 1
    assert (found.low > 0 or found.high < 0) == (found.p < 0.05)
    assert not found.slope.value < found.slope.low
    assert not found.slope.value > found.slope.high
    if kind == "a line":
        assert found.r == pytest.approx(1)
        assert 0 < found.p <= 1
        assert found.high == 1
    mirrored, moved = of(c=-1), of(a=3, b=5, c=0.2, d=-7)
    ends = found.low, found.high
    assert (moved.r, -mirrored.r) == pytest.approx((found.r, found.r), abs=1e-9)
    for other, actual in (
        (moved, (moved.low, moved.high)),
        (mirrored, (-mirrored.high, -mirrored.low)),
    ):
        assert other.p == pytest.approx(found.p, abs=1e-9)
        assert actual == pytest.approx(ends, abs=1e-5)
    for other, factor in ((moved, 0.2 / 3), (mirrored, -1), (of(a=-1), -1), (of(a=5, c=-1), -0.2)):
        slope = other.slope.times(1 / factor)
        assert slope.value == pytest.approx(found.slope.value, rel=1e-6, abs=1e-9)
        assert slope[1:] == pytest.approx(found.slope[1:], rel=1e-4, abs=1e-4, nan_ok=True)


def test_the_slope_has_its_jackknife_interval() -> None:
    """Against literal loops; with shared items by finite differences."""
    x, y = made(PARENT, seed=4, slope=0.2)
    found = correlation(x, y, PARENT)

    def slope(x: Floats, y: Floats, parent: Ints) -> float:
        u, v = residual(x, parent), residual(y, parent)
        return float(u @ v / (u @ u))

    assert found.slope.value == pytest.approx(slope(x, y, PARENT))
    without = [slope(np.delete(x, i), np.delete(y, i), np.delete(PARENT, i)) for i in range(len(x))]
    reach = stats.t.ppf(0.975, found.df) * jackknife(np.array(without), int(found.df))
    assert found.slope[1:] == pytest.approx((found.slope.value - reach, found.slope.value + reach))


def test_of_many_observations_the_slope_has_the_interval_of_least_squares() -> None:
    x, y = made(np.zeros(600, dtype=np.intp), seed=5)
    found, of = correlation(x, y).slope, stats.linregress(x, y)
    reach = 1.96 * of.stderr
    expected = (of.slope, of.slope - reach, of.slope + reach)
    assert found == pytest.approx(expected, abs=0.2 * reach)


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
    found = correlation(np.array(x), np.array(y), np.array(parent))
    assert found.n == n
    assert found.reason.startswith(reason)
    assert np.isnan(
        [*found.interval, *found.slope, found.p, found.s, found.r_without_influential]
    ).all()


def test_a_model_alone_of_its_parent_says_nothing() -> None:
    x, y = made(PARENT)
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
    x, y = made(np.zeros(2_500, dtype=np.intp), slope=0.05)
    found, expected = correlation(x, y), stats.pearsonr(x, y)
    assert found.p == pytest.approx(expected.pvalue, rel=0.1)
    assert found.interval[1:] == pytest.approx(expected.confidence_interval(), abs=0.005)


def test_holm_is_statsmodels() -> None:
    for seed in range(5):
        p = np.random.default_rng(seed).uniform(size=9) ** 3
        assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1])
    assert holm([]) == []


def test_the_detectable_correlation_is_about_cohens() -> None:
    # Cohen (1988), table 3.4.1, two-tailed, power .80: n = 85 for r = .30 and 28 for .50.
    assert minimum_detectable(83) == pytest.approx(0.30, abs=0.01)
    assert minimum_detectable(26) == pytest.approx(0.50, abs=0.03)
    assert minimum_detectable(26, 6) > minimum_detectable(26)
    assert math.isnan(minimum_detectable(1))
