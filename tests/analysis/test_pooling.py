"""Slices taken together: the covariance of their errors, whether they disagree, and their mean,
against statsmodels where errors are independent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import scipy
from numpy.typing import NDArray
from statsmodels.stats.meta_analysis import combine_effects

from analysis.correlate import correlate_slices
from analysis.evidence import Evidence, described
from analysis.naming import SLICE_COLUMNS
from analysis.pooling import (
    Part,
    cochran,
    disagreement,
    meta_analysis,
    pooled,
    z_and_covariance,
)
from analysis.shared_error import Side, shifts
from analysis.units import Resampled, Rows
from analysis.within import residuals
from tests.analysis.designs import PARTS, Parts, of_parts, parts_on_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.findings import Finding

Floats = NDArray[np.float64]
NONE = np.zeros(0)


def part(r: float, error: float = 0.2, free: int = 20, shifts: Floats = NONE) -> Part:
    shared = math.sqrt(float(shifts @ shifts))
    found = Evidence(free + 2, free=free, within=r, within_error=error, items_error=shared)
    return Part(found, shifts)


def test_parts_disagree_where_a_test_of_heterogeneity_says_so() -> None:
    # z of -.6 and .6 are 1.386 apart, 4.9 errors of the difference: Q = 24 of 1 degree of freedom
    assert disagreement([part(-0.6), part(0.6)]).startswith("parts disagree: r from -0.60 to 0.60")
    assert disagreement([part(-0.1), part(0.1)]) == ""
    assert disagreement([part(0.1), part(0.9)]) == "", "the sign is the same"
    assert disagreement([part(-0.6, free=7), part(0.6)]) == "", "too few units to say so"
    assert disagreement([part(-0.6, error=0.6), part(0.6, error=0.6)]) == ""


def test_what_parts_share_is_no_disagreement_and_hides_none() -> None:
    of_first, of_second = np.array([0.4, 0.0]), np.array([0.0, 0.4])
    assert disagreement([part(-0.5, shifts=of_first), part(0.5, shifts=of_second)]) == ""
    assert disagreement([part(-0.5, shifts=of_first), part(0.5, shifts=of_first)])


def test_the_covariance_has_both_errors_and_what_goes_together() -> None:
    z, found = z_and_covariance(
        [part(-0.5, 0.2, shifts=np.array([0.3, 0.1])), part(0.5, 0.2, shifts=np.array([0.2, 0.0]))]
    )
    assert z == pytest.approx([-math.atanh(0.5), math.atanh(0.5)])
    # The weighted mean of z: 1 / (.04 + .1) and 1 / (.04 + .04)
    mean = math.atanh(0.5) * (12.5 - 1 / 0.14) / (12.5 + 1 / 0.14)
    scale = 1 - math.tanh(mean) ** 2
    expected = [[0.04 + 0.1 * scale, 0.06 * scale], [0.06 * scale, 0.04 + 0.04 * scale]]
    assert found == pytest.approx(np.array(expected))


def test_cochran_with_independent_errors_is_the_textbook_sum() -> None:
    z, variance = np.array([0.1, 0.5, -0.3]), np.array([0.04, 0.02, 0.09])
    mean = float((z / variance).sum() / (1 / variance).sum())
    expected = (float(((z - mean) ** 2 / variance).sum()), mean, 1 / float((1 / variance).sum()))
    assert cochran(z, np.diag(variance)) == pytest.approx(expected)


def test_shifts_are_what_resamples_do_to_the_slope() -> None:
    """Gaps that are moved so little that r moves in proportion."""
    rng = np.random.default_rng(0)
    base = np.repeat(np.arange(4), 6)
    x, y = rng.normal(size=(2, 24))
    of = residuals(x, y, base)
    moves: Floats = 1e-5 * (np.outer(x, rng.normal(size=60)) + rng.normal(size=(24, 60)))
    moves[3, 7] = np.nan
    found = shifts(of, Side(x, np.zeros((24, 49))), Side(y, y[:, None] + moves))

    def slope(gaps: Floats) -> float:
        """In units of what y leaves."""
        after = residuals(x, gaps, base)
        return math.sqrt(float(after.freed(gaps) @ after.freed(gaps))) * after.r

    r, size = of.r, math.sqrt(float(of.freed(y) @ of.freed(y)))
    literal = np.array([slope(y + move) for move in moves.T]) / (size * math.sqrt(1 - r * r))
    known = np.isfinite(literal)
    expected = np.where(known, literal - literal[known].mean(), 0) / math.sqrt(58)
    assert found[:49] == pytest.approx(np.zeros(49)), "too few resamples"
    assert found[49:] == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("of", PARTS)
def test_items_that_parts_share_are_no_disagreement(of: Parts) -> None:
    """Without what items do to parts in the errors some nine in ten of such studies said so (with
    other slopes for each part).
    """
    assert of_parts(of, 5, 10, 20, 0, 0.3, 40).said <= 0.05


def test_parts_on_shared_items_that_disagree_are_told() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        above, below = (
            parts_on_items("alike algorithms", 1, 6, 12, r, 0.1, rng)[0] for r in (0.6, -0.6)
        )
        found = [described(each) for each in (above, below)]
        assert disagreement([Part(each.evidence, each.shifts) for each in found])


def of_algorithms(algorithms: Sequence[Rows]) -> list[Finding]:
    """What a sweep of several training algorithms finds: one metric, query and gap."""
    tables = []
    for name, rows in enumerate(algorithms):
        point = [f"{name} {unit}" for unit in rows.unit]
        base = [f"{name} {each}" for each in rows.base]
        told = {"point": point, "unit": point, "base": base, "cluster": base, "x": rows.x}
        told |= {"y": rows.y, "y_resampled": list(rows.y_resampled.told())}
        tables.append(pd.DataFrame(told | {"embedding": f"algorithm {name}"}))
    joined = pd.concat(tables, ignore_index=True)
    names = {"task": "t", "metric": "weat", "query": "weat7", "measure": "recall"}
    rest = [each for each in SLICE_COLUMNS if each not in ("embedding", "method", *names)]
    method = np.where(joined.groupby("base").cumcount() == 0, "none", "balance")
    joined = joined.assign(**names, method=method, generated=False, unbiased=0.0, group_by="")
    return correlate_slices(joined.assign(**dict.fromkeys(rest, "")))


def test_algorithms_of_a_sweep_share_their_test_items() -> None:
    rng = np.random.default_rng(1)
    said = {}
    for spread in (0.0, 0.5):
        parts = [parts_on_items("algorithms", 1, 6, 12, r, spread, rng)[0] for r in (0.5, -0.5)]
        (pooled, *_) = (each for each in of_algorithms(parts) if each.names["embedding"] == "all")
        said[spread] = pooled.marks.reversal
    assert said[0.0].startswith("by embedding: parts disagree: r from -0.")
    assert said[0.5] == "", "other items might turn it"


def test_the_shifts_of_a_slice_are_those_of_its_resamples() -> None:
    (rows,) = parts_on_items("algorithms", 1, 4, 9, 0, 0.3, np.random.default_rng(3))
    found = described(rows)
    assert found.shifts.shape == (200,)
    spread = math.sqrt(float(found.shifts @ found.shifts))
    assert spread == pytest.approx(found.evidence.items_error, rel=0.2)
    none = rows._replace(y_resampled=Resampled.of(np.zeros((36, 0))))
    assert described(none).shifts.shape == (0,)


def test_the_pooled_mean_of_independent_slices_is_that_of_statsmodels() -> None:
    z, errors = np.arctanh([0.5, 0.1, -0.2, 0.4, 0.6]), np.array([0.2, 0.15, 0.25, 0.1, 0.3])
    found = meta_analysis(z, np.diag(errors**2))
    expected = combine_effects(z, errors**2, method_re="iterated")
    assert found.tau2 == pytest.approx(expected.tau2, abs=1e-6)
    assert found.i2 == pytest.approx(expected.i2, abs=1e-9)
    assert found.q == pytest.approx(expected.q, abs=1e-9)
    assert math.atanh(found.r) == pytest.approx(expected.mean_effect_re, abs=1e-6)
    # t of 4 degrees of freedom; Paule and Mandel's tau2 makes the factor of Hartung and Knapp 1
    reach = 2.7764451051977987 * expected.sd_eff_w_re_hksj
    assert math.atanh(found.high) == pytest.approx(expected.mean_effect_re + reach, abs=1e-5)


def test_slices_that_agree_by_chance_do_not_narrow_the_interval() -> None:
    errors = np.array([0.2, 0.1, 0.3, 0.2])
    found = meta_analysis(np.arctanh([0.3, 0.3001, 0.3, 0.3]), np.diag(errors**2))
    assert (found.r, found.tau2, found.i2) == pytest.approx((0.3, 0, 0), abs=1e-3)
    # The factor is 1: the interval of fixed effects with t of 3 degrees of freedom
    reach = 3.182446305284263 / math.sqrt((errors**-2).sum())
    assert math.atanh(found.high) - math.atanh(found.r) == pytest.approx(reach, abs=1e-6)


def test_an_error_that_all_slices_share_is_that_of_the_mean_whatever_their_number() -> None:
    for m in (4, 8, 100):
        found = meta_analysis(np.full(m, 0.2), 0.04 * np.ones((m, m)) + 0.01 * np.eye(m))
        t = scipy.special.stdtrit(m - 1, 0.975)
        reach = math.atanh(found.high) - math.atanh(found.r)
        assert reach == pytest.approx(t * math.sqrt(0.04 + 0.01 / m))


def test_heterogeneity_beyond_a_shared_error_is_that_of_the_rest() -> None:
    """What all share alike tells no slice from another: tau2 and I2 are those of the rest."""
    z, own = np.arctanh([0.5, 0.1, -0.2, 0.4, 0.6]), np.diag(np.array([4, 2, 6, 1, 9]) / 100)
    alone, found = meta_analysis(z, own), meta_analysis(z, own + 0.05)
    assert (found.tau2, found.i2, found.q) == pytest.approx((alone.tau2, alone.i2, alone.q))
    assert found.r == pytest.approx(alone.r)
    assert found.high - found.low > alone.high - alone.low


@pytest.mark.parametrize("m", [1, 2, 3])
def test_of_fewer_than_four_slices_nothing_is_pooled(m: int) -> None:
    """Two slices of .30 and .31 would give an interval of no width."""
    found = pooled([part(r) for r in (0.3, 0.31, 0.3)[:m]])
    assert math.isnan(found.r)
    assert math.isnan(found.low)
    assert found.reason == f"{m} slice{'s' * (m != 1)} with an error, fewer than 4"
    some = [part(0.3), part(1.0), part(math.nan), part(0.2, error=math.nan), part(0.1, free=7)]
    assert pooled(some).m == 1


@pytest.mark.parametrize("of", ["algorithms", "alike algorithms"])
def test_the_pooled_interval_holds_r_where_slices_share_items(of: Parts) -> None:
    """Four algorithms of 3 bases of 9 embeddings: taken as independent in three of four studies."""
    found = of_parts(of, 4, 3, 9, 0.5, 0.3, 120)
    assert found.coverage >= 0.93 - 3 * math.sqrt(0.07 * 0.93 / 120)
