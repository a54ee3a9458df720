"""Clusterings for the tests of the scorer: written as words, or drawn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster


def clusters(*words: str) -> tuple[Cluster, ...]:
    """A cluster a word, a mention a letter."""
    return tuple(tuple((ord(letter), ord(letter) + 1) for letter in word) for word in words)


def drawn(rng: random.Random, mentions: Sequence[int], most: int) -> tuple[Cluster, ...]:
    """Up to ``most`` clusters of some of the mentions."""
    sides: dict[int, list[tuple[int, int]]] = {}
    for mention in mentions:
        if rng.random() < 0.8:
            sides.setdefault(rng.randrange(most), []).append((mention, mention + 1))
    return tuple(map(tuple, sides.values()))


def pairs(n: int) -> list[tuple[tuple[Cluster, ...], tuple[Cluster, ...]]]:
    """Random keys and responses over the same text; some are empty, some alike."""
    rng = random.Random(7)
    result = []
    for number in range(n):
        mentions = range(1 + number % 9)
        result.append((drawn(rng, mentions, 1 + number % 4), drawn(rng, mentions, 1 + number % 5)))
    return result
