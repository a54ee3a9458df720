"""The planner: what it says of power, against studies simulated with errors and resamples."""

from __future__ import annotations

from math import isnan, sqrt
from typing import NamedTuple, get_args

import numpy as np
import pytest

from biasbridge.analysis.correlation import Correlation, Sampling
from biasbridge.analysis.observations import NoiseShares, Observations, observations
from biasbridge.analysis.power import Planner, PowerDesign, Scenario, estimate_pilot, power
from biasbridge.analysis.scopes import RUNS
from biasbridge.analysis.slices import SliceResult
from biasbridge.files import InputError
from tests.analysis.conftest import make_rows
from tests.analysis.designs import on_items

stress = pytest.mark.stress
SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)
STUDIES = 300
PERMUTATIONS = 599


def error(*shares: float, count: int = STUDIES) -> float:
    """Three standard errors of the difference of shares of so many studies each."""
    return 3 * sqrt(sum(max(share * (1 - share), 0.02) for share in shares) / count)


class Noise(NamedTuple):
    """Variance of errors of measurement of scores and gaps, that of their true values being 1."""

    x: float = 0.0
    y: float = 0.0


def simulated(
    parents: int, conditions: int, r: float, scenario: Scenario, noise: Noise, count: int
) -> list[Observations]:
    """Studies whose true scores and gaps follow one another by r within parents, and are then
    measured with errors.
    """
    rng = np.random.default_rng(77)
    parent = np.repeat(np.arange(parents), conditions)
    actual = []
    for _ in range(count):
        x = rng.normal(size=len(parent))
        if scenario != "normal":
            rungs = np.tile(np.arange(conditions), parents)
            x = (rungs - rungs.mean()) / rungs.std() / sqrt(1.16) + 0.4 / sqrt(1.16) * x
        e = rng.normal(size=len(parent))
        if scenario == "growing noise":
            e = e * (0.3 + np.abs(x) ** 1.5)
            e = e / e.std()
        y = r * x + sqrt(1 - r * r) * e
        x = x + sqrt(noise.x) * rng.normal(size=len(parent)) + rng.normal(0, 2, parents)[parent]
        y = y + sqrt(noise.y) * rng.normal(size=len(parent)) + rng.normal(0, 2, parents)[parent]
        actual.append(observations(make_rows(x, y, parent=parent)))
    return actual


def seen(found: list[Observations], tests: int = 1) -> float:
    """How often models show a relation, adjusted, as a verdict asks."""
    models = [item.within_models(PERMUTATIONS) for item in found]
    return float(np.mean([item.r > 0 and item.p <= 0.05 / tests + 1e-9 for item in models]))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_power_is_that_of_simulated_studies(scenario: Scenario) -> None:
    design = PowerDesign(5, 9, tests=3, sesoi=0.5)
    stated = power(design, STUDIES, scenario)
    actual = seen(simulated(5, 9, 0.5, scenario, Noise(), STUDIES), tests=3)
    assert 0.1 < stated.detected < 0.95
    assert stated.detected == pytest.approx(actual, abs=error(stated.detected, actual))


def test_noise_of_measurement_is_foreseen() -> None:
    """Reliabilities of .8 and .7: errors of so much of the true variance that shares are those."""
    noise = Noise(0.25, 3 / 7)
    stated = power(PowerDesign(6, 12, 1, 0.4, 0.8, 0.7), STUDIES, "normal")
    actual = seen(simulated(6, 12, 0.4, "normal", noise, STUDIES))
    assert stated.detected == pytest.approx(actual, abs=error(stated.detected, actual))


def test_what_models_share_is_foreseen() -> None:
    """Items that shift r for all models; the error of z they make is the standard deviation of
    their mean slope over that of the gaps.
    """
    r, spread, sizes = 0.5, 0.25, (9,) * 6
    gaps = r * r / (1 - r * r) + 1 + spread**2
    design = PowerDesign(6, 9, 1, r, 1.0, 1 - spread**2 / gaps, items_error=spread / sqrt(gaps))
    stated, rng = power(design, STUDIES, "normal").detected, np.random.default_rng(0)
    studies = (on_items(sizes, r, spread, rng) for _ in range(STUDIES))
    ignored = power(design._replace(items_error=0.0), STUDIES, "normal").detected
    actual = seen([item.of for item in studies])
    assert stated == pytest.approx(actual, abs=error(stated, actual))
    assert ignored > stated


def test_below_eight_degrees_of_freedom_nothing_is_seen() -> None:
    nothing = power(PowerDesign(2, 5, sesoi=0.99), 5)
    assert nothing.detected == 0, "10 models - 2 parents - 1 are 7"
    assert isnan(nothing.detected_over_conditions)
    assert power(PowerDesign(3, 4, sesoi=0.99), 5).detected == 1


def test_a_pilot_is_the_middle_of_the_confirmatory_slices() -> None:
    def finding(confirmatory: bool, x: float, y: float, n: int = 30) -> SliceResult:
        within = Correlation(r=0.6, sampling=Sampling(items=0.2))
        actual = SliceResult(
            {}, {RUNS: within}, n=n, noise_x=NoiseShares(1 - x, 0), noise_y=NoiseShares(0, 1 - y)
        )
        return actual._replace(confirmatory=confirmatory)

    nan = float("nan")
    actual = [finding(True, 0.8, 0.5), finding(True, 0.9, nan), finding(False, 0.1, 0.1, 99)]
    pilot = estimate_pilot(actual, [100, 300, nan])
    assert pilot == pytest.approx((0.85, 0.5, nan, 0.2, 200, 30, 2), nan_ok=True)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"sesoi=1\.5"):
        Planner(sesoi=1.5)
    with pytest.raises(InputError, match=r"reliability_y=0"):
        Planner(reliability_y=0)
