"""Which columns of posts are labels and groups, and which labels count as 1, where their names and
values say so plainly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LABEL_NAMES = ("label", "class", "hateful", "hate", "odio", "hs", "toxic", "target", "etiqueta")
BINARY = {"0", "1", "0.0", "1.0", "True", "False"}
SAYS_YES = """
yes y true t sí si s verdadero v positive hate hateful odio hof off toxic tóxico tóxica toxico
toxica abuse abusive abusivo abusiva offensive ofensivo ofensiva racist racista sexist sexista
misogynous misógino misógina
"""
SAYS_NO = """
no n not none false f falso negative normal neither neutral ninguno ninguna nada nothate noodio
nontoxic
"""
POSITIVE, NEGATIVE = frozenset(SAYS_YES.split()), frozenset(SAYS_NO.split())
DENIED = re.compile(r"(?:non|not|no)[ _-]*(?=\w)")
MOST_CLASSES = 20
# The first is privileged: the gap is positive where the second fares worse
PAIRS = (
    "male female",
    "man woman",
    "men women",
    "m f",
    "hombre mujer",
    "hombres mujeres",
    "masculino femenino",
    "local migrant",
)


def classes(cells: Iterable[object]) -> list[str]:
    """The different labels, in order."""
    return sorted({str(cell).strip() for cell in cells})


def is_binary(labels: Collection[str]) -> bool:
    """Whether they are 0 and 1 already, in any spelling that is read as that."""
    return {*labels} <= BINARY


def guess_positive(labels: Sequence[str]) -> list[str]:
    """The one of two labels that counts as 1, where both say so plainly; else none."""
    positive = [label for label in labels if label.lower() in POSITIVE]
    negative = [label for label in labels if _denies(label.lower())]
    return positive if len(positive) == len(negative) == 1 and len(labels) == 2 else []


def guess_label(posts: pd.DataFrame, text: str) -> str:
    """The column of the labels: by its name, binary ones first; or the only one whose values are
    labels. Empty where none is known.
    """
    found = {str(name): classes(posts[name]) for name in posts if str(name) != text}
    few = {name: each for name, each in found.items() if len(each) <= MOST_CLASSES}
    binary = [name for name, each in few.items() if is_binary(each)]
    plain = [name for name, each in few.items() if guess_positive(each)]
    named = [name for known in LABEL_NAMES for name in few if name.lower() == known]
    first = [name for name in named if name in binary or name in plain] or named
    return next(iter(first or _only(binary) or _only(plain)), "")


def guess_pair(groups: Collection[str]) -> tuple[str, str] | None:
    """The privileged and the unprivileged of the groups, where their names say so."""
    known = {group.lower(): group for group in groups}
    pairs = (pair.split() for pair in PAIRS)
    return next(((known[a], known[b]) for a, b in pairs if a in known and b in known), None)


def _only(names: list[str]) -> list[str]:
    return names if len(names) == 1 else []


def _denies(label: str) -> bool:
    return label in NEGATIVE or (
        (denied := DENIED.match(label)) is not None and label[denied.end() :] in POSITIVE
    )
