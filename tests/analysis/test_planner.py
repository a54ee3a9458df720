"""The planner: what it says of power, against studies simulated with errors and resamples."""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np
import pytest

from analysis.coefficients import Coefficients
from analysis.evidence import Evidence, evidence
from analysis.findings import Finding
from analysis.planner import Design, Planner, Power, excludes, needed, pilot_of, sees
from analysis.verdict import NEGLIGIBLE, Judgement
from files import InputError
from tests.analysis.designs import FAMILY, corrections, measured, on_items, power, verdicts

stress = pytest.mark.stress
WITHIN = 0.05


def error(share: float, count: int) -> float:
    """Three standard errors of a share of so many studies."""
    return 3 * sqrt(share * (1 - share) / count)


def compare(bases: int, units: int, r: float, noise: float, count: int) -> None:
    """Stated power is within 5 points of that of studies whose scores and gaps are measured with
    errors, half of them shared, and whose reliability is estimated from resamples.
    """
    reliability = 1 / (1 + noise)
    design = Design(units, reliability, reliability, 1, r)
    stated = excludes(design, bases * units, 1_000)
    found = corrections(bases, units, 0, (noise, noise), count).negligible
    assert stated == pytest.approx(found, abs=WITHIN + error(stated, count))


@pytest.mark.parametrize(("bases", "units", "noise"), [(10, 9, 0.0), (10, 20, 0.5)])
def test_the_power_to_exclude_is_that_of_simulated_studies(
    bases: int, units: int, noise: float
) -> None:
    compare(bases, units, 0.3, noise, 120)


@stress
@pytest.mark.parametrize(("bases", "units"), [(4, 20), (10, 9), (10, 20), (20, 15)])
@pytest.mark.parametrize("noise", [0.0, 0.2, 0.5])
def test_the_power_to_exclude_is_that_of_simulated_studies_at_full_size(
    bases: int, units: int, noise: float
) -> None:
    compare(bases, units, 0.3, noise, 500)


@pytest.mark.parametrize(("bases", "units", "r"), [(2, 11, 0.8), (5, 15, 0.5), (4, 9, 0.5)])
def test_the_power_to_see_is_that_of_simulated_studies(bases: int, units: int, r: float) -> None:
    """Doses on a ladder, queries that share gaps, one association among six slices."""
    stated = sees(Design(units, 1, 1, FAMILY, r), bases * units, 1_000)
    found = power(bases, units, r, 200, alone=True)
    assert stated == pytest.approx(found, abs=WITHIN + error(stated, 200))


@pytest.mark.parametrize(("bases", "units", "spread"), [(6, 9, 0.15), (10, 20, 0.15)])
def test_the_power_to_see_knows_what_embeddings_share(
    bases: int, units: int, spread: float
) -> None:
    """Items that shift r for all embeddings; with four times as many half as far."""
    r, count = 0.4, 200
    gaps = 1 / (1 - r * r)
    reliability = gaps / (gaps + spread**2)
    shared = spread / sqrt(1 + spread**2)
    design = Design(units, 1, reliability, 1, r, items_error=shared)
    stated = sees(design, bases * units, 1_000)
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(count):
        study = evidence(on_items(bases, units, 200, r, spread, rng)[0], resamples=599)
        found += study.within_low > 0 and study.within_p < 0.05
    assert stated == pytest.approx(found / count, abs=WITHIN + error(stated, count))
    # Four times the items leave of 1 - reliability a quarter, and gaps vary the less
    whole = reliability + (1 - reliability) / 4
    assert design.with_items(4).shared == pytest.approx(shared / 2 / sqrt(whole))
    assert sees(design.with_items(4), bases * units, 300) >= stated


def test_more_items_are_foreseen_as_studies_on_more_items_find_them() -> None:
    """Gaps of which half is noise of items: with four times as many they vary less, so that what is
    left of the shared slope is more of that.
    """
    rng, found = np.random.default_rng(1), []
    for times in (1, 4):
        scale = 1 / sqrt(times)
        studies = [
            evidence(
                on_items(10, 20, 200 * times, 0.4, 0.2 * scale, rng, 1.2 * scale)[0], resamples=9
            )
            for _ in range(25)
        ]
        found.append(np.mean([(e.reliability_y, e.items_error) for e in studies], axis=0))
    (reliability, shared), (more, less) = (map(float, each) for each in found)
    foreseen = Design(20, 1, reliability, items_error=shared).with_items(4)
    assert foreseen.reliability_y == pytest.approx(more, abs=0.05)
    assert foreseen.items_error == pytest.approx(less, rel=0.08)
    assert less > 1.15 * shared / 2


OTHER: list[Literal["normal", "growing noise"]] = ["normal", "growing noise"]


@pytest.mark.parametrize("kind", OTHER)
@pytest.mark.parametrize(("bases", "units", "r"), [(4, 9, 0.58), (5, 15, 0.5)])
def test_the_power_to_see_is_told_for_other_scores_and_noise(
    kind: Literal["normal", "growing noise"], bases: int, units: int, r: float
) -> None:
    """By the verdict's own p: by the t of r it was 12 points more of 36 with normal scores."""
    stated = sees(Design(units, 1, 1, FAMILY, r), bases * units, 1_000, kind=kind)
    found = power(bases, units, r, 200, alone=True, kind=kind)
    assert stated == pytest.approx(found, abs=WITHIN + error(stated, 200))


def test_more_embeddings_do_not_make_up_for_items() -> None:
    assert needed(Design(9, items_error=0.2), 0.8, sees, 50) is None
    assert needed(Design(9, words_error=0.2), 0.8, excludes, 50) is None
    assert needed(Design(9, items_error=0.02), 0.8, sees, 50) is not None


@pytest.mark.parametrize("of", [sees, excludes])
@pytest.mark.parametrize("shared", [0.0, 0.06])
def test_so_many_embeddings_have_the_power_asked_for(of: Power, shared: float) -> None:
    design = Design(9, 0.8, 0.7, 2, items_error=shared)
    found = needed(design, 0.8, of, 200)
    assert found
    assert found % 9 == 0
    assert of(design, found, 800, 5) == pytest.approx(0.8, abs=WITHIN)


def test_more_items_take_fewer_embeddings() -> None:
    design = Design(9, 0.8, 0.4, 2)
    assert design.with_items(1).reliability_y == pytest.approx(0.4)
    assert design.with_items(2).reliability_y == pytest.approx(2 * 0.4 / (1 + 0.4))
    # .4 true, .2 of trainings, .4 of items, of which a quarter is left
    more = design._replace(training_share=0.2).with_items(4)
    assert (more.reliability_y, more.training_share) == pytest.approx((0.4 / 0.7, 0.2 / 0.7))
    few, many = (needed(design.with_items(times), 0.8, sees, 100) for times in (1, 8))
    assert few
    assert many
    assert many < few
    assert needed(design, 0.8, excludes, 100) is None, "six tenths are noise"
    assert excludes(design, 900, 100) == 0
    assert needed(design.with_items(2), 0.8, excludes, 100)


def test_a_smaller_correlation_of_interest_takes_more() -> None:
    wide, narrow = (needed(Design(9, sesoi=r), 0.8, excludes, 400) for r in (0.3, 0.2))
    assert wide
    assert narrow
    assert narrow > 1.8 * wide


def test_what_no_number_of_embeddings_sees() -> None:
    assert needed(Design(9, 0.9, 0.9, 6, 0.01), 0.8, sees, 50) is None


def test_embeddings_that_are_not_modified_are_one_base() -> None:
    found = needed(Design(1), 0.8, sees, 200)
    assert found
    assert 75 <= found <= 120, "some 85 by the normal limit of z, more by the interval"
    assert Design(1).bases(found) == 1


def test_a_pilot_is_the_middle_of_the_confirmatory_slices() -> None:
    def finding(role: str, x: float, y: float) -> Finding:
        behind = Evidence(30, reliability_x=x, reliability_y=y, training_share=0.1, items_error=0.2)
        return Finding({}, Coefficients(30, 0), behind, Judgement(role))

    found = [finding("confirmatory", 0.8, 0.5), finding("confirmatory", 0.9, float("nan"))]
    pilot = pilot_of([*found, finding("exploratory", 0.1, 0.1)], [100, 300, float("nan")])
    assert pilot == pytest.approx((0.85, 0.5, 200, 30, 2, 0.1, float("nan"), 0.2), nan_ok=True)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"power=1\.5"):
        Planner(power=1.5)


@pytest.mark.parametrize("smallest", [0.3, pytest.param(0.2, marks=stress)])
def test_negligible_is_rarely_said_of_the_smallest_correlation_of_interest(sesoi: float) -> None:
    """In at most 5% of studies whose r is just that, with enough embeddings to say it of r = 0."""
    bases = 25 if smallest < 0.3 else 11
    said = 0
    for study in range(100):
        found = evidence(measured(bases, 20, sesoi, (0.2, 0.2), study), resamples=199)
        said += verdicts([found], sesoi)[0] == NEGLIGIBLE
    assert said / 100 <= 0.05 + error(0.05, 100)
    assert excludes(Design(20, 1 / 1.2, 1 / 1.2, 1, sesoi), bases * 20, 200) > 0.8
