"""Association within strata against literal loops: units left out and r computed anew, every order
tried.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from analysis.permutation import permutation_p
from analysis.within import (
    FEWEST_FREE,
    detectable,
    free_needed,
    indicators,
    interval,
    residuals,
    without_each,
    z_error,
    z_interval,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

BASE = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])


def made(base: Ints, seed: int = 0, slope: float = 0.6) -> tuple[Floats, Floats]:
    """x and y that bases move far more than y follows x."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=len(base))
    y = slope * x + rng.normal(size=len(base))
    return x + 5 * base, y - 5 * base


def literal(x: Floats, y: Floats, base: Ints) -> float:
    """r of what is left without the means of the bases."""
    u, v = (
        np.concatenate([side[base == b] - side[base == b].mean() for b in sorted(set(base))])
        for side in (x, y)
    )
    return float(u @ v / math.sqrt((u @ u) * (v @ v)))


def left_out_of(x: Floats, y: Floats) -> list[float]:
    """``literal`` without each unit."""
    return [literal(np.delete(x, i), np.delete(y, i), np.delete(BASE, i)) for i in range(9)]


def test_r_within_bases_and_without_each_unit_is_computed_anew() -> None:
    x, y = made(BASE)
    of = residuals(x, y, indicators(BASE))
    assert of.r == pytest.approx(literal(x, y, BASE), abs=1e-12)
    assert of.free == 9 - 3 - 1
    assert without_each(of) == pytest.approx(left_out_of(x, y), abs=1e-12)


def test_freed_of_any_design_r_is_that_of_the_residuals_of_least_squares() -> None:
    x, y = made(BASE)
    design = np.column_stack([indicators(BASE), np.arange(9.0), np.arange(9.0)])  # a column twice
    of = residuals(x, y, design)

    def freed(side: Floats, kept: list[int]) -> Floats:
        found: Floats = (
            side[kept] - design[kept] @ np.linalg.lstsq(design[kept], side[kept], rcond=None)[0]
        )
        return found

    everything = list(range(9))
    assert of.r == pytest.approx(stats.pearsonr(freed(x, everything), freed(y, everything))[0])
    kept = everything[:2] + everything[3:]
    assert without_each(of)[2] == pytest.approx(stats.pearsonr(freed(x, kept), freed(y, kept))[0])
    assert of.free == 9 - 4 - 1


def test_a_unit_alone_in_its_base_says_nothing() -> None:
    base = np.append(BASE, 3)
    x, y = made(base)
    with_it, without_it = (
        residuals(x[:n], y[:n], indicators(base[:n])) for n in (len(base), len(BASE))
    )
    assert with_it.told.tolist() == list(range(9))
    assert (with_it.r, with_it.free) == pytest.approx((without_it.r, without_it.free))
    assert interval(with_it) == pytest.approx(interval(without_it))
    assert permutation_p(with_it, base, 99) == permutation_p(without_it, BASE, 99)


def test_the_interval_is_that_of_the_jackknife() -> None:
    x, y = made(BASE, 1)
    left_out = left_out_of(x, y)
    d = np.arctanh(left_out).mean() - np.arctanh(left_out)
    # 9 units of 3 bases: the variances of the bases are estimated with 6 degrees of freedom
    error, told = math.sqrt(6 / 9 * (d**2).sum()), 2 * (d**2).sum() ** 2 / (9 * (d**2).var(ddof=1))
    skewness = stats.skew(d) / math.sqrt(9)
    t = stats.t.ppf(0.975, min(5, told))
    assert abs(skewness) > 0.05
    # The interval ends where the cubic of Hall (1992), (1 + a T)^3 with a = g / 3, reaches t
    a = 1.5 * abs(skewness) / 3
    farther = float(optimize.brentq(lambda x: x - a * x**2 + a**2 * x**3 / 3 - t, 0, 100))
    farther = min(farther, 1.5 * t)
    low, high = (farther, t) if skewness < 0 else (t, farther)
    r = literal(x, y, BASE)
    found = interval(residuals(x, y, indicators(BASE)))
    z = math.atanh(r)
    expected = (r, math.tanh(z - low * error), math.tanh(z + high * error))
    assert found == pytest.approx(expected)
    assert z_error(np.array(left_out), 5) == pytest.approx((error, told, skewness))
    assert interval(residuals(x, y, indicators(BASE)), 0.9).low > found.low


def test_no_end_lies_more_than_half_as_far_again_as_the_other() -> None:
    rng = np.random.default_rng(0)
    ratios = []
    for left_out in 0.3 + 0.01 * rng.standard_t(3, size=(200, 20)).clip(-20, 20):
        found = z_interval(0.3, left_out, 18)
        ends = [abs(math.atanh(end) - math.atanh(0.3)) for end in (found.low, found.high)]
        ratios.append(max(ends) / min(ends))
        mirrored = z_interval(-0.3, -left_out, 18)
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert min(ratios) < 1.1
    assert max(ratios) == pytest.approx(1.5)


def test_of_pairs_in_one_stratum_it_is_about_fishers_interval() -> None:
    x, y = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=2_000).T
    found = interval(residuals(x, y, np.ones((2_000, 1))))
    fisher = stats.pearsonr(x, y).confidence_interval()
    assert (found.low, found.high) == pytest.approx((fisher.low, fisher.high), abs=0.01)


def test_points_on_a_line_have_no_interval_of_no_width() -> None:
    x = np.arange(12.0)
    for y in (2 * x, -x):
        found = interval(residuals(x, y, np.ones((12, 1))))
        assert abs(found.value) == pytest.approx(1)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    assert math.isnan(z_interval(0.5, np.array([0.5, 0.4]), 3).low)


def statistic(u: Floats, v: Floats, strata: Ints) -> float:
    """T as its equation has it, loop by loop."""
    u, v = u / math.sqrt(u @ u), v / math.sqrt(v @ v)
    variance = 0.0
    for stratum in sorted(set(strata.tolist())):
        a, b = u[strata == stratum], v[strata == stratum]
        m = len(a)
        product = sum(x * x * y * y for x, y in zip(a, b, strict=True))
        if m == 2:
            variance += 2 * product
        else:
            variance += m / (m - 2) * (product - (a @ a) * (b @ b) / (m * (m - 1)))
    variance = max(variance, 0.6 * float((u * u) @ (v * v)))
    return abs(math.atanh(float(u @ v))) / math.sqrt(variance)


@pytest.mark.parametrize("sizes", [(3, 3), (4, 2, 2), (5,)])
def test_p_is_that_of_all_orders_within_strata(sizes: tuple[int, ...]) -> None:
    strata = np.repeat(np.arange(len(sizes)), sizes)
    x, y = made(strata, seed=3, slope=1.5)
    of = residuals(x, y, indicators(strata))
    places = [np.flatnonzero(strata == stratum) for stratum in range(len(sizes))]
    every = [
        statistic(of.u, of.v[np.concatenate(order)], strata)
        for order in itertools.product(
            *([np.array(p) for p in itertools.permutations(own)] for own in places)
        )
    ]
    exact = float(np.mean(np.array(every) >= statistic(of.u, of.v, strata) - 1e-9))
    found = permutation_p(of, strata, 19_999)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_a_p_is_not_that_of_chance_where_noise_grows_with_x() -> None:
    """The unstudentised test rejects r = 0, which is true, in a fifth of such studies."""
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(2), 9)
    rejected, plain = 0.0, 0.0
    for _ in range(300):
        x = np.tile(np.linspace(-2, 2, 9), 2)
        y = rng.normal(size=18) * np.abs(x) ** 1.5
        of = residuals(x, y, indicators(strata))
        rejected += permutation_p(of, strata, 299) < 0.05
        moved = [
            abs(of.u @ of.v[rng.permutation(9).tolist() + (9 + rng.permutation(9)).tolist()])
            for _ in range(99)
        ]
        plain += float(np.mean(np.array(moved) >= abs(of.u @ of.v))) < 0.05
    assert plain / 300 > 0.12
    assert rejected / 300 < 0.1


def test_the_detectable_correlation_is_about_cohens() -> None:
    # Cohen (1988), table 3.4.1, two-tailed, power .80: n = 85 for r = .30 and 28 for .50.
    assert detectable(83, 1) == pytest.approx(0.30, abs=0.01)
    assert detectable(26, 1) == pytest.approx(0.50, abs=0.03)
    assert detectable(26, 6) > detectable(26, 1)
    assert math.isnan(detectable(0, 1))


def test_the_degrees_of_freedom_needed_are_the_first_that_detect() -> None:
    free = round(free_needed(0.3, 6))
    assert detectable(free, 6) <= 0.3 < detectable(round(free / 1.05), 6)
    assert free_needed(0.99, 1) == FEWEST_FREE
    shared = round(free_needed(0.3, 6, 0.05))
    assert detectable(shared, 6, shared=0.05) <= 0.3 < detectable(free, 6, shared=0.05)
    assert free_needed(0.3, 6, 0.1) == math.inf, "more embeddings do not help"
