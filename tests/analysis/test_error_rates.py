"""How often the inference is right in studies as sweeps make them; see ``designs``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.verdict import SUPPORTS
from tests.analysis.designs import KINDS, SIZES, Kind, found_within, power, rates, studies, verdicts

SMALL = [("normal", 2, 9), ("doses that saturate", 6, 4), ("growing noise", 5, 12)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "bases", "units"), SMALL)
def test_no_association_is_seldom_claimed(kind: Kind, bases: int, units: int) -> None:
    found = rates(kind, bases, units, 0, 200)
    error = 2 * math.sqrt(0.05 * 0.95 / 200)
    assert found.p <= 0.07 + error
    assert found.supported + found.contradicted <= 0.07 + error
    assert found.family <= 0.05 + error
    assert found.coverage >= 0.93 - error


def test_bases_ignored_would_claim_it_often() -> None:
    """What was done before: p over all units, as if two bases were eighteen."""
    assert rates("normal", 2, 9, 0, 60).ignored > 0.2


@pytest.mark.slow
def test_a_strong_association_is_supported_by_22_units() -> None:
    assert power(2, 11, 0.8, 60, alone=False) >= 0.8 - 2 * math.sqrt(0.16 / 60)


def test_more_data_never_makes_support_impossible() -> None:
    of = studies("normal", 10, 35, 0.8, 1)
    (x, y), *_ = of.pairs(0)
    found = [found_within(x, y, of.base)._replace(within_p=1e-4)] * 144
    assert set(verdicts(found)) == {SUPPORTS}


@pytest.mark.stress
@pytest.mark.parametrize(("bases", "units"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_error_rates_in_every_design(kind: Kind, bases: int, units: int) -> None:
    found = rates(kind, bases, units, 0, 2000)
    assert np.isfinite(found.coverage)
    assert found.supported + found.contradicted <= 0.07 + 0.01
    assert found.family <= 0.05 + 0.01
