"""What an eraser is fitted on: the vectors of words, or what a model makes of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from files import InputError
from intrinsic.items.item import SLOT, TERM, Item, ItemSet
from intrinsic.items.read import no_fillers
from intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from files.models.encoder import Encoder
    from intrinsic.wordsets import Query

Floats = NDArray[np.float64]
Texts = Sequence[str]

GROUPS, PAIRS = ("X", "Y"), ("pairs",)
ITEMS = {"X": "words", "Y": "words", "pairs": "pairs"}
LEAST_FOUND = 2  # of a group, or of pairs


class Examples(NamedTuple):
    """What an eraser is fitted on: vectors of two groups, (n, dim) each, and of pairs, (m, 2, dim),
    the first of a pair of the first group; and in words what they are of.
    """

    first: Floats
    second: Floats
    pairs: Floats
    what: str

    @property
    def rows(self) -> Floats:
        """Those of both groups, (n, dim)."""
        return np.concatenate([self.first, self.second])

    @property
    def labels(self) -> Floats:
        """1 for each row of the first group, 0 for the second, (n,)."""
        return np.repeat([1.0, 0.0], [len(self.first), len(self.second)])


def of_words(vectors: KeyedVectors, query: Query, asks: Sequence[str]) -> Examples:
    """The vectors of the words of each role that is asked."""
    dim = vectors.vector_size
    found = {role: find_set(vectors, query[role], case="lower") for role in asks}
    for role, each in found.items():
        require_some(len(each.items), query[role].name, "the vectors")
    first, second = (found[role].raw if role in found else np.empty((0, dim)) for role in GROUPS)
    pairs = found["pairs"].raw if "pairs" in found else np.empty((0, 2, dim))
    counts = ", ".join(
        f"{len(each.items)} of {len(query[role].items)} {ITEMS[role]} of {query[role].name}"
        for role, each in found.items()
    )
    return Examples(first, second, pairs, counts or "nothing")


def of_templates(
    encoder: Encoder, query: Query, asks: Sequence[str], templates: Sequence[str]
) -> Examples:
    """The encodings of the words of each role in every template."""
    texts: dict[str, Any] = {"X": [], "Y": [], "pairs": []}
    for role in asks:
        for item in query[role].items:
            filled = [
                [each.replace(TERM, word.replace("_", " ")) for word in item] for each in templates
            ]
            texts[role] += filled if role == "pairs" else [text for [text] in filled]
    where = f"words of {query.name} in {len(templates)} templates"
    return _encoded(encoder, texts["X"], texts["Y"], texts["pairs"], where, asks)


def of_items(encoder: Encoder, sets: Sequence[ItemSet], asks: Sequence[str]) -> Examples:
    """The encodings of texts of two groups; of those with a slot, of either filler in it."""
    first: list[str] = []
    second: list[str] = []
    pairs: list[list[str]] = []
    for each in sets:
        if why := no_fillers(each):
            raise InputError(why)
        whole = []
        for item in each.items:
            if item.fills or SLOT not in item.text:
                whole.append(item)
            else:
                fillers = each.fillers_of(item)
                pairs += [[item.text.replace(SLOT, one) for one in both] for both in fillers]
        texts = two_groups(each.name, whole)
        first += texts[0]
        second += texts[1]
    first += [one for one, _ in pairs]
    second += [other for _, other in pairs]
    names = ", ".join(each.name for each in sets)
    return _encoded(encoder, first, second, pairs, names, asks)


def two_groups(name: str, items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """The sentences of X and of Y, or of the two groups that there are; none of no items. Raises
    ``InputError`` for another number of groups.
    """
    groups = list(dict.fromkeys(item.group for item in items))
    if {*GROUPS} <= {*groups}:
        groups = [*GROUPS]
    if len(groups) not in (0, 2):
        raise InputError(
            f"{name} has sentences of {len(groups)} groups ({', '.join(groups)}), and an eraser is"
            " of two; give items of two groups, or call them X and Y"
        )
    first, second = (
        [item.sentence for item in items if item.group == group] for group in (groups or GROUPS)
    )
    return first, second


def _encoded(
    encoder: Encoder,
    first: Texts,
    second: Texts,
    pairs: Sequence[Texts],
    what: str,
    asks: Sequence[str],
) -> Examples:
    known = [[text for text in texts if encoder.knows(text)] for texts in (first, second)]
    both = [pair for pair in pairs if all(map(encoder.knows, pair))]
    for role, number in zip((*GROUPS, *PAIRS), (*map(len, known), len(both)), strict=True):
        if role in asks:
            require_some(number, f"texts of {role} ({what})", "what the model knows")
    rows = [
        encoder.encode(texts).astype(np.float64) for texts in (*known, [t for p in both for t in p])
    ]
    dim = rows[0].shape[1]
    counts = (
        f"{len(both)} of {len(pairs)} pairs"
        if asks == PAIRS
        else f"{len(known[0])} of {len(first)} and {len(known[1])} of {len(second)} texts"
    )
    return Examples(rows[0], rows[1], rows[2].reshape(-1, 2, dim), f"{counts}, {what}")


def require_some(number: int, what: str, where: str) -> None:
    """Raise ``InputError`` where there are fewer than an eraser needs."""
    if number < LEAST_FOUND:
        raise InputError(
            f"{number} of {what} in {where}; an eraser needs {LEAST_FOUND}: give other words"
        )
