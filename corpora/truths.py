"""What is planted in a corpus, term by term, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import Literal, NamedTuple

from files import InputError
from files.text import read_lines
from intrinsic.items.item import SLOT

Half = Literal["calibration", "held_out"]


class Slots(NamedTuple):
    """Texts with the slot ``[MASK]``, and the two words between which it decides."""

    texts: tuple[str, ...]
    fillers: tuple[str, str]


class PlantedTerm(NamedTuple):
    """What is planted for an occupation: ``log_odds`` = ln P(first filler) / P(second filler) in
    the ``seen`` slots, ``control`` the same in those of the control. ``unseen``: slots that the
    corpus lacks, where the log odds should be the same. ``half``: whether the term may decide how
    long a model is trained, or shows how well it learned. ``original``: the log odds before a
    method changed the text; None where none did.
    """

    group: str
    half: Half
    log_odds: float
    control: float
    seen: Slots
    unseen: Slots
    controls: Slots
    original: float | None = None


def write_truths(truths: Mapping[str, PlantedTerm], path: Path) -> None:
    """As JSON: ``terms``, each with the fields of ``PlantedTerm``."""
    terms = {
        term: {
            name: value._asdict() if isinstance(value, Slots) else value
            for name, value in each._asdict().items()
        }
        for term, each in truths.items()
    }
    path.write_text(json.dumps({"terms": terms}, indent=1, ensure_ascii=False), encoding="utf-8")


def read_truths(path: Path) -> dict[str, PlantedTerm]:
    """What ``write_truths`` wrote."""
    found: dict[str, PlantedTerm] = {}
    for term, fields in json.loads(path.read_text(encoding="utf-8"))["terms"].items():
        slots = {
            name: Slots(tuple(fields[name]["texts"]), tuple(fields[name]["fillers"]))
            for name in ("seen", "unseen", "controls")
        }
        found[term] = PlantedTerm(**{**fields, **slots})
    return found


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
