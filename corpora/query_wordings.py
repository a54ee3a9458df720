"""Wordings of synthetic queries and documents, and the occupations that they are about.

Lower-case tokens joined by spaces, as in the corpora of the synthetic world. ``{occupation}`` is
filled with the occupation, the other slots with the form of either gender.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from corpora.grammar import Words, listed
from corpora.people import ALSO, load_percentages

if TYPE_CHECKING:
    from files.retrieval import Stereotype

Language = Literal["en", "es"]
EVEN = 50  # percent of women


@dataclass(frozen=True)
class Wordings:
    """``queries`` name no gender; ``documents`` have slots of ``forms``: (male, female)."""

    queries: Words
    documents: Words
    forms: Mapping[str, tuple[str, str]]


WORDINGS: Mapping[Language, Wordings] = {
    "en": Wordings(
        queries=(
            "the {occupation} was late",
            "where is the {occupation}",
            "news about the {occupation}",
        ),
        documents=(
            "the {occupation} said that {they} was late",
            "{they} is the {occupation}",
            "the {occupation} lost {their} keys",
            "the {occupation} was tired so {they} slept",
        ),
        forms={"they": ("he", "she"), "their": ("his", "her")},
    ),
    "es": Wordings(
        queries=(
            "quién es {occupation}",
            "trabajo de {occupation}",
            "noticias de {occupation}",
        ),
        documents=(
            "{the} {occupation} dijo que {they} llegó tarde",
            "{they} es {occupation}",
            "{the} {occupation} perdió las llaves",
            "{the} {occupation} durmió porque {they} llegó tarde",
        ),
        forms={"they": ("él", "ella"), "the": ("el", "la")},
    ),
}
# Nouns of one form for both genders, so that a query names none. Which stereotype each has is
# stipulated, not measured.
SPANISH: Mapping[Stereotype, Words] = {
    "male": listed(
        "electricista taxista policía detective guardia militar piloto futbolista gerente albañil"
    ),
    "female": listed(
        "recepcionista florista terapeuta esteticista asistente auxiliar dependiente cantante"
        " pediatra ayudante"
    ),
}


def occupations(language: Language) -> Mapping[Stereotype, Words]:
    """As many of men as of women."""
    if language == "es":
        return SPANISH
    usual = {other: name for name, other in ALSO.items()}
    found: dict[Stereotype, list[str]] = {"male": [], "female": []}
    for word, percentage in load_percentages().items():
        name = usual.get(word, word).removesuffix("s").replace("_", " ")
        found["female" if percentage > EVEN else "male"].append(name)
    return {gender: tuple(names) for gender, names in found.items()}
