"""Wordings of synthetic queries and documents about occupations.

Lower-case tokens joined by spaces, and no word but those of ``corpora.planted_occupations``, so
that a tiny model that was trained on these knows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from intrinsic.items.item import SLOT
from intrinsic.items.library import load_items

if TYPE_CHECKING:
    from corpora.grammar import Words
    from files.retrieval import Stereotype

Language = Literal["en", "es"]
# Texts about an occupation with a slot for a pronoun, in templates that planted models never saw
DOCUMENTS: Mapping[Language, str] = {"en": "occupations_unseen", "es": "occupations_es_unseen"}
QUERIES: Mapping[Language, Words] = {
    "en": ("the {} was late", "the {} left today", "the {} was tired at work"),
    "es": ("cada {} llegó tarde", "hoy puede volver cada {}", "cada {} tiene tiempo"),
}


class Occupation(NamedTuple):
    """What is asked about an occupation: the gender of its stereotype, and texts about it with a
    male and with a female pronoun.
    """

    name: str
    stereotype: Stereotype
    documents: tuple[tuple[str, str], ...]


def list_occupations(language: Language) -> list[Occupation]:
    """As many of men as of women."""
    [items] = load_items([DOCUMENTS[language]])
    [forms] = items.fillers
    found: dict[tuple[str, Stereotype], list[tuple[str, str]]] = {}
    for item in items.items:
        male, female = (item.text.replace(SLOT, form) for form in forms)
        stereotype: Stereotype = "male" if item.group == "male" else "female"
        found.setdefault((item.term, stereotype), []).append((male, female))
    return [Occupation(*key, tuple(texts)) for key, texts in found.items()]
