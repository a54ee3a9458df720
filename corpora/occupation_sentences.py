"""Sentences of the synthetic world in which a pronoun means one of two occupations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpora import occupation_grammar as grammar
from corpora.draws import Floats, draw_quota, draw_share, pick

if TYPE_CHECKING:
    from files.documents import Span

SENSE_SHARE = 0.5  # of the sentences; in the others syntax decides
Truths = NDArray[np.bool_]
Numbers = NDArray[np.intp]


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
    slots |= {f"{{{slot}}}": forms[female] for slot, forms in grammar.PRONOUNS.items()}
    template = wording.split()
    places = [template.index(slot) for slot in ("{one}", "{other}")]
    pronoun = next(i for i, token in enumerate(template) if token.strip("{}") in grammar.PRONOUNS)
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
    every, size = grammar.list_wordings(), len(pairs)
    wording = _wordings([each.subset == "type1" for each in every], size, rng)
    trusted = _within(wording, np.array([each.trust for each in every]), rng)
    first = np.array([each.first for each in every])[wording] == trusted
    male_first = draw_share(0.5, size, rng)
    female = _genders(pairs, first == male_first, skew, rng)
    meetings = pick(grammar.MEETINGS, size, rng)
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
    strengths = grammar.rank_strengths()
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
