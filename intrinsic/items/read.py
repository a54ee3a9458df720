"""User-supplied items: a CSV of texts with a slot, or of pairs of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from biasbridge.files import InputError
from biasbridge.files.language import UNDETERMINED, language_of_texts
from biasbridge.files.names import whole_word
from biasbridge.files.tables import read_table
from biasbridge.intrinsic.items.item import SLOT, TERM, Fillers, Item, ItemSet, Pair, with_capital

SLOTS = ("text", "group", "term", "template")
PAIRS = ("stereo", "anti")
# Languages without gendered pronouns, such as Turkish, have none
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

    Columns ``text, group, term, template``: in ``text``, ``{}`` stands for the term and ``[MASK]``
    for the slot. With one of the two, the term fills the slot, unless the text contains the term;
    then the slot is filled with the pairs in column ``fillers`` (``Er/Sie``, several with
    semicolons; ``he/she/they`` for three groups), in ``fillers``, or of the language, capitalised
    at the start of a sentence. Column ``attribute``: the words that a term filling the text is
    compared with. Columns ``stereo, anti`` and optionally ``cluster`` and ``group``: pairs. The
    default language is that of the texts, else that in the file's name.

    Raises ``InputError`` for other columns, an empty cell, a text with no slot or several, and
    fillers that are not pairs, given twice or without a text to fill.
    """
    table = read_table(path).astype("string").fillna("")
    name = Path(path).name.split(".")[0]
    rows = [{str(key): str(cell) for key, cell in row.items()} for row in table.to_dict("records")]
    if not rows:
        raise InputError(f"{path} has no rows")
    if {*SLOTS} <= {*table.columns}:
        items = tuple(_item(row, f"row {n} of {path}") for n, row in enumerate(rows, 1))
        text_language = language_of_texts((row["text"] for row in rows), path, language)
        _check_fillers(path, items, fillers)
        default = parse_fillers(fillers) or next(
            (item.fillers for item in items if item.fillers), ()
        )
        default = default or FILLERS.get(text_language, ())
        items = tuple(with_capital(item, item.fillers or default) for item in items)
        return ItemSet(name, text_language, items=items, fillers=default)
    if {*PAIRS} <= {*table.columns}:
        pairs = tuple(_pair(row, f"row {n} of {path}") for n, row in enumerate(rows, 1))
        _check_fillers(path, (), fillers)
        text_language = language_of_texts((pair.stereo for pair in pairs), path, language)
        return ItemSet(name, text_language, pairs=pairs)
    raise InputError(
        f"{path} has the columns {', '.join(table.columns)}; give {', '.join(SLOTS)} for texts with"
        f" a slot, or {', '.join(PAIRS)} (and cluster, group) for pairs"
    )


def no_fillers(items: ItemSet) -> str:
    """Return why the slots of a set cannot be filled; empty if they can, or there are none."""
    open_slots = [item for item in items.items if SLOT in item.text and not item.fills]
    if all(map(items.fillers_of, open_slots)):
        return ""
    problem = f"{items.name} has no fillers for its slots"
    remedy = "--fillers A/B or a column fillers"
    if items.language == UNDETERMINED:
        return f"{problem}, and its language is unknown: give --language, {remedy}"
    if items.language in FILLERS:
        return problem
    return f"{problem}, and {items.language!r} has no default ones: give {remedy}"


def parse_fillers(pairs: Sequence[str]) -> Fillers:
    """Parse fillers such as ``Er/Sie``: a word for each group."""
    fillers: list[tuple[str, ...]] = []
    for pair in pairs:
        words = tuple(word.strip() for word in pair.split("/"))
        if len(words) < 2 or not all(words) or len({*words}) < len(words):
            raise InputError(
                f"fillers {pair!r}: give two words with a slash between, as he/she, or more"
            )
        fillers.append(words)
    if len({*map(len, fillers)}) > 1:
        raise InputError(f"fillers {', '.join(pairs)}: give a word for every group in each")
    return tuple(fillers)


def _check_fillers(path: str | Path, items: Sequence[Item], fillers: Sequence[str]) -> None:
    """Raise ``InputError`` for fillers given twice, for some texts only, or without a slot."""
    has_fillers = [bool(item.fillers) for item in items]
    if fillers and any(has_fillers):
        raise InputError(f"{path} has a column fillers: remove it or the other fillers")
    if any(has_fillers) and not all(has_fillers):
        row = has_fillers.index(False) + 1
        raise InputError(f"row {row} of {path} has no fillers, but other rows have")
    sizes = [len(words) for item in items for words in item.fillers[:1]]
    if row := next((n for n, size in enumerate(sizes, 1) if size != sizes[0]), 0):
        raise InputError(f"row {row} of {path} has {sizes[row - 1]} fillers, row 1 {sizes[0]}")
    if (fillers or any(has_fillers)) and (not items or any(item.fills for item in items)):
        raise InputError(f"{path} has texts without a slot for fillers: remove the fillers")


def _item(row: Mapping[str, str], where: str) -> Item:
    text, term = row["text"].strip(), row["term"].strip()
    for name in ("text", "group", "term"):
        if not row[name].strip():
            raise InputError(f"{where} has no {name}")
    slots, terms = text.count(SLOT), text.count(TERM)
    if slots > 1 or terms > 1 or not slots + terms:
        raise InputError(f"{where}: {text!r} needs one slot, {SLOT} or {TERM}, or one of each")
    pattern = whole_word(term)
    template = row["template"].strip() or pattern.sub(TERM, text)
    if slots and terms:
        has_term, text = True, text.replace(TERM, term)
    else:
        has_term, text = bool(pattern.search(text)), text.replace(TERM, SLOT)
    fillers = parse_fillers([*filter(str.strip, row.get("fillers", "").split(";"))])
    attribute = "" if has_term else row.get("attribute", "").strip()
    group = row["group"].strip()
    return Item(text, group, term, template, not has_term, attribute=attribute, fillers=fillers)


def _pair(row: Mapping[str, str], where: str) -> Pair:
    cells = {name: row.get(name, "").strip() for name in (*PAIRS, "group", "cluster")}
    for name in PAIRS:
        if not cells[name]:
            raise InputError(f"{where} has no {name}")
    if cells["stereo"] == cells["anti"]:
        raise InputError(f"{where}: both sentences are {cells['stereo']!r}")
    return Pair(cells["stereo"], cells["anti"], cells["group"], cells["cluster"])
