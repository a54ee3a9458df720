"""A query from plain lists of words."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsic.wordsets import Query, WordSet


def make_query(name: str, *words: Sequence[str]) -> Query:
    """A query whose X, Y, A and B are these words."""
    sets = {
        role: WordSet(f"{name}.{role}", tuple(each), "en", "made up")
        for role, each in zip("XYAB", words, strict=True)
    }
    return Query(name, sets, "en")
