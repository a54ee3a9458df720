"""Association within strata against literal loops: units left out and refitted, every order tried."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from analysis.within import (
    detectable,
    indicators,
    interval,
    permutation_p,
    residuals,
    units_needed,
    without_each,
    z_interval,
)

Floats = NDArray[np.float64]


def study(bases: int, units: int, r: float, seed: int) -> tuple[Floats, Floats, NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(bases), units)
    x = rng.normal(size=len(base))
    y = r * x + math.sqrt(1 - r * r) * rng.normal(size=len(base))
    return x + rng.normal(0, 2, bases)[base], y + rng.normal(0, 2, bases)[base], base


def literal_r(x: Floats, y: Floats, design: Floats) -> float:
    """r of the residuals of two least-squares fits, by NumPy's own."""
    u, v = (side - design @ np.linalg.lstsq(design, side, rcond=None)[0] for side in (x, y))
    return float(np.corrcoef(u, v)[0, 1])


@pytest.mark.parametrize("more", [False, True])
def test_r_within_bases_and_without_each_unit_are_fits_anew(more: bool) -> None:
    x, y, base = study(3, 6, 0.5, 0)
    design = indicators(base)
    if more:
        design = np.column_stack([design, np.tile(np.arange(6.0), 3)])
    of = residuals(x, y, design)
    assert of.r == pytest.approx(literal_r(x, y, design), abs=1e-12)
    left = [literal_r(*(np.delete(each, i, axis=0) for each in (x, y, design))) for i in range(18)]
    assert without_each(of) == pytest.approx(left, abs=1e-12)
    assert of.free == 18 - design.shape[1] - 1


def test_the_interval_by_hand() -> None:
    left_out = np.array([0.5, 0.6, 0.4, 0.5, 0.55])
    z = np.arctanh(left_out)
    d = (z - z.mean()) ** 2
    error = math.sqrt(4 / 5 * d.sum())
    free = min(3, 2 * d.sum() ** 2 / (5 * d.var(ddof=1)))
    reach = stats.t.ppf(0.975, max(1, free)) * error
    found = z_interval(0.5, left_out, 3)
    bounds = [math.tanh(math.atanh(0.5) + side * reach) for side in (-1, 1)]
    assert [found.low, found.high] == pytest.approx(bounds, abs=1e-9)


def test_no_interval_has_zero_width() -> None:
    line = residuals(np.arange(8.0), np.arange(8.0), np.ones((8, 1)))
    assert line.r == 1
    assert math.isnan(interval(line).low)
    assert math.isnan(z_interval(0.5, np.full(5, 0.5), 3).low)


def test_p_is_that_of_every_order_within_strata() -> None:
    x, y, base = study(2, 4, 0.8, 3)
    of = residuals(x, y, indicators(base))

    def t(v: Floats) -> float:
        product = of.u * v
        return abs(float(product.sum())) / math.sqrt(float((product**2).sum()))

    orders = [
        np.array([*first, *(4 + np.array(second))])
        for first, second in itertools.product(itertools.permutations(range(4)), repeat=2)
    ]
    exact = np.mean([t(of.v[order]) >= t(of.v) - 1e-12 for order in orders])
    assert permutation_p(of, base, 20_000) == pytest.approx(exact, abs=0.01)


def test_units_of_different_sizes_are_not_moved_by_one_array_of_orders() -> None:
    """12 units of 1 to 4 rows, a strong association: one row a unit counts each once."""
    x = np.arange(12.0)
    y = x + 0.5 * np.random.default_rng(0).normal(size=12)
    of = residuals(x, y, np.ones((12, 1)))
    assert permutation_p(of, np.zeros(12, dtype=int), 9_999) < 0.001


def test_a_unit_alone_in_its_base_says_nothing() -> None:
    x, y, base = study(3, 5, 0.5, 1)
    more = np.append(base, 3)
    alone = residuals(np.append(x, 50.0), np.append(y, -50.0), indicators(more))
    assert alone.r == pytest.approx(residuals(x, y, indicators(base)).r, abs=1e-12)


def test_detectable_falls_with_units_and_rises_with_the_family() -> None:
    assert detectable(10, 1) > detectable(20, 1) > detectable(100, 1)
    assert detectable(20, 6) > detectable(20, 1)
    needed = units_needed(0.3, 6, 6)
    assert detectable(needed - 7, 6) <= 0.3 < detectable(needed - 20, 6)
