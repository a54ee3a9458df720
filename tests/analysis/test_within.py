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
    unit_error,
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


def left_out_of(x: Floats, y: Floats, base: Ints) -> list[float]:
    """``literal`` without each unit."""
    every = range(len(base))
    return [literal(np.delete(x, i), np.delete(y, i), np.delete(base, i)) for i in every]


def test_r_within_bases_and_without_each_unit_is_computed_anew() -> None:
    x, y = made(BASE)
    of = residuals(x, y, BASE)
    assert of.r == pytest.approx(literal(x, y, BASE), abs=1e-12)
    assert of.free == 9 - 3 - 1
    assert without_each(of) == pytest.approx(left_out_of(x, y, BASE), abs=1e-12)


def test_freed_of_any_design_r_is_that_of_the_residuals_of_least_squares() -> None:
    x, y = made(BASE)
    twice = np.column_stack([np.arange(9.0), np.arange(9.0)])
    design = np.column_stack([indicators(BASE), twice])
    of = residuals(x, y, BASE, twice)

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
    with_it, without_it = (residuals(x[:n], y[:n], base[:n]) for n in (len(base), len(BASE)))
    assert with_it.told.tolist() == list(range(9))
    assert (with_it.r, with_it.free) == pytest.approx((without_it.r, without_it.free))
    assert interval(with_it) == pytest.approx(interval(without_it))
    assert permutation_p(with_it, base, 99) == permutation_p(without_it, BASE, 99)


def noise_of_its_own(x: Floats, y: Floats, base: Ints, extra: Floats) -> tuple[float, float, float]:
    """V, J and sum u^4 of ``unit_error`` as its equations have them, loop by loop; ``extra``: the
    leverage of each unit beyond that of its base.
    """
    u, v = (side - np.array([side[base == b].mean() for b in base]) for side in (x, y))
    u, v = u / math.sqrt(u @ u), v / math.sqrt(v @ v)
    r = float(u @ v)
    whole, shown = 0.0, 0.0
    for b in sorted(set(base.tolist())):
        units = np.flatnonzero(base == b)
        m, both, weights, noises = len(units), 0.0, 0.0, 0.0
        for i in units:
            e = v[i] - r * u[i]
            s = e**2 / (1 - extra[i] - u[i] ** 2)
            both, weights, noises = both + u[i] ** 2 * s, weights + u[i] ** 2, noises + s
            shown += u[i] ** 2 * e**2 / (1 - 1 / m - extra[i] - u[i] ** 2) ** 2
        if m == 2:
            whole += 2 * both
        else:
            whole += m / (m - 2) * (both - weights * noises / (m * (m - 1)))
    return whole, shown, float((u**4).sum())


PAIRED = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3])


def test_the_interval_is_that_of_the_jackknife_less_what_leverage_adds() -> None:
    x, y = made(PAIRED, 1)
    left_out = np.array(left_out_of(x, y, PAIRED))
    d = np.arctanh(left_out).mean() - np.arctanh(left_out)
    whole, shown, fourth = noise_of_its_own(x, y, PAIRED, np.zeros(14))
    assert 0.3 < whole / shown < 0.9
    error = math.sqrt(whole / shown * (d**2).sum())
    told = 9 / (14 * fourth)  # 14 units of 4 bases
    assert told < 9
    skewness = stats.skew(d) / math.sqrt(14)
    t = stats.t.ppf(0.975, told)
    assert abs(skewness) > 0.05
    # The interval ends where the cubic of Hall (1992), (1 + a T)^3 with a = g / 3, reaches t
    a = 1.8 * abs(skewness) / 3
    farther = float(optimize.brentq(lambda x: x - a * x**2 + a**2 * x**3 / 3 - t, 0, 100))
    farther = min(farther, 1.75 * t)
    low, high = (farther, t) if skewness < 0 else (t, farther)
    r = literal(x, y, PAIRED)
    of = residuals(x, y, PAIRED)
    found = interval(of)
    z = math.atanh(r)
    expected = (r, math.tanh(z - low * error), math.tanh(z + high * error))
    assert found == pytest.approx(expected)
    assert unit_error(of, left_out) == pytest.approx((error, told, skewness))
    assert interval(of, 0.9).low > found.low


def test_over_groups_the_error_is_that_of_the_jackknife() -> None:
    left_out = np.array([0.3, 0.42, 0.35, 0.1, 0.38, 0.36])
    d = np.arctanh(left_out).mean() - np.arctanh(left_out)
    told = 2 * (d**2).sum() ** 2 / (6 * (d**2).var(ddof=1))
    found = z_error(left_out, 5)
    assert found.size == pytest.approx(math.sqrt(5 / 6 * (d**2).sum()))
    assert (found.free, found.skewness) == pytest.approx((told, stats.skew(d) / math.sqrt(6)))
    assert told < 5
    assert z_error(left_out, 1).free == 1


@pytest.mark.parametrize(("loud", "times"), [(0, 1.4), (1, 15), (2, 1.6)])
def test_noise_of_one_unit_counts_as_it_moves_the_slope(loud: int, times: float) -> None:
    """The slope's variance is sum u^2 sigma^2. Of noise that one unit of three alone has V is about
    that, on average, and what leaving units out shows up to 16 times as much.
    """
    rng = np.random.default_rng(0)
    base, x = np.repeat(np.arange(3), 3), np.tile([-1.0, 0.2, 0.8], 3)
    u = x / math.sqrt(x @ x)
    told = []
    for _ in range(2_000):
        noise = 0.1 * rng.normal(size=9)
        noise[loud] *= 30
        e = noise - np.repeat(noise.reshape(3, 3).mean(axis=1), 3)
        e = e - (u @ e) * u
        told.append(np.array(noise_of_its_own(x, e, base, np.zeros(9))[:2]) * (e @ e))
    true = 0.01 * (1 + 899 * u[loud] ** 2)
    whole, shown = np.mean(told, axis=0) / true
    assert 0.75 < whole < 2.25
    assert shown > times


def test_no_end_lies_more_than_three_quarters_as_far_again_as_the_other() -> None:
    rng = np.random.default_rng(0)
    ratios = []
    for left_out in 0.3 + 0.01 * rng.standard_t(3, size=(200, 20)).clip(-20, 20):
        found = z_interval(0.3, z_error(left_out, 18))
        ends = [abs(math.atanh(end) - math.atanh(0.3)) for end in (found.low, found.high)]
        ratios.append(max(ends) / min(ends))
        mirrored = z_interval(-0.3, z_error(-left_out, 18))
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert min(ratios) < 1.1
    assert max(ratios) == pytest.approx(1.75)


def test_of_pairs_in_one_stratum_it_is_about_fishers_interval() -> None:
    x, y = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=2_000).T
    found = interval(residuals(x, y, np.zeros(2_000, dtype=np.intp)))
    fisher = stats.pearsonr(x, y).confidence_interval()
    assert (found.low, found.high) == pytest.approx((fisher.low, fisher.high), abs=0.01)


def test_points_on_a_line_have_no_interval_of_no_width() -> None:
    x = np.arange(12.0)
    for y in (2 * x, -x):
        found = interval(residuals(x, y, np.zeros(12, dtype=np.intp)))
        assert abs(found.value) == pytest.approx(1)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    assert math.isnan(z_interval(0.5, z_error(np.array([0.5, 0.4]), 3)).low)


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
    of = residuals(x, y, strata)
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
        of = residuals(x, y, strata)
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
