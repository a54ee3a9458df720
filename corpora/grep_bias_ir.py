"""Grep-BiasIR (Krieg et al., 2023): queries, and documents in a male and a female wording."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pandas as pd

from biasbridge.corpora.protocols import EnglishChallenge
from biasbridge.files import InputError, choice
from biasbridge.files.retrieval import RetrievalQuery, Stereotype, WordedDocument
from biasbridge.files.tables import read_table, require_columns

PATTERN = "queries-documents_*.csv"
COLUMNS = (
    *("q_id", "d_id", "relevant", "query", "doc_title", "document"),
    *("content_gender", "exp_stereotype"),
)
NEUTRAL = "N"
# Annotations, in lower case
STEREOTYPES: Mapping[str, Stereotype] = {
    "towards male": "male",
    "towards female": "female",
    "no annotation agreement": "",
}

log = logging.getLogger(__name__)


@choice
class GrepBiasIR(EnglishChallenge):
    """117 queries without gender, each with a relevant and an irrelevant document in a male, a
    female and a neutral wording; for 29 queries, the gender that annotators expected.

    ``folder`` holds the files ``queries-documents_CATEGORY.csv`` of the release. A document's text
    is its title, a full stop, and its content. Neutral wordings are not used. Documents with a
    wording of a gender other than M, F and N (two irrelevant documents: ``both``, once ``botrh``)
    are dropped and counted in the log.
    """

    folder: str

    version: ClassVar[int] = 1
    name: ClassVar[str] = "grep_bias_ir"
    unkeyed: ClassVar[tuple[str, ...]] = ("folder",)
    chosen_as: ClassVar[tuple[str, ...]] = ("queries/grep_bias_ir",)
    configuration: ClassVar[Mapping[str, object]] = {"folder": "${data:models/grep_bias_ir}"}

    def files(self) -> list[Path]:
        """Return the files of all categories. Raises ``InputError`` if there is none."""
        paths = sorted(Path(self.folder).glob(PATTERN))
        if not paths:
            raise InputError(f"{self.folder} holds no {PATTERN}; give the folder of the release")
        return paths

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """Return the queries; see ``biasbridge.corpora.protocols.RetrievalSource``.

        Raises ``InputError`` for a missing column, a ``relevant`` other than 0 and 1, an unknown
        annotation, and a query with two annotations.
        """
        table = pd.concat([_read(path) for path in self.files()], ignore_index=True)
        is_unknown = ~table["content_gender"].isin(["M", "F", NEUTRAL])
        if n_unknown := is_unknown.sum():
            values = ", ".join(sorted({*table.loc[is_unknown, "content_gender"]}))
            log.warning("%s: %d wordings of no gender (%s) left out", self.name, n_unknown, values)
        return [_query(rows) for _, rows in table.groupby("q_id", sort=False)]


def _read(path: Path) -> pd.DataFrame:
    table = read_table(path)
    require_columns(table, COLUMNS, str(path))
    allowed_values = {"relevant": {"0", "1"}, "exp_stereotype": {*STEREOTYPES}}
    for column, values in allowed_values.items():
        table[column] = table[column].str.strip().str.lower()
        if unknown := sorted({*table[column]} - values):
            allowed = ", ".join(sorted(values))
            raise InputError(f"{path}: {column} {unknown[0]!r} is none of {allowed}; correct it")
    return table


def _query(rows: pd.DataFrame) -> RetrievalQuery:
    text = str(rows["query"].iloc[0])
    stereotypes = {STEREOTYPES[annotation] for annotation in rows["exp_stereotype"]}
    if len(stereotypes) > 1:
        raise InputError(f"query {text!r} has more than one exp_stereotype; give all rows one")
    documents = []
    for relevant, wordings in rows.groupby("relevant", sort=False):
        male, female = (_texts(wordings[wordings["content_gender"] == gender]) for gender in "MF")
        documents += [
            WordedDocument(male_text, female_text, relevant == "1")
            for male_text, female_text in zip(male, female, strict=False)
        ]
    return RetrievalQuery(text, tuple(documents), stereotypes.pop())


def _texts(rows: pd.DataFrame) -> list[str]:
    return [
        f"{title}. {document}"
        for title, document in zip(rows["doc_title"], rows["document"], strict=True)
    ]
