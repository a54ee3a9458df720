"""Recorded certificate: verdicts on the scores of each metric."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from biasbridge.files.tables import unescape_formula
from biasbridge.studies.certificate import SYNTHETIC
from biasbridge.studies.certificate.verdict import DOES_NOT_DETECT, NOT_ESTIMATED

RECORDED_CSV = Path(__file__).with_name("recorded.csv")
# Models that were measured: kind and architecture, of a published model with its size
MODELS = {
    "word2vec": ("vectors", "word2vec"),
    "tiny_bert": ("masked", "bert"),
    "tiny_gpt2": ("causal", "gpt2"),
    "smollm2-135m": ("causal", "llama, 30 layers of 576"),
}
LIKENESSES = ("same architecture and size", "same architecture", "same kind")
# Options that say which words are found, not how a score is made of them
LOOKUP = ("case=", "min_found=")


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
    def may_be_called_bias(self) -> bool:
        """Whether the number may be called a bias: not where it does not detect a planted one."""
        return self.verdict != DOES_NOT_DETECT


@cache
def recorded() -> Mapping[tuple[str, str, str], RecordedVerdict]:
    """Read the recorded verdicts by metric, convention and subject: those of models trained on
    synthetic text, and of published models.
    """
    with RECORDED_CSV.open(encoding="utf-8", newline="") as text:
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
    name = ",".join(option for option in options if not option.startswith(LOOKUP))
    near = sorted(
        (_distance(measured, architecture), number, model)
        for number, (model, (measured_kind, measured)) in enumerate(MODELS.items())
        if measured_kind == kind
    )
    for distance, _, model in near:
        if verdict := recorded().get((metric, name, f"{model} {language}")):
            return verdict._replace(model=model, likeness=LIKENESSES[distance])
    return RecordedVerdict()


def _distance(measured: str, architecture: str) -> int:
    """Return the place in ``LIKENESSES`` of what two architectures share."""
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
    return f"Not called bias, because they do not detect a planted one: {', '.join(names)}"
