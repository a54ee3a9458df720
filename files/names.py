"""Names that are compared with others: groups, clusters, labels, words, keys of vectors."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# Characters of no width, which editors and spreadsheets leave at the ends of cells
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
WHOLE = re.compile(r"([+-]?\d+)\.0+")
# What programs write for an empty cell, in this case: "none" may be a name
MISSING = {"", "NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NaT", "None", "NULL", "null"}
JOINTS = (";", "|", ",", "/", "+", "&", "\n")  # between several names in a cell


def normalise_text(text: str) -> str:
    """Return text as it is compared: in Unicode's form NFC, with plain spaces, none at its ends.

    >>> normalise_text("Espan\u0303a\u00a0")
    'España'
    """
    if text.isascii() and text.isprintable():
        return text.strip(" ")
    composed = unicodedata.normalize("NFC", text)
    plain = "".join(" " if character.isspace() else character for character in composed)
    return plain.strip(f" {INVISIBLE}")


def name_key(name: object) -> str:
    """Return the form in which the names of groups, clusters and labels are compared: that of
    ``normalise_text``, and whole floats as integers.

    >>> name_key(1.0), name_key("01.00 ")
    ('1', '01')
    """
    text = normalise_text(str(name))
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def first_spellings(names: Iterable[object]) -> dict[str, str]:
    """Return the spelling to print by key: the first, with plain spaces and none at its ends."""
    spellings: dict[str, str] = {}
    for name in names:
        spelling = name_key(name) if isinstance(name, float) else normalise_text(str(name))
        spellings.setdefault(name_key(name), spelling)
    return spellings


def is_missing(name: object) -> bool:
    """Return whether text stands for an empty cell, such as ``NA``."""
    return normalise_text(str(name)) in MISSING


def spell_alike(cells: pd.Series, named: Collection[str] = ()) -> pd.Series:
    """Return a column with names that compare equal in one spelling, missing ones as NaN;
    ``named`` ones are not missing.
    """
    distinct = cells.dropna().unique()
    spellings = first_spellings(
        cell for cell in distinct if not is_missing(cell) or name_key(cell) in named
    )
    return cells.map({cell: spellings.get(name_key(cell)) for cell in distinct})


def find_joined(
    texts: Collection[str], among: Collection[str] | None = None
) -> tuple[str, str, str] | None:
    """Return a text that joins one of the names ``among`` them to others, that name, and what
    joins them.
    """
    keys = {*map(name_key, texts if among is None else among)}
    for text in sorted(text for text in texts if among is None or name_key(text) not in keys):
        for joint in JOINTS:
            parts = [part for part in text.split(joint) if part.strip()]  # not "LGBTQ+"
            if len(parts) > 1 and (shared := [part for part in parts if name_key(part) in keys]):
                return text, normalise_text(shared[0]), joint
    return None


def case_note(names: Iterable[str], kind: str) -> str:
    """Return a note on names that differ only in case; empty if there are none."""
    by_folded: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        by_folded[name.casefold()].append(name)
    pairs = [" and ".join(map(repr, same)) for same in by_folded.values() if len(same) > 1]
    listed = ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")
    return f"{kind} that differ only in case count as different: {listed}" if pairs else ""
