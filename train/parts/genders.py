"""Whether queries ask about men and women."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from intrinsic.wordsets import load_query

if TYPE_CHECKING:
    from intrinsic.wordsets import Query, WordSet

MENTIONS = ("gender_mentions", "gender_mentions_es")
SIDES = (("X", "Y"), ("A", "B"))


def ask_about_genders(queries: Iterable[Query]) -> bool:
    """Whether all of them, of which there is one at least, compare words for men with words for
    women: half of the words of either set or more are in the lists by which posts are tagged.
    """
    asked = list(queries)
    return bool(asked) and all(any(_opposes(query, *pair) for pair in SIDES) for query in asked)


def _opposes(query: Query, one: str, other: str) -> bool:
    if not {one, other} <= query.sets.keys():
        return False
    sets = query[one], query[other]
    return any(
        all(_mostly(words, known) for words, known in zip(sets, sides, strict=True))
        for men, women in _mentions()
        for sides in ((men, women), (women, men))
    )


def _mostly(words: WordSet, known: frozenset[str]) -> bool:
    found = [word.lower() in known for word in words.words]
    return sum(found) * 2 >= len(found) > 0


@cache
def _mentions() -> list[tuple[frozenset[str], frozenset[str]]]:
    named = ([load_query(name)[role].words for role in "XY"] for name in MENTIONS)
    return [(frozenset(map(str.lower, x)), frozenset(map(str.lower, y))) for x, y in named]
