r"""A synthetic world of occupations whose company with a pronoun is known, for language models.

Never evidence about the real world. Items, in ``intrinsic/itemsets/occupations.yaml``:
``occupations``, of which the corpus consists; ``occupations_unseen``, whose templates it lacks; and
``occupations_control``; in Spanish ``occupations_es`` and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import floor, log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from corpora.truths import Half, PlantedTerm, Slots
from corpora.world import Bias
from files import atomic_path, choice
from files.choice import Fileless
from files.digest import digest_of
from intrinsic.items.item import SLOT
from intrinsic.items.library import load_items

if TYPE_CHECKING:
    from intrinsic.items.item import ItemSet

Language = Literal["en", "es"]

LEAN = 0.9  # of the occupation that leans the most
PRONOUNS, DRINKS = 0.55, 0.4  # shares of the lines; the others are neutral
ITEMS = {"en": "occupations", "es": "occupations_es"}
# The words of templates in other company, so that no occupation is in every line
NEUTRAL = {
    "en": (
        "it was late and the music was right",
        "the bus left late because it was winter",
        "they said that it was ready today",
        "they hoped that tea was ready",
        "some coffee was left at home",
        "they felt tired at work",
        "it could stay in winter",
        "they knew when the work was right",
    ),
    "es": (
        "hoy hay más tiempo por la tarde",
        "el tren llegó tarde porque era invierno",
        "nadie dijo que hoy era tarde",
        "todos saben que hay té por la tarde",
        "hay más café en invierno",
        "nadie sabe cuando llegó el tren",
        "todos dijeron que era invierno",
        "el tren puede volver hoy",
    ),
}


@choice
class PlantedOccupations(Fileless):
    r"""An unlabelled corpus of about ``sentences`` lines in which an occupation o meets a pronoun,

        P(first pronoun | o) = (1 + stereotype * lean_o) / 2,    stereotype in [-1, 1]

    lean_o is positive for the occupations of the first group (male), negative for those of the
    second; its magnitudes are evenly spaced up to .9 within a group, and dealt out by the seed. 0
    is unbiased, negative the reverse of the stereotype. All templates of an occupation are equally
    frequent, and all occupations; counts of pronouns are the quotas, rounded, so that the corpus
    holds the truth.

    Control: in 4 of 10 lines an occupation meets one of two drinks in the same way, always with
    strength 1, with leans of their own whose signs are independent of the group. A model that has
    not learned these has learned nothing of what occupations keep company with, whatever it says
    about pronouns.
    """

    sentences: Annotated[int, Ge(4_000)] = 20_000  # fewer cannot hold the planted proportions
    stereotype: Bias = 1.0
    world: Language = "en"

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """``planted_occupations``, and the language unless it is English."""
        return f"planted_{ITEMS[self.world]}"

    @property
    def language(self) -> str:
        """That of the world."""
        return self.world

    def keyed(self) -> Mapping[str, object]:
        """The words that the world is made of."""
        return {
            "words": digest_of([NEUTRAL[self.world], *(each.decisive() for each in self._sets())])
        }

    def planted(self) -> Mapping[str, float]:
        """``stereotype`` and ``sentences``."""
        return {"stereotype": self.stereotype, "sentences": self.sentences}

    def unplanted(self) -> PlantedOccupations:
        """The same with stereotype 0."""
        return replace(self, stereotype=0.0)

    def truths(self, *, seed: int) -> dict[str, PlantedTerm]:
        """What is planted, by occupation; half of each group is for calibration."""
        slots = [_slots(each) for each in self._sets()]
        rng = np.random.default_rng([seed, 1])
        found: dict[str, PlantedTerm] = {}
        counts, controls = self._counts(seed)
        for group, terms in _terms(self._sets()[0]).items():
            calibrating = {*rng.permutation(terms)[: len(terms) // 2].tolist()}
            for term in terms:
                half: Half = "calibration" if term in calibrating else "held_out"
                odds = _log_odds(*counts[term]), _log_odds(*controls[term])
                asked = (slots[0][term], slots[1][term], slots[2][term])
                found[term] = PlantedTerm(group, half, *odds, *asked)
        return found

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus; its counts: lines, tokens, types, unknown (0), dropped (0)."""
        seen, _, control = self._sets()
        counts, controls = self._counts(seed)
        lines = [*_lines(seen, counts), *_lines(control, controls)]
        neutral = NEUTRAL[self.world]
        lines += [neutral[i % len(neutral)] for i in range(self.sentences - len(lines))]
        order = np.random.default_rng([seed, 2]).permutation(len(lines))
        with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
            text.writelines(f"{lines[i]}\n" for i in order)
        words = Counter(word for line in lines for word in line.split(" "))
        sizes = {"lines": len(lines), "tokens": words.total(), "types": len(words)}
        return sizes | {"unknown": 0, "dropped": 0}

    def _sets(self) -> list[ItemSet]:
        """The items seen, unseen and of the control."""
        name = ITEMS[self.world]
        return load_items([name, f"{name}_unseen", f"{name}_control"])

    def _counts(self, seed: int) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
        """How often each occupation meets the first and the second pronoun, and drink."""
        rng = np.random.default_rng([seed, 0])
        leans: dict[str, float] = {}
        controls: dict[str, float] = {}
        for number, terms in enumerate(_terms(self._sets()[0]).values()):
            even = LEAN * np.arange(1, len(terms) + 1) / len(terms)
            leans |= zip(
                terms, rng.permutation(even if number == 0 else -even).tolist(), strict=True
            )
            signs = np.where(np.arange(len(terms)) % 2, -1, 1)
            controls |= zip(terms, rng.permutation(even * signs).tolist(), strict=True)
        lines, drinks = (
            2 * floor(share * self.sentences / len(leans) / 2) for share in (PRONOUNS, DRINKS)
        )
        return (
            {term: _quota(lines, self.stereotype * lean) for term, lean in leans.items()},
            {term: _quota(drinks, lean) for term, lean in controls.items()},
        )


def _terms(items: ItemSet) -> dict[str, list[str]]:
    """The terms of each group, each once."""
    return {
        group: list(dict.fromkeys(item.term for item in found))
        for group, found in items.by_group().items()
    }


def _slots(items: ItemSet) -> dict[str, Slots]:
    """By term, the texts that ask about it."""
    texts: dict[str, list[str]] = {}
    for item in items.items:
        texts.setdefault(item.term, []).append(item.text)
    return {term: Slots(tuple(found), items.fillers[0]) for term, found in texts.items()}


def _quota(size: int, lean: float) -> tuple[int, int]:
    """Of ``size`` lines, those with the first and with the second filler."""
    first = round(size * (1 + lean) / 2)
    return first, size - first


def _log_odds(first: int, second: int) -> float:
    return log(first / second)


def _lines(items: ItemSet, counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """The lines of every term: its templates in turn, the fillers as evenly over them as counts
    allow.
    """
    for term, (texts, fillers) in _slots(items).items():
        first, second = counts[term]
        size = first + second
        places = sorted(range(size), key=lambda number: (number % len(texts), number))
        for rank, number in enumerate(places):
            is_first = (rank + 1) * first // size > rank * first // size
            yield texts[number % len(texts)].replace(SLOT, fillers[0 if is_first else 1])
