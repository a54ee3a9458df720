"""Recorded certificate: verdicts on the scores of each metric."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from files.tables import unescape_formula
from studies.certificate import SYNTHETIC
from studies.certificate.verdict import DOES_NOT_DETECT, NOT_ESTIMATED

RECORDED_CSV = Path(__file__).with_name("recorded.csv")
MODELS = {"vectors": "word2vec", "masked": "tiny_bert", "causal": "tiny_gpt2"}
# Options that say which words are found, not how a score is made of them
LOOKUP = ("case=", "min_found=")


class RecordedVerdict(NamedTuple):
    """Verdict on a score and its figure; empty where nothing is known."""

    verdict: str = ""
    why: str = ""

    @property
    def line(self) -> str:
        """Return the verdict and its figure."""
        return ": ".join(filter(None, self))

    @property
    def may_be_called_bias(self) -> bool:
        """Whether the number may be called a bias: not where it does not detect a planted one."""
        return self.verdict != DOES_NOT_DETECT


@cache
def recorded() -> Mapping[tuple[str, str, str], RecordedVerdict]:
    """Read the recorded verdicts on synthetic text by metric, convention and subject."""
    with RECORDED_CSV.open(encoding="utf-8", newline="") as text:
        return {
            (row["metric"], row["convention"], row["subject"]): RecordedVerdict(
                row["verdict"], str(unescape_formula(row["why"]))
            )
            for row in csv.DictReader(text)
            if row["verdict"] != NOT_ESTIMATED and row["material"] == SYNTHETIC
        }


def recorded_verdict(metric: str, convention: str, kind: str, language: str) -> RecordedVerdict:
    """Return what is known of scores of this ``kind`` (``vectors``, ``masked`` or ``causal``)."""
    name, *options = convention.split(",")
    changed = any(not option.startswith(LOOKUP) for option in options)
    subject = f"{MODELS.get(kind, '')} {language}"
    return (
        RecordedVerdict() if changed else recorded().get((metric, name, subject), RecordedVerdict())
    )


def not_called_bias(verdict_by_name: Mapping[str, RecordedVerdict]) -> str:
    """Name the scores that may not be called bias, with the reason; empty if there are none."""
    names = [
        f"{name} ({verdict.why})"
        for name, verdict in verdict_by_name.items()
        if not verdict.may_be_called_bias
    ]
    if not names:
        return ""
    return f"Not called bias, because they do not detect a planted one: {', '.join(names)}"
