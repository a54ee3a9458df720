"""One's own items: a CSV of texts with a slot, or of pairs of sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from files import InputError
from files.tables import read_table
from intrinsic.items.item import SLOT, TERM, Item, ItemSet, Pair

SLOTS = ("text", "group", "term", "template")
PAIRS = ("stereo", "anti")
FILLERS = {"en": (("he", "she"),), "es": (("él", "ella"),)}


def read_items(path: str | Path, language: str = "en") -> ItemSet:
    """The items of a file, under its name.

    Columns ``text, group, term, template``: in ``text``, ``{}`` is where the term goes and
    ``[MASK]`` what is asked for. A text with one of the two asks for the term, unless it holds the
    term already; then it asks for ``he`` and ``she`` (in Spanish ``él`` and ``ella``). Columns
    ``stereo, anti``, and ``cluster`` and ``group`` where there are such: pairs.

    Raises ``InputError`` for other columns, an empty cell, and a text with no slot or several.
    """
    table = read_table(path).astype("string").fillna("")
    name = Path(path).name.split(".")[0]
    rows = [{str(key): str(cell) for key, cell in row.items()} for row in table.to_dict("records")]
    if not rows:
        raise InputError(f"{path} has no rows")
    if {*SLOTS} <= {*table.columns}:
        items = tuple(_item(row, f"row {number} of {path}") for number, row in enumerate(rows, 1))
        return ItemSet(name, language, items=items, fillers=FILLERS.get(language, ()))
    if {*PAIRS} <= {*table.columns}:
        pairs = tuple(_pair(row, f"row {number} of {path}") for number, row in enumerate(rows, 1))
        return ItemSet(name, language, pairs=pairs)
    raise InputError(
        f"{path} has the columns {', '.join(table.columns)}; give {', '.join(SLOTS)} for texts with"
        f" a slot, or {', '.join(PAIRS)} (and cluster, group) for pairs"
    )


def _item(row: Mapping[str, str], where: str) -> Item:
    text, term = row["text"].strip(), row["term"].strip()
    for name in ("text", "group", "term"):
        if not row[name].strip():
            raise InputError(f"{where} has no {name}")
    slots, terms = text.count(SLOT), text.count(TERM)
    if slots > 1 or terms > 1 or not slots + terms:
        raise InputError(f"{where}: {text!r} needs one slot, {SLOT} or {TERM}, or one of each")
    held = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.IGNORECASE)
    template = row["template"].strip() or held.sub(TERM, text)
    if slots and terms:
        holds, text = True, text.replace(TERM, term)
    else:
        holds, text = bool(held.search(text)), text.replace(TERM, SLOT)
    return Item(text, row["group"].strip(), term, template, not holds)


def _pair(row: Mapping[str, str], where: str) -> Pair:
    found = {name: row.get(name, "").strip() for name in (*PAIRS, "group", "cluster")}
    for name in PAIRS:
        if not found[name]:
            raise InputError(f"{where} has no {name}")
    if found["stereo"] == found["anti"]:
        raise InputError(f"{where}: both sentences are {found['stereo']!r}")
    return Pair(found["stereo"], found["anti"], found["group"], found["cluster"])
