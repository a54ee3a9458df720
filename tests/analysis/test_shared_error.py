"""The error of r that embeddings share: against resampled correlations themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.evidence import evidence
from analysis.shared_error import SharedError, Side, shared_error
from analysis.units import Resampled, Rows
from analysis.within import Residuals, residuals

Floats = NDArray[np.float64]
BASE = np.repeat(np.arange(4), 6)


def measured(seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Scores, gaps, and what 400 resamples do to gaps: so little that r moves in proportion."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=24) + 3.0 * BASE
    y = 0.6 * x + rng.normal(size=24) - 2.0 * BASE
    slopes: Floats = rng.normal(size=400)
    moves: Floats = 1e-4 * (np.outer(x, slopes) + rng.normal(size=(24, 400)) + slopes**2)
    return x, y, moves


def slope(of: Residuals) -> float:
    return of.r / math.sqrt(1 - of.r**2)


def literal(x: Floats, y: Floats, moves: Floats, of: NDArray[np.intp] | None = None) -> float:
    """The variance of r / sqrt(1 - r^2) when the gaps of some units alone are moved."""
    alone = np.zeros_like(moves) if of is not None else moves
    if of is not None:
        alone[of] = moves[of]
    found = [slope(residuals(x, y + move, BASE)) for move in alone.T]
    return float(np.var(found, ddof=1))


def test_it_is_what_resamples_do_together_less_what_they_do_to_each() -> None:
    x, y, moves = measured()
    of = residuals(x, y, BASE)
    none = np.zeros((24, 0))
    found = shared_error(of, Side(x, none), Side(y, y[:, None] + moves))
    freed = of.freed(moves)
    each = sum(
        literal(x, y, freed, np.array([unit])) / (1 - of.leverage[unit]) for unit in range(24)
    )
    assert math.isnan(found.words)
    assert found.items**2 == pytest.approx(literal(x, y, moves) - each, rel=1e-3)
    swapped = shared_error(residuals(y, x, BASE), Side(y, y[:, None] + moves), Side(x, none))
    assert swapped.words == pytest.approx(found.items)
    assert found.whole == found.items


def test_what_groups_that_are_left_out_have_is_not_counted_again() -> None:
    x, y, moves = measured()
    of = residuals(x, y, BASE)
    none, gaps = Side(x, np.zeros((24, 0))), Side(y, y[:, None] + moves)
    freed = of.freed(moves)
    each = sum(literal(x, y, freed, np.flatnonzero(base == BASE)) for base in range(4))
    found = shared_error(of, none, gaps, BASE)
    assert found.items**2 == pytest.approx(literal(x, y, moves) - each, rel=1e-3)
    assert found.items < shared_error(of, none, gaps).items


def test_what_shifts_all_alike_or_each_by_itself_is_not_shared() -> None:
    x, y, _ = measured()
    of = residuals(x, y, BASE)
    rng = np.random.default_rng(1)
    shift: Floats = rng.normal(size=(4, 4_000))[BASE]
    apart: Floats = rng.normal(size=(24, 4_000))
    gaps = [Side(y, y[:, None] + move) for move in (shift, apart)]
    words = Side(x, x[:, None] + shift)
    of_shift, of_apart = (shared_error(of, words, each) for each in gaps)
    assert of_shift == pytest.approx(SharedError(0, 0), abs=1e-7)
    whole = math.sqrt(literal(x, y, 1e-3 * apart[:, :1_000])) * 1e3
    assert of_apart.items < 0.25 * whole


def test_it_widens_the_interval_and_weakens_the_claim() -> None:
    x, y, moves = measured()
    rows = Rows.of(x, y, np.arange(24), BASE)
    fixed = evidence(rows)
    found = evidence(rows._replace(y_resampled=Resampled.of(y[:, None] + 1e3 * moves)))
    assert found.within == fixed.within
    assert found.within_error == fixed.within_error
    assert math.isnan(fixed.items_error)
    assert found.items_error > 0
    assert found.within_low < fixed.within_low
    assert found.within_high > fixed.within_high
    assert found.within_p > fixed.within_p
    assert found.partial_low < fixed.partial_low


def test_it_is_unknown_with_few_resamples_and_where_r_is_undefined() -> None:
    x, y, moves = measured()
    of = residuals(x, y, BASE)
    few = Side(y, y[:, None] + moves[:, :49])
    assert shared_error(of, few, few) == pytest.approx(SharedError(), nan_ok=True)
    flat = residuals(np.ones(24), y, BASE)
    assert shared_error(flat, few, few) == pytest.approx(SharedError(), nan_ok=True)
    assert SharedError().whole == 0
    assert SharedError().not_known == "words and test items"
    assert SharedError(0.1).not_known == "test items"
    assert SharedError(0.1, 0).not_known == ""
    assert SharedError(0.3, 0.4).whole == pytest.approx(0.5)
