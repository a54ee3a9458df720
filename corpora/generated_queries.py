"""Synthetic queries about occupations, and documents that speak of a man or a woman in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from corpora.query_wordings import QUERIES, Language, Occupation, list_occupations
from files import choice
from files.choice import Fileless
from files.digest import digest_of
from files.retrieval import RetrievalQuery, WordedDocument


@choice
class GeneratedQueries(Fileless):
    """For each of forty occupations three queries that name no gender, four relevant documents, in
    which somebody of that occupation is a man or a woman, and four irrelevant ones, of another
    occupation of the same stereotype. The queries of one occupation are one cluster. The same for
    every seed.

    Nothing is planted here: the bias is that of the model that is asked.
    """

    language: Language = "en"

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    seeded: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """``generated`` and the language."""
        return f"generated_{self.language}"

    def planted(self) -> Mapping[str, float]:
        """Nothing."""
        return {}

    def keyed(self) -> Mapping[str, object]:
        """The wordings."""
        wordings = [list_occupations(self.language), QUERIES[self.language]]
        return {"wordings": digest_of(wordings)}

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """The queries; see ``corpora.kinds.RetrievalSource``."""
        queries: list[RetrievalQuery] = []
        for stereotype in ("male", "female"):
            alike = [
                each for each in list_occupations(self.language) if each.stereotype == stereotype
            ]
            for asked, other in zip(alike, [*alike[1:], alike[0]], strict=True):
                queries += self._about(asked, other)
        return queries

    def _about(self, asked: Occupation, other: Occupation) -> Iterator[RetrievalQuery]:
        documents = tuple(
            WordedDocument(male, female, relevant=of is asked)
            for of in (asked, other)
            for male, female in of.documents
        )
        for template in QUERIES[self.language]:
            text = template.replace("{}", asked.name)
            yield RetrievalQuery(text, documents, asked.stereotype, cluster=asked.name)
