"""Planted bias of a corpus by term, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

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
