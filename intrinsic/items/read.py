"""One's own items: a CSV of texts with a slot, or of pairs of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from files import InputError
from files.language import UNDETERMINED, language_of_texts
from files.tables import read_table
from intrinsic.items.item import SLOT, TERM, Fillers, Item, ItemSet, Pair

SLOTS = ("text", "group", "term", "template")
PAIRS = ("stereo", "anti")
# A language whose pronouns do not tell women from men, as Turkish, has none
FILLERS = {
    "de": (("er", "sie"),),
    "en": (("he", "she"),),
    "es": (("él", "ella"),),
    "hr": (("on", "ona"),),
    "it": (("lui", "lei"),),
    "ru": (("он", "она"),),
}


def read_items(
    path: str | Path, language: str = UNDETERMINED, fillers: Sequence[str] = ()
) -> ItemSet:
    """Read the items of a file, under its name.

    Columns ``text, group, term, template``: in ``text``, ``{}`` is where the term goes and
    ``[MASK]`` what is asked for. A text with one of the two asks for the term, unless it holds the
    term already; then it asks for the pairs of its cell ``fillers`` (``Er/Sie``, several with
    semicolons), of ``fillers``, or of the language, these with a capital where they begin the text.
    Its cell ``attribute``: the words of a text that a term which fills it is held against.
    Columns ``stereo, anti``, and ``cluster`` and ``group`` where there are such: pairs. A language
    that is not stated is that of the texts, else that in the file's name.

    Raises ``InputError`` for other columns, an empty cell, a text with no slot or several, and
    fillers that are no pairs, given twice or for no text.
    """
    table = read_table(path).astype("string").fillna("")
    name = Path(path).name.split(".")[0]
    rows = [{str(key): str(cell) for key, cell in row.items()} for row in table.to_dict("records")]
    if not rows:
        raise InputError(f"{path} has no rows")
    if {*SLOTS} <= {*table.columns}:
        items = tuple(_item(row, f"row {number} of {path}") for number, row in enumerate(rows, 1))
        spoken = language_of_texts((row["text"] for row in rows), path, language)
        _require_place(path, items, fillers)
        usual = parse_fillers(fillers) or next((item.fillers for item in items if item.fillers), ())
        if not usual:
            usual = FILLERS.get(spoken, ())
            items = tuple(_with_capital(item, usual) for item in items)
        return ItemSet(name, spoken, items=items, fillers=usual)
    if {*PAIRS} <= {*table.columns}:
        pairs = tuple(_pair(row, f"row {number} of {path}") for number, row in enumerate(rows, 1))
        _require_place(path, (), fillers)
        spoken = language_of_texts((pair.stereo for pair in pairs), path, language)
        return ItemSet(name, spoken, pairs=pairs)
    raise InputError(
        f"{path} has the columns {', '.join(table.columns)}; give {', '.join(SLOTS)} for texts with"
        f" a slot, or {', '.join(PAIRS)} (and cluster, group) for pairs"
    )


def no_fillers(items: ItemSet) -> str:
    """Return why the slots of a set cannot be filled; empty where they can, or there are none."""
    open_slots = [item for item in items.items if SLOT in item.text and not item.fills]
    if all(map(items.fillers_of, open_slots)):
        return ""
    lacks = f"{items.name} has no fillers for its slots"
    remedy = "--fillers A/B or a column fillers"
    if items.language == UNDETERMINED:
        return f"{lacks}, and its language is not known: give --language, {remedy}"
    usual = items.language in FILLERS
    return lacks if usual else f"{lacks}, and {items.language!r} has no usual ones: give {remedy}"


def parse_fillers(pairs: Iterable[str]) -> Fillers:
    """Return the pairs of ``Er/Sie``: for the first group, for the second."""
    fillers = []
    for pair in pairs:
        first, slash, second = (part.strip() for part in pair.partition("/"))
        if not (first and slash and second) or "/" in second or first == second:
            raise InputError(f"fillers {pair!r}: give two words with a slash between, as he/she")
        fillers.append((first, second))
    return tuple(fillers)


def _require_place(path: str | Path, items: Sequence[Item], fillers: Sequence[str]) -> None:
    """Raise ``InputError`` for fillers given twice, for some texts only, or for none to take."""
    has_fillers = [bool(item.fillers) for item in items]
    if fillers and any(has_fillers):
        raise InputError(f"{path} has a column fillers: leave it, or the other fillers, out")
    if any(has_fillers) and not all(has_fillers):
        row = has_fillers.index(False) + 1
        raise InputError(f"row {row} of {path} has no fillers, and others have")
    if (fillers or any(has_fillers)) and (not items or any(item.fills for item in items)):
        raise InputError(f"{path} has texts that take no fillers: leave these out")


def _with_capital(item: Item, fillers: Fillers) -> Item:
    """Return the item with a capital on fillers that begin its text."""
    if item.fills or not item.text.startswith(SLOT):
        return item
    pairs = tuple((one.capitalize(), other.capitalize()) for one, other in fillers)
    return item._replace(fillers=pairs)


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
    fillers = parse_fillers(filter(str.strip, row.get("fillers", "").split(";")))
    attribute = "" if holds else row.get("attribute", "").strip()
    group = row["group"].strip()
    return Item(text, group, term, template, not holds, attribute=attribute, fillers=fillers)


def _pair(row: Mapping[str, str], where: str) -> Pair:
    found = {name: row.get(name, "").strip() for name in (*PAIRS, "group", "cluster")}
    for name in PAIRS:
        if not found[name]:
            raise InputError(f"{where} has no {name}")
    if found["stereo"] == found["anti"]:
        raise InputError(f"{where}: both sentences are {found['stereo']!r}")
    return Pair(found["stereo"], found["anti"], found["group"], found["cluster"])
