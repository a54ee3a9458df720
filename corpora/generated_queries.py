"""Synthetic queries about occupations, and documents about a man or a woman in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from annotated_types import doc

from biasbridge.corpora.query_wordings import QUERIES, Language, Occupation, list_occupations
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.digest import digest_of
from biasbridge.files.retrieval import RetrievalQuery, WordedDocument


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
        wordings = [list_occupations(self.language), QUERIES[self.language]]
        return {"wordings": digest_of(wordings)}

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """Return the queries; see ``biasbridge.corpora.protocols.RetrievalSource``."""
        queries: list[RetrievalQuery] = []
        for stereotype in ("male", "female"):
            occupations = [
                occupation
                for occupation in list_occupations(self.language)
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
        for template in QUERIES[self.language]:
            text = template.replace("{}", relevant.name)
            yield RetrievalQuery(text, documents, relevant.stereotype, cluster=relevant.name)
