"""Permutation tests of many slices at a time: each has the p that it has alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.permutation import Exchange, orders, permutation_p, permutation_ps
from analysis.within import Residuals, residuals

Floats = NDArray[np.float64]
STRATA = np.array([2, 0, 0, 1, 2, 1, 0, 2, 1, 1, 0, 2, 3, 3])


def left(seed: int, strata: NDArray[np.intp] = STRATA) -> list[Residuals]:
    """What is left of three scores against four gaps, slice by slice."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(3, len(strata))), rng.normal(size=(4, len(strata)))
    return [residuals(a, b + 0.5 * a, strata) for a in x for b in y] + [
        residuals(a, y[0], strata) for a in x
    ]


def literal(of: Residuals, resamples: int) -> float:
    """T of every order, one after the other."""
    u, v = (side / np.sqrt(side @ side) for side in (of.u, of.v))
    own = STRATA[of.told]

    def t(values: Floats) -> float:
        squares, variance = u**2 * values**2, 0.0
        for stratum in set(own.tolist()):
            at = own == stratum
            m = int(at.sum())
            if m == 2:
                variance += 2 * float(squares[at].sum())
            else:
                both = float((u[at] ** 2).sum() * (values[at] ** 2).sum()) / (m * (m - 1))
                variance += m / (m - 2) * (float(squares[at].sum()) - both)
        return float(abs(np.arctanh(u @ values)) / np.sqrt(max(variance, 0.6 * squares.sum())))

    permuted = [t(v[order]) for order in orders(tuple(own.tolist()), resamples)]
    return (1 + sum(each >= t(v) - 1e-9 for each in permuted)) / (1 + resamples)


@pytest.mark.parametrize("seed", range(3))
def test_many_slices_are_tested_as_each_is_alone(seed: int) -> None:
    every = left(seed)
    found = permutation_ps([Exchange.of(each, STRATA) for each in every], 400)
    assert found == [permutation_p(each, STRATA, 400) for each in every]
    assert found == [literal(each, 400) for each in every]
    turned = [Exchange.of(each, STRATA) for each in every]
    flipped = [each and Exchange(each.v, each.u, each.sizes) for each in turned]
    assert len({each.u.tobytes() for each in turned if each}) == 3
    alone = [permutation_ps([each], 400)[0] for each in flipped]
    assert permutation_ps(flipped, 400) == alone


def test_slices_of_other_strata_and_of_nothing_are_told_apart() -> None:
    other = np.repeat([0, 1], 7)
    tests = [Exchange.of(left(0)[0], STRATA), None, Exchange.of(left(1, other)[0], other)]
    p = permutation_ps(tests, 200)
    assert p[0] == permutation_p(left(0)[0], STRATA, 200)
    assert np.isnan(p[1])
    assert p[2] == permutation_p(left(1, other)[0], other, 200)


def test_orders_stay_within_strata() -> None:
    found = orders(tuple(STRATA.tolist()), 50)
    assert (np.sort(found, axis=1) == np.arange(len(STRATA))).all()
    assert (STRATA[found] == STRATA).all()
    assert len({row.tobytes() for row in found}) > 40
