"""What is planted in a corpus whose text a method has changed."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from files import InputError
from files.text import read_lines
from intrinsic.items.item import SLOT

if TYPE_CHECKING:
    from corpora.truths import PlantedTerm, Slots


def recount(truths: Mapping[str, PlantedTerm], corpus: Path) -> dict[str, PlantedTerm]:
    """What a corpus holds after a method changed its text, by a count of the lines in which either
    filler stands in a term's slots; ``original`` is what it held before.

    Raises ``InputError`` where a filler is in none of them: the log odds are infinite.
    """
    slots = [each for term in truths.values() for each in (term.seen, term.controls)]
    counts = {line: 0 for each in slots for both in _lines(each) for line in both}
    for line in read_lines(corpus):
        if (line := line.rstrip("\n")) in counts:
            counts[line] += 1

    def log_odds(term: str, slots: Slots) -> float:
        first, second = (sum(map(counts.__getitem__, lines)) for lines in _lines(slots))
        if not first or not second:
            lacking = slots.fillers[0 if not first else 1]
            none = f"{corpus} has no line with {lacking!r} beside {term!r} any more"
            raise InputError(f"{none}, so that no model can learn the odds; lower the dose")
        return log(first / second)

    return {
        name: term._replace(
            log_odds=log_odds(name, term.seen),
            control=log_odds(name, term.controls),
            original=term.log_odds,
        )
        for name, term in truths.items()
    }


def _lines(slots: Slots) -> list[list[str]]:
    """The lines with the first and with the second filler."""
    return [[text.replace(SLOT, word) for text in slots.texts] for word in slots.fillers]
