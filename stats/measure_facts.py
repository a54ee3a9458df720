"""What each measure of a classifier is called, what it means, which way is worse, what it counts.

``MEASURES`` in ``extrinsic/measures.py`` computes them; a measure that is added there is described
here, and nowhere else.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class _MeasureFacts(NamedTuple):
    """Description of a measure: ``heading`` of a narrow table, ``title`` in sentences, ``meaning``.

    ``less_is_better``: an error. ``moved_by_base_rates``: groups with unequal base rates differ in
    it even if the classifier errs alike in both. ``has_worse_side``: false where it depends on the
    use which way is worse. ``error``: the error that it or 1 minus it counts. Measures of what is
    "missed" or wrongly "flagged" decide on a release; "wrong" items are of both kinds.
    """

    heading: str
    title: str
    meaning: str
    less_is_better: bool = False
    moved_by_base_rates: bool = False
    has_worse_side: bool = True
    error: Literal["missed", "flagged", "wrong", ""] = ""


MEASURE_FACTS = {
    "base_rate": _MeasureFacts(
        "base rate",
        "base rate",
        "proportion of all items that have label 1; a fact about the data, not the classifier",
    ),
    "precision": _MeasureFacts(
        "precision",
        "precision",
        "proportion of the items called 1 that have label 1",
        moved_by_base_rates=True,
    ),
    "recall": _MeasureFacts(
        "recall",
        "recall",
        "proportion of the items with label 1 that the classifier finds",
        error="missed",
    ),
    "f1": _MeasureFacts(
        "F1", "F1", "precision and recall in one number, 2 P R / (P + R)", moved_by_base_rates=True
    ),
    "fpr": _MeasureFacts(
        "fpr",
        "false positive rate",
        "proportion of the items with label 0 that are called 1",
        less_is_better=True,
        error="flagged",
    ),
    "fnr": _MeasureFacts(
        "fnr",
        "false negative rate",
        "proportion of the items with label 1 that are missed",
        less_is_better=True,
        error="missed",
    ),
    "accuracy": _MeasureFacts(
        "accuracy",
        "accuracy",
        "proportion of all items that are predicted correctly",
        moved_by_base_rates=True,
        error="wrong",
    ),
    "selection_rate": _MeasureFacts(
        "selection rate",
        "selection rate",
        "proportion of all items that the classifier calls 1; a positive gap: the group is called 1"
        " less often, which may be worse or better",
        moved_by_base_rates=True,
        has_worse_side=False,
    ),
    "auc": _MeasureFacts(
        "AUC", "AUC", "how often an item with label 1 scores higher than one with label 0"
    ),
    "bpsn_auc": _MeasureFacts(
        "BPSN AUC", "BPSN AUC", "AUC of other items with label 1 and the group's items with label 0"
    ),
    "bnsp_auc": _MeasureFacts(
        "BNSP AUC", "BNSP AUC", "AUC of the group's items with label 1 and other items with label 0"
    ),
    "ece": _MeasureFacts(
        "ECE",
        "expected calibration error",
        "how far scores lie from the proportion with label 1, on average over ten bins",
        less_is_better=True,
    ),
    "demographic_parity": _MeasureFacts(
        "demographic parity", "demographic parity", "largest difference in selection rate"
    ),
    "equalised_odds": _MeasureFacts(
        "equalised odds",
        "equalised odds",
        "largest difference in recall or in false positive rate, the larger of the two",
    ),
}


# Of each kind the usual one comes first
MISSED = tuple(name for name, facts in MEASURE_FACTS.items() if facts.error == "missed")
FLAGGED = tuple(name for name, facts in MEASURE_FACTS.items() if facts.error == "flagged")
REVERSED = tuple(name for name, facts in MEASURE_FACTS.items() if facts.less_is_better)


def less_is_better(measure: str) -> bool:
    """Return whether a measure is an error."""
    return measure in REVERSED


def error_rate(measure: str, value: float) -> float:
    """Return the errors of a measure: its value, or 1 minus it where more is better."""
    return value if less_is_better(measure) else 1 - value


def measure_heading(measure: str) -> str:
    """Return a measure for the heading of a narrow table: ``fpr``, ``F1``."""
    facts = MEASURE_FACTS.get(measure)
    return facts.heading if facts else measure.replace("_", " ")


def measure_name(measure: str) -> str:
    """Return a measure in words: ``false positive rate``, ``F1``."""
    facts = MEASURE_FACTS.get(measure)
    return facts.title if facts else measure.replace("_", " ")
