"""Recorded certificate: verdicts on the scores of each metric."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from math import nan
from pathlib import Path
from typing import NamedTuple

from studies.certificate.verdict import LEAST_SLOPE, UNKNOWN

RECORDED_CSV = Path(__file__).with_name("recorded.csv")
TRANSFER_CSV = RECORDED_CSV.with_name("transfer.csv")  # docs/runs/transfer.md
MODELS = {"vectors": "word2vec", "masked": "tiny_bert", "causal": "tiny_gpt2"}
# Options that say which words are found, not how a score is made of them
LOOKUP = ("case=", "min_found=")


class RecordedVerdict(NamedTuple):
    """What a score is worth: the verdict and its figure, and the slope against a planted bias."""

    verdict: str = ""
    why: str = ""
    slope: float = nan

    @property
    def line(self) -> str:
        """Return the verdict and its figure; empty where nothing is known."""
        return ": ".join(filter(None, (self.verdict, self.why)))

    @property
    def called_bias(self) -> bool:
        """Whether the number may be called a bias: not where its slope is known to be below .2."""
        return not self.slope < LEAST_SLOPE


@cache
def recorded() -> Mapping[tuple[str, str, str], RecordedVerdict]:
    """Read the recorded verdicts by metric, convention and subject."""
    with RECORDED_CSV.open(encoding="utf-8", newline="") as text:
        return {
            (row["metric"], row["convention"], row["subject"]): RecordedVerdict(
                row["verdict"], row["why"], float(row["slope"] or nan)
            )
            for row in csv.DictReader(text)
            if row["verdict"] != UNKNOWN
        }


def recorded_verdict(metric: str, convention: str, kind: str, language: str) -> RecordedVerdict:
    """Return what is known of scores of this ``kind`` (``vectors``, ``masked`` or ``causal``)."""
    name, *options = convention.split(",")
    changed = any(not option.startswith(LOOKUP) for option in options)
    subject = f"{MODELS.get(kind, '')} {language}"
    return (
        RecordedVerdict() if changed else recorded().get((metric, name, subject), RecordedVerdict())
    )


def recorded_transfer(metric: str) -> list[Mapping[str, str]]:
    """Read how gaps moved with a metric's scores (``docs/studies/certificate_transfer.csv``)."""
    with TRANSFER_CSV.open(encoding="utf-8", newline="") as text:
        return [row for row in csv.DictReader(text) if row["metric"] == metric]


def not_called_bias(worth_by_name: Mapping[str, RecordedVerdict]) -> str:
    """Name the scores that may not be called bias, with the reason; empty if there are none."""
    names = [
        f"{name} ({certificate.slope:.2f})"
        for name, certificate in worth_by_name.items()
        if not certificate.called_bias
    ]
    if not names:
        return ""
    return (
        f"Not called bias, because with a planted bias they change by less than {LEAST_SLOPE:g}"
        f" standard deviations: {', '.join(names)}"
    )
