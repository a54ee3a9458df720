"""Verdicts on scores, by a rule that was written down before the recorded run."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stats.intervals import Estimate
    from studies.certificate.measures import FalseAlarms, MetricProperties

LEAST_SLOPE = 0.2  # Cohen's (1988) small effect; below it a number is not called bias
HALF = 0.5  # of the strength: what a single score must tell from no bias
FALSE_ALARMS = "false alarms"
DETECTS_HALF, DETECTS_PART = "reads the truth", "reads part of it"
DOES_NOT_DETECT, UNKNOWN = "does not", "no reading"
VERDICTS = (DETECTS_HALF, DETECTS_PART, DOES_NOT_DETECT, FALSE_ALARMS, UNKNOWN)


def judge(properties: MetricProperties, random: FalseAlarms) -> tuple[str, str]:
    """Return the verdict on a score and the figure it rests on, by the first rule that applies.

    * *no reading*: the slope is not estimated (no score, or fewer than three seeds);
    * *does not*: the interval of the slope reaches 0, or the slope is below .2;
    * *false alarms*: a bias is claimed in more than 5% of models without one, or of ``random``
      vectors or weights, beyond chance (the lower end of Wilson's interval);
    * *reads the truth*: one score tells half the strength from none, with a power of .8;
    * *reads part of it*: otherwise.
    """
    from analysis.correlation import LEVEL  # here: an audit reads verdicts without that room

    slope, smallest = properties.slope, properties.smallest.value
    if not isfinite(slope.value):
        return UNKNOWN, "no slope is known"
    if slope.low <= 0 or slope.value < LEAST_SLOPE:
        return DOES_NOT_DETECT, f"slope {estimate_text(slope)}"
    alarms_by_models = {
        "models without a bias": properties.alarms,
        "random vectors or weights": random,
    }
    for models, alarms in alarms_by_models.items():
        if alarms.share.low > LEVEL:
            claim = "p < .05" if alarms.criterion == "p" else "its interval claims one"
            return FALSE_ALARMS, f"{claim} in {estimate_text(alarms.share)} of {models}"
    if not isfinite(smallest):
        return DETECTS_PART, "tells no strength from none in one reading"
    verdict = DETECTS_HALF if smallest <= HALF else DETECTS_PART
    return verdict, f"tells {short(smallest)} from none"


def estimate_text(estimate: Estimate) -> str:
    """Format an estimate with its interval: ``.12 [.05, .26]``."""
    return f"{short(estimate.value)} [{short(estimate.low)}, {short(estimate.high)}]"


def short(value: float) -> str:
    """Format with two decimals, without the zero before them."""
    text = f"{value:.2f}".replace("-0.", "-.")
    return text.removeprefix("0") if text.startswith("0.") else text
