"""Verdicts on scores, by a rule that is written down before a study is run, and those recorded.

"The rule" in docs/studies/certificate.md: the first that applies, from *not estimated* on. sd:
standard deviation of models of one strength.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from math import isfinite, isinf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.files.tables import unescape_formula
from biasbridge.stats.formatting import format_number
from biasbridge.studies import SYNTHETIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasbridge.stats.intervals import Estimate
    from biasbridge.studies.certificate_scores import DoseStep, FalseAlarms, MetricProperties

_HALF = 0.5  # of the strength: what a single score should tell from no bias
_MAX_OFFSET = 1.0  # sd: one model in six would be read as biased at 1.96 sd
ALARM_RATE, _FALSE_ALARM_P = 0.05, 0.05  # of a test that is right
# By .10 and p < .05 a right test would pass in .19 of studies of 60 models without a bias
_MAX_ALARM_RATE, _EXCLUDING_P = 0.15, 0.1
_MIN_RISE = 0.2  # of a straight line's, from half of the largest strength to the whole
NOT_ESTIMATED, DOES_NOT_DETECT = "not estimated", "does not detect"
SIGN_TURNED, FALSE_ALARMS = "sign turned", "false alarms"
OFFSET, OFF_TARGET, NOT_GRADED = "offset", "off target", "not graded"
CANNOT_TELL = "cannot tell"
DETECTS_HALF, DETECTS_PART = "detects half of the bias", "detects strong bias only"
SCORE_VERDICTS = (
    *(DETECTS_HALF, DETECTS_PART, SIGN_TURNED, NOT_GRADED, FALSE_ALARMS, OFFSET, OFF_TARGET),
    *(DOES_NOT_DETECT, CANNOT_TELL, NOT_ESTIMATED),
)
_SENTENCES = {
    DETECTS_HALF: "it detects half of a planted bias",
    DETECTS_PART: "it detects a planted bias only if it is strong",
    SIGN_TURNED: "it shows a planted bias with the opposite sign",
    NOT_GRADED: "it follows a planted bias, but hardly tells a half of it from the whole",
    FALSE_ALARMS: "it claims a bias where none was planted",
    OFFSET: "it differs from its unbiased value where no bias was planted",
    OFF_TARGET: "it moves with a stereotype of other words",
    DOES_NOT_DETECT: "it does not detect a planted bias, so do not call this bias",
    CANNOT_TELL: "it is unclear whether it detects a planted bias",
}
_RECORDED_CSV = Path(__file__).with_name("recorded_verdicts.csv")
# Models that were measured: kind and architecture, of a published model with its size
_MODELS = {
    "word2vec": ("vectors", "word2vec"),
    "tiny_bert": ("masked", "bert"),
    "tiny_gpt2": ("causal", "gpt2"),
    "smollm2-135m": ("causal", "llama, 30 layers of 576"),
}
_LIKENESSES = ("same architecture and size", "same architecture", "same kind")
# Options that say which words are found, not how a score is made of them
_LOOKUP = ("case=", "min_found=")


class _ScoreClaim(NamedTuple):
    """Verdict on a score, the ``figure`` it rests on, and the fault that this does not exclude."""

    verdict: str
    figure: str
    open_fault: str = ""

    @property
    def why(self) -> str:
        """Return the figure, after the fault."""
        return f"{self.open_fault} not excluded: {self.figure}" if self.open_fault else self.figure


def judge_score(properties: MetricProperties, *, change_alone: bool = False) -> _ScoreClaim:
    """Return the claim on a score, or on its change alone."""
    slope, smallest = properties.slope, properties.smallest
    slope_text = f"slope {_estimate_text(slope)}"
    strength_text = f"detects a strength of {_estimate_text(smallest)}"
    if not isfinite(slope.value):
        return _ScoreClaim(NOT_ESTIMATED, "slope not estimated")
    is_detected = isfinite(smallest.value)
    if not is_detected and properties.is_undetectable:
        return _ScoreClaim(DOES_NOT_DETECT, slope_text)
    if is_detected and slope.high < 0:
        return _ScoreClaim(SIGN_TURNED, strength_text)
    if fault := _fault(properties, change_alone):
        return fault
    if slope.low <= 0:
        return _ScoreClaim(CANNOT_TELL, slope_text)
    for step in properties.steps:
        linear = slope.value * (step.end - step.start)
        if step.change.high < (_MIN_RISE * linear if step.is_outer else 0):
            return _ScoreClaim(NOT_GRADED, _step_text(step))
    if not isfinite(smallest.high):
        figure = strength_text if is_detected else f"detects no strength; {slope_text}"
        return _ScoreClaim(CANNOT_TELL, figure)
    for step in properties.steps:
        if step.is_outer and step.change.low <= 0:
            return _ScoreClaim(CANNOT_TELL, _step_text(step))
    for open_fault, figure in _open_faults(properties, change_alone):
        return _ScoreClaim(CANNOT_TELL, figure, open_fault)
    return _ScoreClaim(DETECTS_HALF if smallest.high <= _HALF else DETECTS_PART, strength_text)


def _fault(properties: MetricProperties, change_alone: bool) -> _ScoreClaim | None:
    """Return the first fault that is shown."""
    alarms = properties.all_alarms
    if not change_alone and alarms.p_above(ALARM_RATE) < _FALSE_ALARM_P:
        return _ScoreClaim(FALSE_ALARMS, f"of {_alarms_text(alarms)}")
    for name, estimate in _shifts(properties, change_alone):
        if estimate.low > _MAX_OFFSET or estimate.high < -_MAX_OFFSET:
            return _ScoreClaim(name, f"by {_estimate_text(estimate)} sd")
    return None


def _open_faults(properties: MetricProperties, change_alone: bool) -> Iterator[tuple[str, str]]:
    """Yield the faults that are not excluded, each with its figure."""
    alarms = properties.all_alarms
    is_claiming = not change_alone and alarms.n_models > 0
    if is_claiming and alarms.p_below(_MAX_ALARM_RATE) >= _EXCLUDING_P:
        yield FALSE_ALARMS, _alarms_text(alarms)
    for name, estimate in _shifts(properties, change_alone):
        if not isfinite(estimate.value):
            yield name, "not measured"
        elif max(estimate.high, -estimate.low) >= _MAX_OFFSET:
            yield name, f"{_estimate_text(estimate)} sd"


def _shifts(properties: MetricProperties, change_alone: bool) -> list[tuple[str, Estimate]]:
    """List the shifts of the score that are faults."""
    shifts = [(OFFSET, properties.offset), (OFF_TARGET, properties.off_target)]
    return shifts[change_alone:]


def _alarms_text(alarms: FalseAlarms) -> str:
    return f"{alarms.n_claims} of {alarms.n_models} models without a bias"


def _step_text(step: DoseStep) -> str:
    change = f"{_estimate_text(step.change)} sd"
    return f"changes by {change} from {short(step.start)} to {short(step.end)}"


def _estimate_text(estimate: Estimate) -> str:
    """Format an estimate with its interval: ``.12 [.05, .26]``."""
    return f"{short(estimate.value)} [{short(estimate.low)}, {short(estimate.high)}]"


def short(value: float) -> str:
    """Format with two decimals; ``none`` for no finite strength."""
    return "none" if isinf(value) else format_number(value)


class RecordedVerdict(NamedTuple):
    """Verdict on a score, its figure, and the model that was measured; empty if nothing is known.

    likeness: what this model shares with that of the score.
    """

    verdict: str = ""
    why: str = ""
    model: str = ""
    likeness: str = ""

    @property
    def line(self) -> str:
        """Return the verdict, its figure and the model."""
        figure = ": ".join(filter(None, self[:2]))
        return f"{figure} ({self.model})" if self.model else figure

    @property
    def sentence(self) -> str:
        """Return the verdict as a sentence about the metric."""
        return _SENTENCES.get(self.verdict, self.verdict)

    @property
    def may_be_called_bias(self) -> bool:
        """Whether the number may be called a bias: not where it does not detect a planted one."""
        return self.verdict != DOES_NOT_DETECT


@cache
def _recorded() -> Mapping[tuple[str, str, str], RecordedVerdict]:
    """Read verdicts on models trained on synthetic text and on published ones, by score."""
    with _RECORDED_CSV.open(encoding="utf-8", newline="") as text:
        return {
            (row["metric"], row["convention"], row["subject"]): RecordedVerdict(
                row["verdict"], str(unescape_formula(row["why"]))
            )
            for row in csv.DictReader(text)
            if row["verdict"] != NOT_ESTIMATED
            if row["material"] == SYNTHETIC or row["subject"].startswith(row["material"])
        }


def recorded_verdict(
    metric: str, convention: str, kind: str, language: str, architecture: str = ""
) -> RecordedVerdict:
    """Return what is known of scores of the nearest model that was measured.

    kind: ``vectors``, ``masked`` or ``causal``. architecture: as ``llama, 30 layers of 576``.
    """
    options = convention.split(",")
    name = ",".join(option for option in options if not option.startswith(_LOOKUP))
    near = sorted(
        (_distance(measured, architecture), number, model)
        for number, (model, (measured_kind, measured)) in enumerate(_MODELS.items())
        if measured_kind == kind
    )
    for distance, _, model in near:
        if verdict := _recorded().get((metric, name, f"{model} {language}")):
            return verdict._replace(model=model, likeness=_LIKENESSES[distance])
    return RecordedVerdict()


def _distance(measured: str, architecture: str) -> int:
    """Return the place in ``_LIKENESSES`` of what two architectures share."""
    is_of_family = measured.partition(",")[0] == architecture.partition(",")[0]
    return 0 if measured == architecture else 2 - is_of_family


def not_called_bias(verdict_by_name: Mapping[str, RecordedVerdict]) -> str:
    """Name the scores that may not be called bias, with the reason; empty if there are none."""
    names = [
        f"{name} ({verdict.why})"
        for name, verdict in verdict_by_name.items()
        if not verdict.may_be_called_bias
    ]
    if not names:
        return ""
    return f"Not called bias, because the metric detects no planted bias: {', '.join(names)}"
