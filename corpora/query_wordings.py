"""Wordings of synthetic queries and documents about occupations.

Lower-case tokens joined by spaces, all from the vocabulary of
``biasbridge.corpora.planted_occupations``, on which tiny models are trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasbridge.intrinsic.items.item import SLOT
from biasbridge.intrinsic.items.library import load_items

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Words
    from biasbridge.files.retrieval import Stereotype

Language = Literal["en", "es"]
# Texts about an occupation with a slot for a pronoun, in templates absent from planted corpora
DOCUMENTS: Mapping[Language, str] = {"en": "occupations_unseen", "es": "occupations_es_unseen"}
QUERIES: Mapping[Language, Words] = {
    "en": ("the {} was late", "the {} left today", "the {} was tired at work"),
    "es": ("cada {} llegó tarde", "hoy puede volver cada {}", "cada {} tiene tiempo"),
}


class Occupation(NamedTuple):
    """An occupation, the gender of its stereotype, and texts with a male and a female pronoun."""

    name: str
    stereotype: Stereotype
    documents: tuple[tuple[str, str], ...]


def list_occupations(language: Language) -> list[Occupation]:
    """Return the occupations, as many of men as of women."""
    [items] = load_items([DOCUMENTS[language]])
    [forms] = items.fillers
    documents: dict[tuple[str, Stereotype], list[tuple[str, str]]] = {}
    for item in items.items:
        male, female = (item.text.replace(SLOT, form) for form in forms)
        stereotype: Stereotype = "male" if item.group == "male" else "female"
        documents.setdefault((item.term, stereotype), []).append((male, female))
    return [Occupation(*key, tuple(texts)) for key, texts in documents.items()]
