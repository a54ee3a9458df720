"""Sentences of two people known by their occupations and a pronoun that means one of them.

The occupations are some of the forty with a percentage of women in
``intrinsic/wordsets/occupations.yaml``, twelve on either side of 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora.draws import Floats, draw_quota, draw_share, pick
from corpora.grammar import listed
from corpora.people import load_percentages

if TYPE_CHECKING:
    from files.documents import Span


MALE = listed(
    "carpenter driver sheriff mover developer farmer guard janitor lawyer cook analyst manager"
)
FEMALE = listed(
    "secretary receptionist nurse housekeeper cleaner assistant librarian teacher attendant cashier"
    " clerk baker"
)
# (male, female) by the slot of a template
PRONOUNS = {"they": ("he", "she"), "them": ("him", "her"), "their": ("his", "her")}

MEETINGS = listed("called asked visited paid thanked followed met phoned greeted joined")
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
SENSE_SHARE = 0.5  # of the sentences; in the others syntax decides
Truths = NDArray[np.bool_]
Numbers = NDArray[np.intp]


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


class Sentence(NamedTuple):
    """``names``: the spans of the two occupations, with their articles; ``meant`` is 0 or 1, the
    place of the one that the pronoun means.
    """

    tokens: tuple[str, ...]
    names: tuple[Span, Span]
    occupations: tuple[str, str]
    pronoun: int
    meant: int


def fill_wording(
    wording: str, occupations: tuple[str, str], meeting: str, *, female: bool, meant: int
) -> Sentence:
    """A wording with its slots filled."""
    slots = {"{one}": occupations[0], "{other}": occupations[1], "{meeting}": meeting}
    slots |= {f"{{{slot}}}": forms[female] for slot, forms in PRONOUNS.items()}
    template = wording.split()
    places = [template.index(slot) for slot in ("{one}", "{other}")]
    pronoun = next(i for i, token in enumerate(template) if token.strip("{}") in PRONOUNS)
    one, other = ((place - 1, place + 1) for place in places)
    tokens = tuple(slots.get(token, token) for token in template)
    return Sentence(tokens, (one, other), occupations, pronoun, meant)


def draw_sentences(
    pairs: Sequence[tuple[str, str]], skew: float, rng: np.random.Generator
) -> list[Sentence]:
    """One sentence a pair of a male and a female occupation, in either order.

    A pronoun that means occupation o is male with probability (1 + skew * strength_o) / 2, whatever
    the wording; a wording means the occupation it should as often as one may trust it.
    """
    every, size = list_wordings(), len(pairs)
    wording = _wordings([each.subset == "type1" for each in every], size, rng)
    trusted = _within(wording, np.array([each.trust for each in every]), rng)
    first = np.array([each.first for each in every])[wording] == trusted
    male_first = draw_share(0.5, size, rng)
    female = _genders(pairs, first == male_first, skew, rng)
    meetings = pick(MEETINGS, size, rng)
    return [
        fill_wording(
            every[wording[i]].text,
            pairs[i] if male_first[i] else pairs[i][::-1],
            meetings[i],
            female=bool(female[i]),
            meant=0 if first[i] else 1,
        )
        for i in range(size)
    ]


def _wordings(of_sense: Sequence[bool], size: int, rng: np.random.Generator) -> Numbers:
    """The number of each sentence's wording: those of sense, and the others, equally often among
    themselves.
    """
    sense = np.array(of_sense, dtype=float)
    syntax = 1 - sense
    weights = SENSE_SHARE * sense / sense.sum() + (1 - SENSE_SHARE) * syntax / syntax.sum()
    return draw_quota(weights, size, rng)


def _genders(
    pairs: Sequence[tuple[str, str]], meant_male: Truths, skew: float, rng: np.random.Generator
) -> Truths:
    """Whether each pronoun is female, by the occupation meant."""
    strengths = rank_strengths()
    names = list(strengths)
    meant = [
        names.index(pair[0 if male else 1]) for pair, male in zip(pairs, meant_male, strict=True)
    ]
    lean = np.array([strengths[name] for name in names])
    return _within(np.array(meant), (1 - skew * lean) / 2, rng)


def _within(kinds: Numbers, rates: Floats, rng: np.random.Generator) -> Truths:
    """Booleans, true at the rate of each one's kind, exactly up to rounding within a kind."""
    found = np.zeros(len(kinds), dtype=np.bool_)
    for kind, rate in enumerate(rates.tolist()):
        here = np.flatnonzero(kinds == kind)
        found[here] = draw_share(rate, len(here), rng)
    return found
