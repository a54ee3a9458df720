"""Names that are compared with others: groups, clusters, labels, words, keys of vectors."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

# Characters of no width, which editors and spreadsheets leave at the ends of cells
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
WHOLE = re.compile(r"([+-]?\d+)\.0+")


def normalise_text(text: str) -> str:
    """Return text as it is compared: in Unicode's form NFC, with plain spaces, none at its ends.

    >>> normalise_text("Espan\u0303a\u00a0")
    'España'
    """
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


def case_note(names: Iterable[str], kind: str) -> str:
    """Return a note on names that differ only in case; empty if there are none."""
    by_folded: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        by_folded[name.casefold()].append(name)
    pairs = [" and ".join(map(repr, same)) for same in by_folded.values() if len(same) > 1]
    listed = ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")
    return f"{kind} that differ only in case count as different: {listed}" if pairs else ""
