"""Independent slices taken together, against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from analysis.pooling import meta_analysis


def test_the_pooled_mean_is_that_of_statsmodels() -> None:
    r, errors = np.array([0.5, 0.1, -0.2, 0.4, 0.6]), np.array([0.2, 0.15, 0.25, 0.1, 0.3])
    found = meta_analysis(r, errors)
    expected = combine_effects(np.arctanh(r), errors**2, method_re="iterated")
    assert found.tau2 == pytest.approx(expected.tau2, abs=1e-6)
    assert found.i2 == pytest.approx(expected.i2, abs=1e-9)
    assert found.q == pytest.approx(expected.q, abs=1e-9)
    assert math.atanh(found.r) == pytest.approx(expected.mean_effect_re, abs=1e-6)
    # t of 4 degrees of freedom; Paule and Mandel's tau2 makes the factor of Hartung and Knapp 1
    reach = 2.7764451051977987 * expected.sd_eff_w_re_hksj
    assert math.atanh(found.high) == pytest.approx(expected.mean_effect_re + reach, abs=1e-5)


def test_slices_that_agree_by_chance_do_not_narrow_the_interval() -> None:
    errors = np.array([0.2, 0.1, 0.3, 0.2])
    found = meta_analysis([0.3, 0.3001, 0.3, 0.3], errors)
    assert (found.r, found.tau2, found.i2) == pytest.approx((0.3, 0, 0), abs=1e-3)
    # The factor is 1: the interval of fixed effects with t of 3 degrees of freedom
    reach = 3.182446305284263 / math.sqrt((errors**-2).sum())
    assert math.atanh(found.high) - math.atanh(found.r) == pytest.approx(reach, abs=1e-6)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_of_fewer_than_four_slices_nothing_is_pooled(m: int) -> None:
    """Two slices of .30 and .31 would give an interval of no width."""
    found = meta_analysis([0.3, 0.31, 0.3][:m], [0.2, 0.1, 0.3][:m])
    assert math.isnan(found.r)
    assert math.isnan(found.low)
    assert found.reason == f"{m} slice{'s' * (m != 1)} with an error, fewer than 4"
    assert meta_analysis([0.3, 1.0, math.nan, 0.2, 0.1], [0.2, 0.1, 0.3, 0.0, 0.2]).m == 2
