"""Coreference: documents to learn from, resolved by a model on frozen vectors, and its gaps on a
challenge set.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from corpora.kinds import Challenge, DocumentSource
from extrinsic.coreference.challenge.gaps import ChallengeGaps
from extrinsic.kinds import Resolver
from files import choice
from files.choice import Fileless, Whole
from files.documents import read_cases, read_documents, write_cases, write_documents
from files.language import language_of
from train.device import one_thread

if TYPE_CHECKING:
    from extrinsic.coreference.resolution import Resolution
    from files.documents import Document
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage

CASES, MENTIONS = "cases.jsonl", "mentions.parquet"
CHALLENGE, HELD_OUT = "challenge", "test"


@choice
class Coreference(Fileless):
    """A ``resolver`` that learns from ``documents`` on the subject's vectors, and is tested on
    their own test split and on a ``challenge`` set.

    ``name`` is the task in the tables. ``replicate``: further trainings on the same embedding and
    documents, which show how far a gap is that of one training run.
    """

    documents: DocumentSource
    challenge: Challenge
    resolver: Resolver
    gaps: ChallengeGaps
    name: str = "coreference_en"
    replicate: Whole = 0

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)
    # What a challenge set must have, and such as have it
    challenges: ClassVar[tuple[str, str]] = ("load", "generated, winobias, winogender or gap")

    @property
    def language(self) -> str:
        """That of the challenge set."""
        return language_of(self.challenge)

    def facts(self) -> Facts:
        """The columns task, source (of the documents), scheme, singletons, challenge, classifier
        (the resolver), replicate, generated and what is planted in the documents.
        """
        return {
            "task": self.name,
            "source": self.documents.name,
            "scheme": self.documents.scheme,
            "singletons": self.documents.singletons,
            "challenge": self.challenge.name,
            "classifier": self.resolver.name,
            "replicate": self.replicate,
            **self.documents.planted(),
            "generated": self.documents.generated or self.challenge.generated,
        }

    def build_steps(self, steps: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Documents, challenge, predictions, and the table of gaps."""
        documents = steps("documents", self.documents, load_documents)
        challenge = steps("challenge", self.challenge, load_challenge)
        predictions = steps(
            "predictions",
            self.resolver,
            resolve,
            {"documents": documents, "challenge": challenge, "vectors": subject["vectors"]},
            drawn=f"predictions/{self.replicate}" if self.replicate else "",
        )
        read = {"predictions": predictions, "documents": documents, "challenge": challenge}
        return steps("extrinsic", self.gaps, measure_gaps, read)


def load_documents(source: DocumentSource, out: Path, inputs: Inputs, seed: int) -> None:
    """``SPLIT.jsonl`` for each split that has documents."""
    for split, documents in source.load(seed=seed).items():
        if documents:
            write_documents(documents, out / f"{split}.jsonl")


def load_challenge(challenge: Challenge, out: Path, inputs: Inputs, seed: int) -> None:
    """``cases.jsonl``."""
    write_cases(challenge.load(seed=seed), out / CASES)


def resolve(resolver: Resolver, out: Path, inputs: Inputs, seed: int) -> None:
    """``test.jsonl`` and ``challenge.jsonl``, the documents with predicted clusters; the spans that
    were candidates, with their scores; and ``training.json``.

    A training that was interrupted goes on from where it was: until it ends, what it needs for that
    lies in the store's folder ``unfinished``.
    """
    from files.vectors import open_mapped

    unfinished = out.parent.with_name("unfinished") / out.name
    unfinished.mkdir(parents=True, exist_ok=True)
    documents = {path.stem: list(read_documents(path)) for path in _splits(inputs["documents"])}
    documents[CHALLENGE] = [case.document for case in read_cases(inputs["challenge"] / CASES)]
    vectors = open_mapped(inputs["vectors"] / "vectors")
    with one_thread():
        resolved = resolver.resolve(documents, vectors, seed=seed, folder=unfinished)
    for split, resolutions in resolved.splits.items():
        write_documents((each.document for each in resolutions), out / f"{split}.jsonl")
    _mentions(resolved.splits).to_parquet(out / MENTIONS)
    (out / "training.json").write_text(json.dumps(resolved.history, indent=1), encoding="utf-8")
    shutil.rmtree(unfinished)


def _splits(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def _mentions(splits: Mapping[str, Sequence[Resolution]]) -> pd.DataFrame:
    """One row a candidate: the split, the number of the document in it, the half-open span, and the
    score.
    """
    rows = [
        (split, number, first, end, score)
        for split, resolutions in splits.items()
        for number, each in enumerate(resolutions)
        for (first, end), score in each.mentions.items()
    ]
    return pd.DataFrame(rows, columns=["split", "document", "first", "end", "score"])


def measure_gaps(gaps: ChallengeGaps, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: how well held-out documents are resolved, the measures of each group of
    cases and the signed gaps, each with its interval and support.
    """
    from extrinsic.coreference.challenge.gaps import as_table, challenge_rows
    from extrinsic.coreference.challenge.held_out import held_out_rows
    from extrinsic.coreference.challenge.measures import Answer

    cases = read_cases(inputs["challenge"] / CASES)
    found = _read_resolutions(inputs["predictions"], CHALLENGE)
    rows = challenge_rows(list(map(Answer, cases, found)), gaps)
    if (path := inputs["documents"] / f"{HELD_OUT}.jsonl").is_file():
        documents: list[Document] = list(read_documents(path))
        resolutions = _read_resolutions(inputs["predictions"], HELD_OUT)
        rows = held_out_rows(documents, resolutions, gaps.level) + rows
    as_table(rows).to_parquet(out / "scores.parquet")


def _read_resolutions(folder: Path, split: str) -> list[Resolution]:
    from extrinsic.coreference.resolution import Resolution

    table = pd.read_parquet(folder / MENTIONS)
    table = table[table["split"] == split]
    columns = (table[name].tolist() for name in ("document", "first", "end", "score"))
    mentions: dict[int, dict[tuple[int, int], float]] = {}
    for number, first, end, score in zip(*columns, strict=True):
        mentions.setdefault(number, {})[first, end] = score
    documents = enumerate(read_documents(folder / f"{split}.jsonl"))
    return [Resolution(document, mentions.get(number, {})) for number, document in documents]
