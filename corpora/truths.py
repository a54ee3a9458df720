"""What is planted in a corpus, term by term, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

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
