"""Coreference: a resolver trained on documents and frozen vectors, and gaps on a challenge set; and
WinoBias and Winogender by likelihood: whom a language model takes a pronoun to mean.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from biasbridge.corpora.protocols import Challenge, DocumentSource
from biasbridge.extrinsic.coreference.challenge import (
    Answer,
    ChallengeGaps,
    challenge_rows,
    challenge_table,
    held_out_rows,
)
from biasbridge.extrinsic.gap_table import as_table
from biasbridge.extrinsic.model_answers import (
    GENDERS,
    Normalisation,
    people_of,
    read_referents,
    referent_rows,
)
from biasbridge.extrinsic.protocols import DesignedResolver, Resolver, ResolverDesign
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.files.documents import read_cases, read_documents, write_cases, write_documents
from biasbridge.files.language import language_of
from biasbridge.files.paths import digest_of
from biasbridge.files.terminal import LOG
from biasbridge.train.engine.device import one_thread
from biasbridge.train.engine.scores import open_needed
from biasbridge.train.engine.source import source_of

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.resolution import Resolution
    from biasbridge.files.documents import Document
    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


CASES, MENTIONS, ANTECEDENTS = "cases.jsonl", "mentions.parquet", "antecedents.parquet"
_PRONOUN = ("pronoun_first", "pronoun_end")
CHALLENGE, HELD_OUT = "challenge", "test"


@choice
class Coreference(Fileless):
    """A ``resolver`` trained on ``documents`` with the subject's vectors.

    It is tested on the documents' test split and on a ``challenge`` set, whose pronouns are linked
    also where having no antecedent is likelier, if the resolver tells how likely each is. ``name``:
    the task in the tables. ``replicate``: number of a further training on the same embedding, to
    measure variation between training runs.
    """

    documents: DocumentSource
    challenge: Challenge
    resolver: Resolver
    gaps: ChallengeGaps
    name: str = "coreference_en"
    replicate: Whole = 0

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)
    # Method that challenge sets must have, and examples
    challenges: ClassVar[tuple[str, str]] = ("load", "generated, winobias, winogender or gap")

    @property
    def language(self) -> str:
        """Language of the challenge set."""
        return language_of(self.challenge)

    def facts(self) -> Facts:
        """Return the columns of the points table."""
        return {
            "task": self.name,
            "source": self.documents.name,
            "scheme": self.documents.scheme,
            "singletons": self.documents.singletons,
            "challenge": self.challenge.name,
            "classifier": self.resolver.name,
            "replicate": self.replicate,
            **self.documents.parameters(),
            "generated": self.documents.generated or self.challenge.generated,
        }

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the table of gaps, from documents, challenge set and predictions."""
        documents = steps("documents", self.documents, _load_documents)
        challenge = steps("challenge", self.challenge, _load_challenge)
        inputs = {"documents": documents, "challenge": challenge}
        designs = {}
        if isinstance(self.resolver, DesignedResolver):
            designs["design"] = steps("design", self.resolver.design, _write_design, inputs)
        predictions = steps(
            "predictions",
            self.resolver,
            _resolve,
            {**inputs, "vectors": subject["vectors"], **designs},
            drawn=f"predictions/{self.replicate}" if self.replicate else "",
        )
        inputs = {"predictions": predictions, **inputs}
        return steps("extrinsic", self.gaps, _measure_gaps, inputs)


def _load_documents(source: DocumentSource, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``SPLIT.jsonl`` for each split that has documents."""
    for split, documents in source.load(seed=seed).items():
        if documents:
            write_documents(documents, out / f"{split}.jsonl")


def _load_challenge(challenge: Challenge, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``cases.jsonl``."""
    write_cases(challenge.load(seed=seed), out / CASES)


def _read_inputs(inputs: Inputs) -> dict[str, list[Document]]:
    """Return the documents by split, with those of the challenge set."""
    documents = {path.stem: list(read_documents(path)) for path in _splits(inputs["documents"])}
    documents[CHALLENGE] = [case.document for case in read_cases(inputs["challenge"] / CASES)]
    return documents


def _write_design(design: ResolverDesign, out: Path, inputs: Inputs, seed: int) -> None:
    """Write what a resolver computes without vectors."""
    design.write(_read_inputs(inputs), out)


def _resolve(resolver: Resolver, out: Path, inputs: Inputs, seed: int) -> None:
    """Write documents with predicted clusters, scored candidate spans, and ``training.json``.

    An interrupted training continues from its state in the store's folder ``unfinished``, unless
    its code or its inputs have changed.
    """
    from biasbridge.extrinsic.coreference.training import OtherTrainingError
    from biasbridge.files.vectors import open_mapped

    unfinished = out.parent.with_name("unfinished") / out.name
    folder = unfinished / _code_digest(resolver)
    folder.mkdir(parents=True, exist_ok=True)
    documents = _read_inputs(inputs)
    vectors = open_mapped(inputs["vectors"] / "vectors")
    design = {name: inputs[name] for name in ("design",) if name in inputs}
    resolve_all = partial(resolver.resolve, documents, vectors, seed=seed, folder=folder, **design)
    with one_thread():
        try:
            resolved = resolve_all()
        except OtherTrainingError:  # its inputs were built again since
            shutil.rmtree(folder)
            folder.mkdir()
            resolved = resolve_all()
    splits = {**resolved.splits, CHALLENGE: _answer(inputs, resolved.splits[CHALLENGE])}
    for split, resolutions in splits.items():
        write_documents((resolution.document for resolution in resolutions), out / f"{split}.jsonl")
    _mentions(splits).to_parquet(out / MENTIONS)
    if any(resolution.antecedents for resolution in splits[CHALLENGE]):
        _antecedents(splits[CHALLENGE]).to_parquet(out / ANTECEDENTS)
    (out / "training.json").write_text(json.dumps(resolved.history, indent=1), encoding="utf-8")
    shutil.rmtree(unfinished)


def _answer(inputs: Inputs, resolutions: Sequence[Resolution]) -> list[Resolution]:
    """Link the pronouns that the cases ask about."""
    return [
        resolution.answering({question.pronoun for question in case.questions})
        for case, resolution in zip(
            read_cases(inputs["challenge"] / CASES), resolutions, strict=True
        )
    ]


def _code_digest(resolver: Resolver) -> str:
    """Return a hash of the source files of a resolver, as this process loaded them."""
    return digest_of(source_of((type(resolver).__module__,)).files)


def _splits(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def _mentions(splits: Mapping[str, Sequence[Resolution]]) -> pd.DataFrame:
    """Return a row per candidate: split, number of the document, half-open span, score."""
    rows = [
        (split, number, first, end, score)
        for split, resolutions in splits.items()
        for number, resolution in enumerate(resolutions)
        for (first, end), score in resolution.mentions.items()
    ]
    return pd.DataFrame(rows, columns=["split", "document", "first", "end", "score"])


def _antecedents(resolutions: Sequence[Resolution]) -> pd.DataFrame:
    """Return a row per candidate of a pronoun of the challenge set: number of the document, spans
    of pronoun and candidate, and log odds.
    """
    rows = [
        (number, *pronoun, *candidate, odds)
        for number, resolution in enumerate(resolutions)
        for pronoun, candidates in resolution.antecedents.items()
        for candidate, odds in candidates.items()
    ]
    return pd.DataFrame(rows, columns=["document", *_PRONOUN, "first", "end", "log_odds"])


def _measure_gaps(gaps: ChallengeGaps, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: held-out quality, measures per group, gaps, with intervals."""
    cases = read_cases(inputs["challenge"] / CASES)
    case_resolutions = _read_resolutions(inputs["predictions"], CHALLENGE)
    rows = challenge_rows(list(map(Answer, cases, case_resolutions)), gaps)
    if (path := inputs["documents"] / f"{HELD_OUT}.jsonl").is_file():
        documents: list[Document] = list(read_documents(path))
        resolutions = _read_resolutions(inputs["predictions"], HELD_OUT)
        rows = held_out_rows(documents, resolutions, gaps.level) + rows
    challenge_table(rows).to_parquet(out / "scores.parquet")


def _read_resolutions(folder: Path, split: str) -> list[Resolution]:
    from biasbridge.extrinsic.coreference.resolution import Resolution

    table = pd.read_parquet(folder / MENTIONS)
    table = table[table["split"] == split]
    columns = (table[name].tolist() for name in ("document", "first", "end", "score"))
    mentions: dict[int, dict[tuple[int, int], float]] = {}
    for number, first, end, score in zip(*columns, strict=True):
        mentions.setdefault(number, {})[first, end] = score
    antecedents: dict[int, dict[tuple[int, int], dict[tuple[int, int], float]]] = {}
    if split == CHALLENGE and (folder / ANTECEDENTS).exists():
        for number, *spans, odds in pd.read_parquet(folder / ANTECEDENTS).itertuples(index=False):
            of_pronoun = antecedents.setdefault(number, {}).setdefault((spans[0], spans[1]), {})
            of_pronoun[spans[2], spans[3]] = odds
    documents = enumerate(read_documents(folder / f"{split}.jsonl"))
    return [
        Resolution(document, mentions.get(number, {}), antecedents.get(number, {}))
        for number, document in documents
    ]


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
        challenge = steps("challenge", self.challenge, _load_challenge)
        inputs = {"challenge": challenge, "model": subject["model"]}
        return steps("extrinsic", self, _measure_referents, inputs)


def _measure_referents(task: Referents, out: Path, inputs: Inputs, seed: int) -> None:
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
