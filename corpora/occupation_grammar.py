"""Sentences of two people known by their occupations and a pronoun that means one of them.

The occupations are some of the forty with a percentage of women in
``intrinsic/wordsets/occupations.yaml``, twelve on either side of 50.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.occupations import load_percentages


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MALE = _words(
    "carpenter driver sheriff mover developer farmer guard janitor lawyer cook analyst manager"
)
FEMALE = _words(
    "secretary receptionist nurse housekeeper cleaner assistant librarian teacher attendant cashier"
    " clerk baker"
)
# (male, female) by the slot of a template
PRONOUNS = {"they": ("he", "she"), "them": ("him", "her"), "their": ("his", "her")}

MEETINGS = _words("called asked visited paid thanked followed met phoned greeted joined")
# Clues to which of the two is meant, by sense alone: the one who acts needs something, the other
# has it. The first clue of a list is the weakest, the last the strongest.
OF_THE_FIRST = (
    "{they} wanted a change",
    "{they} had a free day",
    "{they} felt tired",
    "{they} was in a hurry",
    "{they} had no time left",
    "{they} needed some advice",
    "{they} was lost in town",
    "{they} hoped for a favour",
)
OF_THE_SECOND = (
    "{they} lived nearby",
    "{they} had a spare key",
    "{they} spoke five languages",
    "{they} was never late",
    "{they} owned a van",
    "{they} knew the way",
    "{they} gave good advice",
    "{they} could repair it",
)
SENSE = "the {one} {meeting} the {other} because {clue}"
# How often the weakest and the strongest is right in documents to learn from
SENSE_TRUST, SYNTAX_TRUST = (0.65, 0.97), (0.8, 0.97)
# Here the syntax decides: a pronoun that is no reflexive is not the subject of its own clause.
SYNTAX_FIRST = (
    "the {one} {meeting} the {other} on {their} way home",
    "the {one} {meeting} the {other} with {their} own phone",
    "the {one} {meeting} the {other} after {their} own dinner",
)
SYNTAX_SECOND = (
    "the {one} {meeting} the {other} and wished {them} luck",
    "the {one} {meeting} the {other} and told {them} the news",
    "the {one} {meeting} the {other} and gave {them} a lift",
)


class Wording(NamedTuple):
    """A sentence without its occupations: whether the pronoun means the ``first`` of them, and how
    often it does so in documents to learn from (``trust``). ``subset`` as in WinoBias: in ``type1``
    sense alone decides, in ``type2`` the syntax.
    """

    text: str
    first: bool
    trust: float
    subset: str


def list_wordings() -> list[Wording]:
    """All of them; as many for the first as for the second occupation."""
    of_sense = [
        [SENSE.replace("{clue}", clue) for clue in clues] for clues in (OF_THE_FIRST, OF_THE_SECOND)
    ]
    kinds = (
        ("type1", SENSE_TRUST, of_sense),
        ("type2", SYNTAX_TRUST, (SYNTAX_FIRST, SYNTAX_SECOND)),
    )
    return [
        Wording(text, place == 0, trust, subset)
        for subset, ends, sides in kinds
        for place, texts in enumerate(sides)
        for text, trust in zip(texts, np.linspace(*ends, len(texts)).tolist(), strict=True)
    ]


def rank_strengths() -> dict[str, float]:
    """How far each occupation leans: 1 the most, .5 the least male, -1 and -.5 female.

    Evenly spread, in the order of the percentages of women, so that both genders are equally
    frequent over all.
    """
    known = load_percentages()
    found: dict[str, float] = {}
    for words, sign in ((MALE, 1), (FEMALE, -1)):
        ranked = sorted(words, key=lambda word: -sign * known[word])
        for rank, word in enumerate(ranked):
            found[word] = sign * (1 + rank / (len(ranked) - 1)) / 2
    return found
