"""Planted bias of a corpus by term: its file, and a recount after a method changed the text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import Literal, NamedTuple

from biasbridge.files import InputError
from biasbridge.files.text import read_lines
from biasbridge.intrinsic.models.items import SLOT

Half = Literal["calibration", "held_out"]


class Slots(NamedTuple):
    """Texts with the slot ``[MASK]``, and the two words that can fill it."""

    texts: tuple[str, ...]
    fillers: tuple[str, str]


class PlantedTerm(NamedTuple):
    """Planted bias of an occupation: ``log_odds`` = ln P(first filler) / P(second filler) in the
    ``seen`` slots, ``control`` the same in the ``controls`` slots. ``unseen``: slots absent from
    the corpus that should have the same log odds. ``half``: whether the term decides how long a
    model is trained (``calibration``) or tests what it learned. ``original``: log odds before a
    method changed the text, or None.
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
    """Write JSON: ``terms``, each with the fields of ``PlantedTerm``."""
    terms = {
        term: {
            name: value._asdict() if isinstance(value, Slots) else value
            for name, value in truth._asdict().items()
        }
        for term, truth in truths.items()
    }
    path.write_text(json.dumps({"terms": terms}, indent=1, ensure_ascii=False), encoding="utf-8")


def read_truths(path: Path) -> dict[str, PlantedTerm]:
    """Read a file of ``write_truths``."""
    truths: dict[str, PlantedTerm] = {}
    for term, fields in json.loads(path.read_text(encoding="utf-8"))["terms"].items():
        slots = {
            name: Slots(tuple(fields[name]["texts"]), tuple(fields[name]["fillers"]))
            for name in ("seen", "unseen", "controls")
        }
        truths[term] = PlantedTerm(**{**fields, **slots})
    return truths


def recount_truths(truths: Mapping[str, PlantedTerm], corpus: Path) -> dict[str, PlantedTerm]:
    """Return the log odds after a method changed the text, counted in each term's lines."""
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
