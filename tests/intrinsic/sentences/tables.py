"""Encoders that are tables: of each text the vector that a test gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.intrinsic.items.item import Item, ItemSet

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Context
    from biasbridge.stats.arrays import Floats


class Opened(NamedTuple):
    dtype: str = "float32"

    def pieces(self, text: str) -> int:
        return 1 + text.count("-")


class Table:
    """What ``Encoder`` gives, by text: SEAT the vector of a sentence, CEAT that of a word in it."""

    layer, layers, pooling, special_tokens, opened = -1, 2, "mean", 2, Opened()

    def __init__(self, vectors: Mapping[str, ArrayLike]) -> None:
        self.of = {text: np.asarray(vector, dtype=float) for text, vector in vectors.items()}

    def knows(self, text: str) -> bool:
        return text in self.of

    def fits(self, text: str) -> bool:
        return True

    def encode(self, texts: Sequence[str], **_: object) -> Floats:
        return np.stack([self.of[text] for text in texts])

    def vectors(self, contexts: Sequence[Context], **_: object) -> Floats:
        return np.stack([self.of[each.text] for each in contexts])


@choice
class Given(Fileless):
    """Items as they are."""

    sets: tuple[ItemSet, ...]
    name = "given"
    version = 1

    def load(self) -> list[ItemSet]:
        return [*self.sets]


def given(rows: Sequence[tuple[str, str, str, str]]) -> Given:
    """A set of sentences: (text, group, term, template)."""
    return Given((ItemSet("own", "en", items=tuple(Item(*row, fills=False) for row in rows)),))


def random_set(
    rng: np.random.Generator, words: int = 4, contexts: int = 3, dim: int = 5
) -> tuple[Given, Table]:
    """Words of X, Y, A and B in some contexts each, with vectors of which words share a part."""
    rows, vectors = [], {}
    for group in "XYAB":
        for word in range(words):
            own = rng.normal(size=dim)
            for context in range(contexts):
                text = f"{group}{word} {context}"
                rows.append((text, group, f"{group}{word}", str(context)))
                vectors[text] = own + rng.normal(size=dim)
    return given(rows), Table(vectors)
