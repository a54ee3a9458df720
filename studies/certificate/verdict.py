"""What is said of a score, by a rule that was written down before the recorded run."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.correlation import Estimate
    from studies.certificate.measures import Alarms, Measured

LEAST_SLOPE = 0.2  # Cohen's (1988) small effect; below it a number is not called bias
HALF = 0.5  # of the strength: a score that reads the truth tells it from none in one reading
ALARMS = "false alarms"
READS, PART, NOT, UNKNOWN = "reads the truth", "reads part of it", "does not", "no reading"
VERDICTS = (READS, PART, NOT, ALARMS, UNKNOWN)


def judge(found: Measured, random: Alarms) -> tuple[str, str]:
    """The verdict on a score, and its figure:

    * *no reading*: no slope is known (no score, or fewer than three seeds);
    * *does not*: the interval of the slope reaches 0, or the slope is below .2;
    * *false alarms*: a bias is claimed of more than 5% of models without one, or of models with
      ``random`` weights, beyond chance (the lower end of Wilson's interval);
    * *reads the truth*: one reading tells half the strength from none, with a power of .8;
    * *reads part of it*: otherwise.
    """
    from analysis.correlation import LEVEL  # here: an audit reads verdicts without that room

    slope, smallest = found.slope, found.smallest.value
    if not isfinite(slope.value):
        return UNKNOWN, "no slope is known"
    if slope.low <= 0 or slope.value < LEAST_SLOPE:
        return NOT, f"slope {shown(slope)}"
    of = {"models without a bias": found.alarms, "random vectors or weights": random}
    for what, alarms in of.items():
        if alarms.share.low > LEVEL:
            claimed = "p < .05" if alarms.by == "p" else "its interval claims one"
            return ALARMS, f"{claimed} in {shown(alarms.share)} of {what}"
    if not isfinite(smallest):
        return PART, "tells no strength from none in one reading"
    return READS if smallest <= HALF else PART, f"tells {short(smallest)} from none"


def shown(one: Estimate) -> str:
    """``.12 [.05, .26]``."""
    return f"{short(one.value)} [{short(one.low)}, {short(one.high)}]"


def short(value: float) -> str:
    """Two decimals, without the zero before them."""
    text = f"{value:.2f}".replace("-0.", "-.")
    return text.removeprefix("0") if text.startswith("0.") else text
