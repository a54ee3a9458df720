r"""A synthetic world of occupations with a planted association to pronouns, for language models.

Never evidence about the real world. Items, in ``intrinsic/itemsets/occupations.yaml``:
``occupations``, which make up the corpus; ``occupations_unseen``, with templates that are not in
the corpus; and ``occupations_control``; in Spanish ``occupations_es`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import floor, log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from biasbridge.corpora.truths import Half, PlantedTerm, Slots
from biasbridge.corpora.world import Bias, write_lines
from biasbridge.files import choice
from biasbridge.files.choice import FieldError, Fileless
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.models.items import SLOT, load_items

if TYPE_CHECKING:
    from biasbridge.intrinsic.models.items import ItemSet

Language = Literal["en", "es"]

_LEAN = 0.9  # largest lean of an occupation
PRONOUNS, DRINKS = 0.55, 0.4  # shares of the lines; all others are neutral
ITEMS = {"en": "occupations", "es": "occupations_es"}
_HELD_OUT = "occupations_held_out"
# Words of the templates in other contexts, so that an occupation is not in every line
_NEUTRAL = {
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
    r"""An unlabelled corpus of about ``sentences`` lines in which an occupation o has a pronoun,

        P(first pronoun | o) = (1 + stereotype * lean_o) / 2,    stereotype in [-1, 1]

    lean_o is positive for occupations of the first group (male), negative for those of the second;
    its magnitudes are evenly spaced up to .9 within a group and permuted by the seed. Stereotype 0
    is unbiased, negative is the reverse of the stereotype. All occupations and all templates of an
    occupation are equally frequent; counts of pronouns are rounded quotas, so the planted
    proportions hold exactly in the corpus.

    Control: in 4 of 10 lines an occupation occurs with one of two drinks in the same way, always
    with strength 1; these leans have signs independent of the group. A model that has not learned
    them has not learned associations of occupations, whatever its pronouns. ``off_target`` makes
    the drinks a stereotype: at 1 occupations of the first group go with the first drink, at -1 with
    the second; between, a lean is interpolated.

    ``held_out``: without the occupations of the items ``occupations_held_out`` (English only), in
    which nothing is planted then.
    """

    sentences: Annotated[int, Ge(4_000)] = 20_000  # fewer cannot hold the planted proportions
    stereotype: Bias = 1.0
    world: Language = "en"
    off_target: Bias = 0.0
    held_out: bool = False

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    unkeyed: ClassVar[tuple[str, ...]] = ("held_out",)  # see keyed

    @property
    def name(self) -> str:
        """``planted_occupations``, with the language unless it is English."""
        return f"planted_{ITEMS[self.world]}"

    @property
    def language(self) -> str:
        """Language of the world."""
        return self.world

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words of the world."""
        itemsets = [itemset.key_fields() for itemset in self._item_sets()]
        held_out = {"held_out": self._held_out} if self.held_out else {}
        return {"words": digest_of([_NEUTRAL[self.world], *itemsets]), **held_out}

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``, ``sentences`` and, unless it is 0, ``off_target``."""
        off_target = {"off_target": self.off_target} if self.off_target else {}
        return {"stereotype": self.stereotype, "sentences": self.sentences, **off_target}

    def unplanted(self) -> PlantedOccupations:
        """Return the same corpus with neither stereotype."""
        return replace(self, stereotype=0.0, off_target=0.0)

    def truths(self, *, seed: int) -> dict[str, PlantedTerm]:
        """Return the planted bias by occupation; half of each group is for calibration."""
        slots = [_slots_by_term(itemset) for itemset in self._item_sets()]
        rng = np.random.default_rng([seed, 1])
        truths: dict[str, PlantedTerm] = {}
        counts, controls = self._counts(seed)
        for group, terms in _terms_by_group(self._item_sets()[0]).items():
            calibrating = {*rng.permutation(terms)[: len(terms) // 2].tolist()}
            for term in terms:
                half: Half = "calibration" if term in calibrating else "held_out"
                odds = _log_odds(*counts[term]), _log_odds(*controls[term])
                term_slots = (slots[0][term], slots[1][term], slots[2][term])
                truths[term] = PlantedTerm(group, half, *odds, *term_slots)
        return truths

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus as ``write_lines`` does."""
        pronoun_items, _, control_items = self._item_sets()
        counts, controls = self._counts(seed)
        lines = [*_lines(pronoun_items, counts), *_lines(control_items, controls)]
        neutral = _NEUTRAL[self.world]
        lines += [neutral[i % len(neutral)] for i in range(self.sentences - len(lines))]
        order = np.random.default_rng([seed, 2]).permutation(len(lines))
        return write_lines((lines[i] for i in order), out)

    def __post_init__(self) -> None:
        if self.held_out and self.world != "en":
            raise FieldError(f"held_out=true: no occupations are held out in world={self.world}")

    @property
    def _held_out(self) -> list[str]:
        [itemset] = load_items([_HELD_OUT])
        return sorted({item.term for item in itemset.items})

    def _item_sets(self) -> list[ItemSet]:
        """Return seen, unseen and control items."""
        name = ITEMS[self.world]
        itemsets = load_items([name, f"{name}_unseen", f"{name}_control"])
        left_out = self._held_out if self.held_out else []
        return [
            replace(itemset, items=tuple(x for x in itemset.items if x.term not in left_out))
            for itemset in itemsets
        ]

    def _counts(self, seed: int) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
        """Return counts of the first and second pronoun, and drink, by occupation."""
        rng = np.random.default_rng([seed, 0])
        leans: dict[str, float] = {}
        controls: dict[str, float] = {}
        for number, terms in enumerate(_terms_by_group(self._item_sets()[0]).values()):
            magnitudes = _LEAN * np.arange(1, len(terms) + 1) / len(terms)
            signed = magnitudes if number == 0 else -magnitudes
            leans |= zip(terms, rng.permutation(signed).tolist(), strict=True)
            by_group = self.off_target * (1 if number == 0 else -1)
            independent = 1 - abs(self.off_target)
            signs = by_group + independent * np.where(np.arange(len(terms)) % 2, -1, 1)
            controls |= zip(terms, rng.permutation(magnitudes * signs).tolist(), strict=True)
        n_pronouns, n_drinks = (
            2 * floor(share * self.sentences / len(leans) / 2) for share in (PRONOUNS, DRINKS)
        )
        return (
            {term: _quota(n_pronouns, self.stereotype * lean) for term, lean in leans.items()},
            {term: _quota(n_drinks, lean) for term, lean in controls.items()},
        )


def _terms_by_group(items: ItemSet) -> dict[str, list[str]]:
    return {
        group: list(dict.fromkeys(item.term for item in group_items))
        for group, group_items in items.by_group().items()
    }


def _slots_by_term(items: ItemSet) -> dict[str, Slots]:
    texts: dict[str, list[str]] = {}
    for item in items.items:
        texts.setdefault(item.term, []).append(item.text)
    first, second = items.fillers[0]
    return {term: Slots(tuple(term_texts), (first, second)) for term, term_texts in texts.items()}


def _quota(size: int, lean: float) -> tuple[int, int]:
    """Return how many of ``size`` lines have the first and the second filler."""
    first = round(size * (1 + lean) / 2)
    return first, size - first


def _log_odds(first: int, second: int) -> float:
    return log(first / second)


def _lines(items: ItemSet, counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Yield the lines of every term: templates in rotation, fillers spread evenly over them."""
    for term, (texts, fillers) in _slots_by_term(items).items():
        first, second = counts[term]
        size = first + second
        numbers = sorted(range(size), key=lambda number: (number % len(texts), number))
        for rank, number in enumerate(numbers):
            is_first = (rank + 1) * first // size > rank * first // size
            yield texts[number % len(texts)].replace(SLOT, fillers[0 if is_first else 1])
