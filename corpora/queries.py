"""Queries with documents about men and women: synthetic ones about occupations, and Grep-BiasIR
(Krieg et al., 2023).

The synthetic ones have lower-case tokens joined by spaces, all from the vocabulary of
``biasbridge.corpora.planted_occupations``, on which tiny models are trained.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import pandas as pd
from annotated_types import doc

from biasbridge.corpora.protocols import EnglishChallenge
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.documents import RetrievalQuery, Stereotype, WordedDocument
from biasbridge.files.paths import digest_of
from biasbridge.files.tables import read_table, require_columns
from biasbridge.intrinsic.models.items import SLOT, load_items

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Words

Language = Literal["en", "es"]
# Texts about an occupation with a slot for a pronoun, in templates absent from planted corpora
_DOCUMENTS: Mapping[Language, str] = {"en": "occupations_unseen", "es": "occupations_es_unseen"}
_QUERIES: Mapping[Language, Words] = {
    "en": ("the {} was late", "the {} left today", "the {} was tired at work"),
    "es": ("cada {} llegó tarde", "hoy puede volver cada {}", "cada {} tiene tiempo"),
}
PATTERN = "queries-documents_*.csv"
_COLUMNS = (
    *("q_id", "d_id", "relevant", "query", "doc_title", "document"),
    *("content_gender", "exp_stereotype"),
)
_NEUTRAL = "N"
# Annotations, in lower case
_STEREOTYPES: Mapping[str, Stereotype] = {
    "towards male": "male",
    "towards female": "female",
    "no annotation agreement": "",
}
log = logging.getLogger(__name__)


class Occupation(NamedTuple):
    """An occupation, the gender of its stereotype, and texts with a male and a female pronoun."""

    name: str
    stereotype: Stereotype
    documents: tuple[tuple[str, str], ...]


def _list_occupations(language: Language) -> list[Occupation]:
    """Return the occupations, as many of men as of women."""
    [items] = load_items([_DOCUMENTS[language]])
    [forms] = items.fillers
    documents: dict[tuple[str, Stereotype], list[tuple[str, str]]] = {}
    for item in items.items:
        male, female = (item.text.replace(SLOT, form) for form in forms)
        stereotype: Stereotype = "male" if item.group == "male" else "female"
        documents.setdefault((item.term, stereotype), []).append((male, female))
    return [Occupation(*key, tuple(texts)) for key, texts in documents.items()]


@choice
class GeneratedQueries(Fileless):
    """For each of forty occupations, three queries without gender, four relevant documents about a
    man or a woman in the occupation, and four irrelevant documents about another occupation of the
    same stereotype. The queries of one occupation are one cluster. The same for every seed.

    Nothing is planted: the bias is that of the retrieval model.
    """

    language: Annotated[Language, doc("or es")] = "en"

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    seeded: ClassVar[bool] = False
    chosen_as: ClassVar[tuple[str, ...]] = ("queries/generated",)

    @property
    def name(self) -> str:
        """``generated`` and the language."""
        return f"generated_{self.language}"

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters."""
        return {}

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the wordings."""
        wordings = [_list_occupations(self.language), _QUERIES[self.language]]
        return {"wordings": digest_of(wordings)}

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """Return the queries; see ``biasbridge.corpora.protocols.RetrievalSource``."""
        queries: list[RetrievalQuery] = []
        for stereotype in ("male", "female"):
            occupations = [
                occupation
                for occupation in _list_occupations(self.language)
                if occupation.stereotype == stereotype
            ]
            next_occupations = [*occupations[1:], occupations[0]]
            for relevant, irrelevant in zip(occupations, next_occupations, strict=True):
                queries += self._queries(relevant, irrelevant)
        return queries

    def _queries(self, relevant: Occupation, irrelevant: Occupation) -> Iterator[RetrievalQuery]:
        documents = tuple(
            WordedDocument(male, female, relevant=occupation is relevant)
            for occupation in (relevant, irrelevant)
            for male, female in occupation.documents
        )
        for template in _QUERIES[self.language]:
            text = template.replace("{}", relevant.name)
            yield RetrievalQuery(text, documents, relevant.stereotype, cluster=relevant.name)


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
        """Return the queries; see ``biasbridge.corpora.protocols.RetrievalSource``."""
        table = pd.concat([_read(path) for path in self.files()], ignore_index=True)
        is_unknown = ~table["content_gender"].isin(["M", "F", _NEUTRAL])
        if n_unknown := is_unknown.sum():
            values = ", ".join(sorted({*table.loc[is_unknown, "content_gender"]}))
            log.warning("%s: %d wordings of no gender (%s) left out", self.name, n_unknown, values)
        return [_query(rows) for _, rows in table.groupby("q_id", sort=False)]


def _read(path: Path) -> pd.DataFrame:
    table = read_table(path)
    require_columns(table, _COLUMNS, str(path))
    allowed_values = {"relevant": {"0", "1"}, "exp_stereotype": {*_STEREOTYPES}}
    for column, values in allowed_values.items():
        table[column] = table[column].str.strip().str.lower()
        if unknown := sorted({*table[column]} - values):
            allowed = ", ".join(sorted(values))
            raise InputError(f"{path}: {column} {unknown[0]!r} is none of {allowed}; correct it")
    return table


def _query(rows: pd.DataFrame) -> RetrievalQuery:
    text = str(rows["query"].iloc[0])
    stereotypes = {_STEREOTYPES[annotation] for annotation in rows["exp_stereotype"]}
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
