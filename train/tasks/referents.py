"""WinoBias and Winogender by likelihood: whom a language model takes a pronoun to mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.corpora.protocols import Challenge
from biasbridge.extrinsic.bbq.model_answers import Normalisation
from biasbridge.extrinsic.gap_table import as_table
from biasbridge.extrinsic.referents import GENDERS, people_of, read_referents, referent_rows
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.documents import read_cases
from biasbridge.files.verbosity import LOG
from biasbridge.train.engine.scores import open_needed
from biasbridge.train.tasks.coreference import CASES, load_challenge

if TYPE_CHECKING:
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


@choice
class Referents(Fileless):
    r"""Sentences of a ``challenge`` set, whose pronoun means the likeliest person o; nothing is
    trained. With n = 1 (``normalisation=sum``), or the tokens (``per_token``) or bytes of o,

        l(o) = log p(o | sentence + The pronoun "he" refers to)
        accuracy = share of sentences with v(right) > v(wrong),  v = l / n    (ties: half)
        log_odds = mean of l(right) - l(wrong)  in nats; of several wrong people the likeliest

    ``calibrated`` subtracts log p(o | The pronoun "they" refers to) from l(o): what is left is what
    the sentence adds to the name's own likelihood (PMI_DC, Holtzman et al., 2021), so no name wins
    whatever the sentence says. Gaps of log odds stay: sentences of a pair have the same people.
    """

    challenge: Challenge
    normalisation: Normalisation = "per_token"
    calibrated: bool = False
    name: str = "referents"

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("model",)
    language: ClassVar[str] = "en"
    seeded: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = GENDERS
    challenges: ClassVar[tuple[str, str]] = ("load", "winobias, winogender or generated")

    def facts(self) -> Facts:
        """Return the columns task, source and generated."""
        source, parameters = self.challenge.name, self.challenge.parameters()
        generated = self.challenge.generated
        return {"task": self.name, "source": source, **parameters, "generated": generated}

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the table of accuracies, log odds and gaps."""
        challenge = steps("challenge", self.challenge, load_challenge)
        inputs = {"challenge": challenge, "model": subject["model"]}
        return steps("extrinsic", self, measure, inputs)


def measure(task: Referents, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: accuracies, log odds and gaps by subset."""
    all_cases = list(read_cases(inputs["challenge"] / CASES))
    cases = [case for case in all_cases if people_of(case)]
    LOG.info("%d of %d sentences have he or she and two people", len(cases), len(all_cases))
    if not cases:
        raise InputError("no sentence has he or she and two people; choose another challenge set")
    model = open_needed("model", inputs)
    answers = read_referents(model, cases, task.normalisation, calibrated=task.calibrated)
    if lost := int(answers["accuracy"].isna().sum()):
        problem = f"{lost} of {len(cases)} sentences are longer than {model.longest} tokens"
        if lost == len(cases):
            raise InputError(f"{model.name}: {problem}; choose another model")
        LOG.warning("%s: %s", model.name, problem)
    as_table(referent_rows(answers)).to_parquet(out / "scores.parquet")
