"""Synthetic queries about occupations, and documents that speak of a man or a woman in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from corpora.query_wordings import WORDINGS, Language, Wordings, occupations
from files import choice
from files.choice import Fileless
from files.digest import digest_of
from files.retrieval import RetrievalQuery, Stereotype, WordedDocument


@choice
class GeneratedQueries(Fileless):
    """For each occupation queries that name no gender, relevant documents, in which somebody of
    that occupation is a man or a woman, and as many irrelevant ones, of another occupation of the
    same stereotype. The queries of one occupation are one cluster. The same for every seed.

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
        """The occupations and wordings."""
        wordings = WORDINGS[self.language]
        forms = [(name, *pair) for name, pair in wordings.forms.items()]
        words = [*occupations(self.language).values(), wordings.queries, wordings.documents, *forms]
        return {"words": digest_of(words)}

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """The queries; see ``corpora.kinds.RetrievalSource``."""
        wordings = WORDINGS[self.language]
        return [
            query
            for stereotype, names in occupations(self.language).items()
            for name, other in zip(names, (*names[1:], names[0]), strict=True)
            for query in _queries(wordings, name, other, stereotype)
        ]


def _queries(
    wordings: Wordings, name: str, other: str, stereotype: Stereotype
) -> list[RetrievalQuery]:
    documents = tuple(
        WordedDocument(*_both(wordings, template, occupation), relevant=occupation == name)
        for occupation in (name, other)
        for template in wordings.documents
    )
    texts = [template.format(occupation=name) for template in wordings.queries]
    return [RetrievalQuery(text, documents, stereotype, cluster=name) for text in texts]


def _both(wordings: Wordings, template: str, occupation: str) -> tuple[str, str]:
    """The male and the female wording."""
    male, female = (
        template.format(
            occupation=occupation, **{slot: pair[i] for slot, pair in wordings.forms.items()}
        )
        for i in (0, 1)
    )
    return male, female
