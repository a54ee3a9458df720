"""A query from plain lists of words."""

from __future__ import annotations

from collections.abc import Sequence

from biasbridge.intrinsic.words import ROLES, Query, WordSet


def make_query(name: str, *words: Sequence[str]) -> Query:
    """A query whose X, Y, A and B are these words."""
    sets = {
        role: WordSet(f"{name}.{role}", tuple(item), "en", "made up")
        for role, item in zip("XYAB", words, strict=True)
    }
    return Query(name, sets, "en")


def query_of(**roles: str) -> Query:
    """A query of these roles, the words of each in one text; pairs are two words in turn."""
    sets = {
        role: WordSet(f"made.{role}", tuple(words.split()), "en", "made up", width=ROLES[role])
        for role, words in roles.items()
    }
    return Query("made", sets, "en")
