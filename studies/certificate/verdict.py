"""Verdicts on scores, by a rule that is written down before a study is run.

Models are trained on corpora with a planted stereotype of strength s in [-1, 1]; below 0 it is
reversed. A score is turned so that by its documented sign it rises with s. sd: of models of one
strength. All intervals are over seeds. The first that applies:

1. *not estimated*: fewer than three seeds, or scores that do not vary within a strength;
2. *does not detect*: no planted strength is told from none in 80% of single models, and the 95%
   interval of the slope lies within -+ 2.8 sd a unit of strength. 2.8 = z(.975) + z(.8): what one
   score needs to tell full strength from none so often;
3. *sign turned*: the slope's interval is below 0 and the turned score detects a strength;
4. *false alarms*: among models without a bias and random ones together, p < .05, or where there is
   no p a 95% interval without the unbiased value, is more frequent than .05: exact binomial test,
   one-sided, p < .05;
5. *offset*: the mean score of models without a bias is more than 1 sd off the unbiased value: its
   95% interval, in sd, lies beyond. One model in six would be read as biased at 1.96 sd;
6. *off target*: the same of the change of the score by a stereotype of other words;
7. *not graded*: the mean over models falls from none to half of the largest strength or from half
   to the whole (90% intervals, on either side of 0), or its rise from half to the whole is shown to
   be less than half of what a straight line gives: the score says that there is a bias, not how
   much;
8. *cannot tell*: the slope's interval holds 0, the rise from half to the whole is not shown, or
   that any strength is detected is not sure;
9. *detects half of the bias*: the smallest strength that is told from none in 80% of single models,
   below 0 as well as above it, is at most .5 with its interval;
10. *detects strong bias only*: otherwise.

What was not planted or measured (strengths below 0, other words, random models, p) is not tested.
"""

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
