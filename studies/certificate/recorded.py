"""Recorded certificate: verdicts on the scores of each metric."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from studies.certificate import SYNTHETIC
from studies.certificate.verdict import DOES_NOT_DETECT, NOT_ESTIMATED

RECORDED_CSV = Path(__file__).with_name("recorded.csv")
LIKENESSES = ("same architecture and size", "same architecture", "same kind")
# Options that say which words are found, not how a score is made of them
LOOKUP = ("case=", "min_found=")


class MeasuredModel(NamedTuple):
    """A model that was measured, by its name, kind and architecture."""

    name: str
    kind: str
    architecture: str  # and size, of a published model


MODELS = (
    MeasuredModel("word2vec", "vectors", "word2vec"),
    MeasuredModel("tiny_bert", "masked", "bert"),
    MeasuredModel("tiny_gpt2", "causal", "gpt2"),
    MeasuredModel("smollm2-135m", "causal", "llama, 30 layers of 576"),
)


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
                row["verdict"], row["why"]
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
    models = [model for model in MODELS if model.kind == kind]
    for model in sorted(models, key=lambda model: _distance(model, architecture)):
        if verdict := recorded().get((metric, name, f"{model.name} {language}")):
            likeness = LIKENESSES[_distance(model, architecture)]
            return verdict._replace(model=model.name, likeness=likeness)
    return RecordedVerdict()


def _distance(model: MeasuredModel, architecture: str) -> int:
    """Return the place of what the model shares with an architecture in ``LIKENESSES``."""
    is_same_family = model.architecture.partition(",")[0] == architecture.partition(",")[0]
    return 0 if model.architecture == architecture else 2 - is_same_family


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
