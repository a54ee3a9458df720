"""Training vectors of erasers: of words, or of sentences that a language model encodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasbridge.files import InputError
from biasbridge.intrinsic.items.item import SLOT, TERM, Item, ItemSet
from biasbridge.intrinsic.items.read import no_fillers
from biasbridge.intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats

Texts = Sequence[str]

GROUPS, PAIRS = ("X", "Y"), ("pairs",)
ITEMS = {"X": "words", "Y": "words", "pairs": "pairs"}
MIN_EXAMPLES = 2  # vectors of a group, or pairs


class Examples(NamedTuple):
    """Vectors of two groups, (n, dim) each, and of pairs, (m, 2, dim), the first of a pair of the
    first group; and a description of them in words.
    """

    first: Floats
    second: Floats
    pairs: Floats
    description: str

    @property
    def rows(self) -> Floats:
        """Vectors of both groups, (n, dim)."""
        return np.concatenate([self.first, self.second])

    @property
    def labels(self) -> Floats:
        """1 for rows of the first group, 0 for rows of the second, (n,)."""
        return np.repeat([1.0, 0.0], [len(self.first), len(self.second)])


def word_examples(vectors: KeyedVectors, query: Query, roles: Sequence[str]) -> Examples:
    """Look up the vectors of the words of the roles in ``roles``."""
    dim = vectors.vector_size
    found_sets = {role: find_set(vectors, query[role], case="lower") for role in roles}
    for role, found_set in found_sets.items():
        require_enough(len(found_set.items), query[role].name, "the vectors")
    first, second = (
        found_sets[role].raw if role in found_sets else np.empty((0, dim)) for role in GROUPS
    )
    pairs = found_sets["pairs"].raw if "pairs" in found_sets else np.empty((0, 2, dim))
    counts = ", ".join(
        f"{len(found_set.items)} of {len(query[role].items)} {ITEMS[role]} of {query[role].name}"
        for role, found_set in found_sets.items()
    )
    return Examples(first, second, pairs, counts or "nothing")


def template_examples(
    encoder: Encoder, query: Query, roles: Sequence[str], templates: Sequence[str]
) -> Examples:
    """Encode the words of the roles in ``roles`` in every template."""
    texts: dict[str, Any] = {"X": [], "Y": [], "pairs": []}
    for role in roles:
        for item in query[role].items:
            filled = [
                [template.replace(TERM, word.replace("_", " ")) for word in item]
                for template in templates
            ]
            texts[role] += filled if role == "pairs" else [text for [text] in filled]
    description = f"words of {query.name} in {len(templates)} templates"
    return _encoded(encoder, texts["X"], texts["Y"], texts["pairs"], description, roles)


def item_examples(encoder: Encoder, sets: Sequence[ItemSet], roles: Sequence[str]) -> Examples:
    """Encode the texts of two groups; a text with a slot is encoded with both fillers."""
    pairs: list[list[str]] = []
    complete_items: list[Item] = []
    names = ", ".join(item_set.name for item_set in sets)
    for item_set in sets:
        if problem := no_fillers(item_set):
            raise InputError(problem)
        for item in item_set.items:
            if item.fills or SLOT not in item.text:
                complete_items.append(item)
            else:
                pairs += [
                    [item.text.replace(SLOT, filler) for filler in filler_pair]
                    for filler_pair in item_set.fillers_of(item)
                ]
    first, second = two_groups(names, complete_items)
    if len(first) + len(second) < len(complete_items) and len(sets) > 1:
        raise InputError(f"{names} name their groups differently; name them alike in all sets")
    if any(len(texts) > 2 for texts in pairs):
        raise InputError(f"fillers of {sets[0].name} are of more than two groups; give he/she")
    first += [first_text for first_text, _ in pairs]
    second += [second_text for _, second_text in pairs]
    return _encoded(encoder, first, second, pairs, names, roles)


def two_groups(name: str, items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """Return the sentences of X and Y, or of the only two groups; empty lists for no items. Raises
    ``InputError`` for another number of groups.
    """
    groups = list(dict.fromkeys(item.group for item in items))
    if {*GROUPS} <= {*groups}:
        groups = [*GROUPS]
    if len(groups) not in (0, 2):
        raise InputError(
            f"{name} has sentences of {len(groups)} groups ({', '.join(groups)}), and an eraser"
            " needs two; give items of two groups, or name two groups X and Y"
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
    description: str,
    roles: Sequence[str],
) -> Examples:
    known_first, known_second = (list(filter(encoder.knows, texts)) for texts in (first, second))
    known_pairs = [pair for pair in pairs if all(map(encoder.knows, pair))]
    numbers = (len(known_first), len(known_second), len(known_pairs))
    for role, number in zip((*GROUPS, *PAIRS), numbers, strict=True):
        if role in roles:
            require_enough(number, f"texts of {role} ({description})", "the model's vocabulary")
    pair_texts = [text for pair in known_pairs for text in pair]
    rows = [
        encoder.encode(texts).astype(np.float64)
        for texts in (known_first, known_second, pair_texts)
    ]
    dim = rows[0].shape[1]
    counts = (
        f"{len(known_pairs)} of {len(pairs)} pairs"
        if roles == PAIRS
        else f"{len(known_first)} of {len(first)} and {len(known_second)} of {len(second)} texts"
    )
    return Examples(rows[0], rows[1], rows[2].reshape(-1, 2, dim), f"{counts}, {description}")


def require_enough(number: int, examples: str, place: str) -> None:
    """Raise ``InputError`` if there are fewer examples than an eraser needs."""
    if number < MIN_EXAMPLES:
        raise InputError(
            f"{number} of {examples} in {place}; an eraser needs {MIN_EXAMPLES}: give other words"
        )
