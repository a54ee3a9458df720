"""Grep-BiasIR (Krieg et al., 2023): queries and documents in wordings of either gender."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pandas as pd

from corpora.kinds import EnglishChallenge
from files import InputError, choice
from files.retrieval import RetrievalQuery, Stereotype, WordedDocument
from files.tables import read_table, require_columns

PATTERN = "queries-documents_*.csv"
COLUMNS = (
    *("q_id", "d_id", "relevant", "query", "doc_title", "document"),
    *("content_gender", "exp_stereotype"),
)
NEUTRAL = "N"
# Either case occurs
STEREOTYPES: Mapping[str, Stereotype] = {
    "towards male": "male",
    "towards female": "female",
    "no annotation agreement": "",
}

log = logging.getLogger(__name__)


@choice
class GrepBiasIR(EnglishChallenge):
    """117 queries that name no gender, each with a relevant and an irrelevant document in a male, a
    female and a neutral wording, and for 29 of them the gender that annotators expected.

    ``folder`` holds the files ``queries-documents_CATEGORY.csv`` of the release. A document's text
    is its title, a full stop, and its content. Neutral wordings are not used. A wording whose
    gender is none of M, F and N (two irrelevant documents have ``both``, once ``botrh``) leaves its
    document out; how many is logged.
    """

    folder: str

    version: ClassVar[int] = 1
    name: ClassVar[str] = "grep_bias_ir"
    unkeyed: ClassVar[tuple[str, ...]] = ("folder",)

    def files(self) -> list[Path]:
        """Those of all categories. Raises ``InputError`` where there is none."""
        found = sorted(Path(self.folder).glob(PATTERN))
        if not found:
            raise InputError(f"{self.folder} holds no {PATTERN}; give the folder of the release")
        return found

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """The queries; see ``corpora.kinds.RetrievalSource``.

        Raises ``InputError`` for a missing column, a ``relevant`` other than 0 and 1, an unknown
        annotation, and a query with two.
        """
        table = pd.concat([_read(path) for path in self.files()], ignore_index=True)
        odd = ~table["content_gender"].isin(["M", "F", NEUTRAL])
        if odd.any():
            values = ", ".join(sorted({*table.loc[odd, "content_gender"]}))
            log.warning("%s: %d wordings of no gender (%s) left out", self.name, odd.sum(), values)
        return [_query(rows) for _, rows in table.groupby("q_id", sort=False)]


def _read(path: Path) -> pd.DataFrame:
    table = read_table(path)
    require_columns(table, COLUMNS, str(path))
    known = {"relevant": {"0", "1"}, "exp_stereotype": {*STEREOTYPES}}
    for column, values in known.items():
        table[column] = table[column].str.strip().str.lower()
        if other := sorted({*table[column]} - values):
            allowed = ", ".join(sorted(values))
            raise InputError(f"{path}: {column} {other[0]!r} is none of {allowed}; mend it")
    return table


def _query(rows: pd.DataFrame) -> RetrievalQuery:
    text = str(rows["query"].iloc[0])
    stereotypes = {STEREOTYPES[each] for each in rows["exp_stereotype"]}
    if len(stereotypes) > 1:
        raise InputError(f"query {text!r} has more than one exp_stereotype; give all rows one")
    documents = []
    for relevant, of in rows.groupby("relevant", sort=False):
        male, female = (of[of["content_gender"] == gender] for gender in "MF")
        documents += [
            WordedDocument(one, other, relevant == "1")
            for one, other in zip(_texts(male), _texts(female), strict=False)
        ]
    return RetrievalQuery(text, tuple(documents), stereotypes.pop())


def _texts(rows: pd.DataFrame) -> list[str]:
    return [
        f"{title}. {document}"
        for title, document in zip(rows["doc_title"], rows["document"], strict=True)
    ]
