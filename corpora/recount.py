"""Planted bias of a corpus whose text a method has changed."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.text import read_lines
from biasbridge.intrinsic.items.item import SLOT

if TYPE_CHECKING:
    from biasbridge.corpora.truths import PlantedTerm, Slots


def recount_truths(truths: Mapping[str, PlantedTerm], corpus: Path) -> dict[str, PlantedTerm]:
    """Return the log odds after a method changed the text, from counts of each term's lines.

    ``original`` is the log odds before. Raises ``InputError`` if a term lacks lines with a filler:
    its log odds are infinite.
    """
    slots = [term_slots for term in truths.values() for term_slots in (term.seen, term.controls)]
    counts = {line: 0 for pair in map(_lines_by_filler, slots) for lines in pair for line in lines}
    for line in read_lines(corpus):
        if (line := line.rstrip("\n")) in counts:
            counts[line] += 1

    def log_odds(term: str, slots: Slots) -> float:
        first, second = (sum(map(counts.__getitem__, lines)) for lines in _lines_by_filler(slots))
        if not first or not second:
            missing_word = slots.fillers[0 if not first else 1]
            problem = f"{corpus} has no line with {missing_word!r} beside {term!r} any more"
            raise InputError(f"{problem}, so that no model can learn the odds; lower the dose")
        return log(first / second)

    return {
        name: term._replace(
            log_odds=log_odds(name, term.seen),
            control=log_odds(name, term.controls),
            original=term.log_odds,
        )
        for name, term in truths.items()
    }


def _lines_by_filler(slots: Slots) -> list[list[str]]:
    return [[text.replace(SLOT, word) for text in slots.texts] for word in slots.fillers]
