"""Sentences with two occupations and a pronoun that refers to one of them.

The occupations are some of the forty with a percentage of women in
``intrinsic/wordsets/occupations.yaml``, twelve on either side of 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.corpora.draws import draw_quota, draw_share, pick
from biasbridge.corpora.grammar import split_words
from biasbridge.corpora.people import load_percentages

if TYPE_CHECKING:
    from biasbridge.files.documents import Span
    from biasbridge.stats.arrays import Floats


MALE = split_words(
    "carpenter driver sheriff mover developer farmer guard janitor lawyer cook analyst manager"
)
FEMALE = split_words(
    "secretary receptionist nurse housekeeper cleaner assistant librarian teacher attendant cashier"
    " clerk baker"
)
# (male, female) by the slot of a template
PRONOUNS = {"they": ("he", "she"), "them": ("him", "her"), "their": ("his", "her")}

MEETINGS = split_words("called asked visited paid thanked followed met phoned greeted joined")
# Semantic clues to the antecedent: the agent needs something, the other person has it. The first
# clue of a list is the weakest, the last the strongest.
FIRST_CLUES = (
    "{they} wanted a change",
    "{they} had a free day",
    "{they} felt tired",
    "{they} was in a hurry",
    "{they} had no time left",
    "{they} needed some advice",
    "{they} was lost in town",
    "{they} hoped for a favour",
)
SECOND_CLUES = (
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
# How often the weakest and the strongest clue are correct in training documents
SENSE_TRUST, SYNTAX_TRUST = (0.65, 0.97), (0.8, 0.97)
# Syntax decides: a pronoun that is not reflexive cannot refer to the subject of its own clause.
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
SENSE_SHARE = 0.5  # of the sentences; syntax decides in the others
Booleans = NDArray[np.bool_]
Indices = NDArray[np.intp]


class Wording(NamedTuple):
    """A sentence with slots for two occupations: whether the pronoun refers to the first, and
    how often this is so in training documents (``trust``). ``subset`` as in WinoBias: semantics
    decides in ``type1``, syntax in ``type2``.
    """

    text: str
    means_first: bool
    trust: float
    subset: str


def list_wordings() -> list[Wording]:
    """Return all wordings; as many refer to the first occupation as to the second."""
    semantic = [
        [SENSE.replace("{clue}", clue) for clue in clues] for clues in (FIRST_CLUES, SECOND_CLUES)
    ]
    kinds = (
        ("type1", SENSE_TRUST, semantic),
        ("type2", SYNTAX_TRUST, (SYNTAX_FIRST, SYNTAX_SECOND)),
    )
    return [
        Wording(text, antecedent == 0, trust, subset)
        for subset, trust_range, texts_by_antecedent in kinds
        for antecedent, texts in enumerate(texts_by_antecedent)
        for text, trust in zip(texts, np.linspace(*trust_range, len(texts)).tolist(), strict=True)
    ]


def rank_strengths() -> dict[str, float]:
    """Return the strength of each occupation: .5 to 1 for occupations of men, -.5 to -1 of women.

    Strengths are evenly spread in the order of the percentages of women, so that both genders are
    equally frequent overall.
    """
    percentages = load_percentages()
    strengths: dict[str, float] = {}
    for words, sign in ((MALE, 1), (FEMALE, -1)):
        ranked = sorted(words, key=lambda word: -sign * percentages[word])
        for rank, word in enumerate(ranked):
            strengths[word] = sign * (1 + rank / (len(ranked) - 1)) / 2
    return strengths


class Sentence(NamedTuple):
    """A sentence with two occupations and a pronoun.

    ``names``: spans of the occupations with their articles; ``antecedent``: index, 0 or 1, of the
    pronoun's antecedent.
    """

    tokens: tuple[str, ...]
    names: tuple[Span, Span]
    occupations: tuple[str, str]
    pronoun: int
    antecedent: int


def fill_wording(
    wording: str, occupations: tuple[str, str], meeting: str, *, female: bool, antecedent: int
) -> Sentence:
    """Return a wording with its slots filled."""
    slots = {"{one}": occupations[0], "{other}": occupations[1], "{meeting}": meeting}
    slots |= {f"{{{slot}}}": forms[female] for slot, forms in PRONOUNS.items()}
    template = wording.split()
    positions = [template.index(slot) for slot in ("{one}", "{other}")]
    pronoun = next(i for i, token in enumerate(template) if token.strip("{}") in PRONOUNS)
    first, second = ((position - 1, position + 1) for position in positions)
    tokens = tuple(slots.get(token, token) for token in template)
    return Sentence(tokens, (first, second), occupations, pronoun, antecedent)


def draw_sentences(
    pairs: Sequence[tuple[str, str]], skew: float, rng: np.random.Generator
) -> list[Sentence]:
    """Draw one sentence per pair of a male and a female occupation, in either order.

    A pronoun that refers to occupation o is male with probability (1 + skew * strength_o) / 2, in
    every wording; the share of sentences with the antecedent of their wording is its ``trust``.
    """
    wordings, size = list_wordings(), len(pairs)
    wording_indices = _draw_wordings([w.subset == "type1" for w in wordings], size, rng)
    is_trusted = _draw_by_kind(wording_indices, np.array([w.trust for w in wordings]), rng)
    means_first = np.array([w.means_first for w in wordings])[wording_indices] == is_trusted
    male_first = draw_share(0.5, size, rng)
    is_female = _draw_is_female(pairs, means_first == male_first, skew, rng)
    meetings = pick(MEETINGS, size, rng)
    return [
        fill_wording(
            wordings[wording_indices[i]].text,
            pairs[i] if male_first[i] else pairs[i][::-1],
            meetings[i],
            female=bool(is_female[i]),
            antecedent=0 if means_first[i] else 1,
        )
        for i in range(size)
    ]


def _draw_wordings(is_semantic: Sequence[bool], size: int, rng: np.random.Generator) -> Indices:
    """Draw wording indices, equally often among semantic and among syntactic wordings."""
    semantic = np.array(is_semantic, dtype=float)
    syntactic = 1 - semantic
    weights = SENSE_SHARE * semantic / semantic.sum()
    return draw_quota(weights + (1 - SENSE_SHARE) * syntactic / syntactic.sum(), size, rng)


def _draw_is_female(
    pairs: Sequence[tuple[str, str]], means_male: Booleans, skew: float, rng: np.random.Generator
) -> Booleans:
    strengths = rank_strengths()
    names = list(strengths)
    antecedents = [
        names.index(pair[0 if male else 1]) for pair, male in zip(pairs, means_male, strict=True)
    ]
    lean = np.array([strengths[name] for name in names])
    return _draw_by_kind(np.array(antecedents), (1 - skew * lean) / 2, rng)


def _draw_by_kind(kinds: Indices, rates: Floats, rng: np.random.Generator) -> Booleans:
    """Draw booleans, true at the rate of their kind, exactly up to rounding within a kind."""
    draws = np.zeros(len(kinds), dtype=np.bool_)
    for kind, rate in enumerate(rates.tolist()):
        of_kind = np.flatnonzero(kinds == kind)
        draws[of_kind] = draw_share(rate, len(of_kind), rng)
    return draws
