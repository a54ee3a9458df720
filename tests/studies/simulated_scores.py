"""Scores of known response to a planted strength, and how often they get each verdict:
python -m tests.studies.simulated_scores 1000
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.studies.certificate_scores import (
    _SETTINGS,
    StrengthScores,
    jackknife,
    measure_properties,
    slope,
)
from biasbridge.studies.certificate_verdicts import (
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    FALSE_ALARMS,
    NOT_GRADED,
    OFF_TARGET,
    OFFSET,
    SIGN_TURNED,
    judge_score,
)

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

STRENGTHS = np.array([-0.8, -0.4, -0.2, 0.0, 0.2, 0.4, 0.8])
SLOPES = (3.0, 10.0, 20.0, 57.0)


class Response(NamedTuple):
    """Mean score by strength, in standard deviations of models of one strength; ``off_target``:
    change by a stereotype of other words; ``alarm_rate``: of p < .05 in models without a bias.
    """

    mean: Callable[[Floats], Floats]
    off_target: float = 0.0
    alarm_rate: float = 0.05


def falling(strengths: Floats) -> Floats:
    """Rise up to .4, then fall to half."""
    sizes = np.abs(strengths)
    rise = 20 * np.minimum(sizes, 0.4) - 10 * np.maximum(sizes - 0.4, 0)
    return np.asarray(np.sign(strengths) * rise)


RESPONSES = {
    "linear": (Response(lambda s: 12 * s), DETECTS_HALF),
    "saturating, but rising": (Response(lambda s: 8 * np.tanh(2.5 * s)), DETECTS_HALF),
    "of strong bias": (Response(lambda s: 6 * s), DETECTS_PART),
    "constant": (Response(lambda s: 0 * s), DOES_NOT_DETECT),
    "mean norm": (Response(lambda s: 8 * np.abs(s)), DOES_NOT_DETECT),
    "turned": (Response(lambda s: -10 * s), SIGN_TURNED),
    "saturating at .1": (Response(lambda s: 8 * np.clip(s / 0.1, -1, 1)), NOT_GRADED),
    "on-off": (Response(lambda s: 8 * np.sign(s)), NOT_GRADED),
    "falling after .4": (Response(falling), NOT_GRADED),
    "offset": (Response(lambda s: 12 * s + 4), OFFSET),
    "offset below 0": (Response(lambda s: 12 * s - 4), OFFSET),
    "of other words": (Response(lambda s: 12 * s, off_target=4), OFF_TARGET),
    "alarming": (Response(lambda s: 12 * s, alarm_rate=0.3), FALSE_ALARMS),
}


def scores_of(
    response: Response, *, seeds: int = 20, seed: int = 0, strengths: Floats = STRENGTHS
) -> StrengthScores:
    """Draw scores of so many seeds with standard normal noise."""
    rng = np.random.default_rng(seed)
    values = response.mean(strengths) + rng.normal(size=(seeds, len(strengths)))
    at_zero = response.mean(np.zeros(seeds)) + response.off_target
    return StrengthScores(
        dict.fromkeys(("metric", "convention", "subject", "query"), "synthetic"),
        dict.fromkeys(_SETTINGS, ""),
        strengths,
        np.arange(float(seeds)),
        values,
        np.where(rng.random(values.shape) < response.alarm_rate, 0.01, 0.5),
        np.full_like(values, nan),
        0.0,
        at_zero + rng.normal(size=seeds),
    )


def verdicts(
    response: Response,
    studies: int,
    *,
    seeds: int = 20,
    n_random: int = 40,
    random_alarm_rate: float | None = None,
) -> Counter[str]:
    """Count the verdicts of so many studies, beside random models, by default with its alarms."""
    rate = response.alarm_rate if random_alarm_rate is None else random_alarm_rate
    random = Response(np.zeros_like, alarm_rate=rate)
    return Counter(
        judge_score(
            measure_properties(
                scores_of(response, seeds=seeds, seed=seed),
                scores_of(random, seeds=n_random, seed=seed + studies, strengths=np.zeros(1)),
                100,
            )
        )[0]
        for seed in range(studies)
    )


def slope_coverage(d: float, studies: int, seeds: int = 20) -> float:
    """Return how often the interval of the slope holds it."""
    statistic = partial(slope, strengths=STRENGTHS)
    linear = Response(lambda s: d * s)
    intervals = [
        jackknife(statistic, scores_of(linear, seeds=seeds, seed=seed).scores)
        for seed in range(studies)
    ]
    return sum(interval.low < d < interval.high for interval in intervals) / studies


def main() -> None:
    """Print coverage and verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=int)
    studies = parser.parse_args().studies
    for seeds in (8, 20):
        for d in SLOPES:
            print(f"slope {d:g}, {seeds} seeds: coverage {slope_coverage(d, studies, seeds):.3f}")
    for name, (response, verdict) in RESPONSES.items():
        counts = verdicts(response, studies)
        shares = ", ".join(f"{verdict} {n / studies:.3f}" for verdict, n in counts.most_common())
        print(f"{name} (right: {verdict}): {shares}")


if __name__ == "__main__":
    main()
