"""Test whether queries compare men and women."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from biasbridge.intrinsic.wordsets import load_query

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets import Query, WordSet

MENTIONS = ("gender_mentions", "gender_mentions_es")
SIDES = (("X", "Y"), ("A", "B"))


def compares_genders(queries: Iterable[Query]) -> bool:
    """Test whether there are queries and all compare words for men with words for women.

    At least half of the words of each set must be in the lists by which posts are tagged.
    """
    all_queries = list(queries)
    return bool(all_queries) and all(
        any(_opposes_genders(query, *pair) for pair in SIDES) for query in all_queries
    )


def _opposes_genders(query: Query, first: str, second: str) -> bool:
    if not {first, second} <= query.sets.keys():
        return False
    sets = query[first], query[second]
    return any(
        all(_mostly(words, mentions) for words, mentions in zip(sets, sides, strict=True))
        for men, women in _mentions()
        for sides in ((men, women), (women, men))
    )


def _mostly(words: WordSet, mentions: frozenset[str]) -> bool:
    is_mention = [word.lower() in mentions for word in words.words]
    return sum(is_mention) * 2 >= len(is_mention) > 0


@cache
def _mentions() -> list[tuple[frozenset[str], frozenset[str]]]:
    word_lists = ([load_query(name)[role].words for role in "XY"] for name in MENTIONS)
    return [(frozenset(map(str.lower, x)), frozenset(map(str.lower, y))) for x, y in word_lists]
