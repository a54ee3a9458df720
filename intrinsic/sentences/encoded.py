"""Encoded items of four groups, for SEAT and CEAT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations, sizes
from biasbridge.intrinsic.lookup import unit_rows

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.item_metric import Settings
    from biasbridge.intrinsic.items.item import Item, ItemSet
    from biasbridge.stats.arrays import Floats

ROLES = "XYAB"
DDof = Literal[0, 1]


@dataclass(frozen=True)
class Group:
    """The encodings of a group, raw and of unit length, (n, dim); their indices among all items;
    its words; membership of items in words, (words, n) of 0 and 1.
    """

    vectors: Floats
    rows: Floats
    indices: NDArray[np.intp]
    words: Sequence[str]
    member: Floats


@choice
class EncodedItems(ItemMetric):
    """A metric on encodings of items of the groups X, Y, A and B.

    A new metric defines ``encode`` and ``averaged``, and the methods of ``ItemMetric``.
    """

    needs: ClassVar[str] = "encoder"
    seeded: ClassVar[bool] = True
    shared: ClassVar[tuple[str, ...]] = ("term", "template")

    layer: Annotated[
        int | None, doc("hidden layer: 0 the embeddings, -1 the last; null: the encoder's")
    ] = None
    ddof: Annotated[
        DDof, doc("the standard deviation is the population's (0) or the sample's (1)")
    ] = 1

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return which group the items lack; empty if none."""
        missing = [role for role in ROLES if role not in items.groups]
        if not missing:
            return ""
        has = f"it has {', '.join(items.groups)}" if items.items else "it has pairs of sentences"
        return f"{items.name} has no group {missing[0]}; {has}; {cls.about.name} needs X, Y, A, B"

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Return the vector of each item, (n, dim); NaN where there is none."""
        raise NotImplementedError

    def averaged(self, encoder: Encoder) -> Settings:
        """Return, as settings, which hidden states are averaged into a vector."""
        raise NotImplementedError

    def observe(self, encoder: Encoder, items: ItemSet) -> Observations:
        """Return the vectors of the items of X, Y, A and B without unknown tokens, (n, dim)."""
        candidates = [item for item in items.items if item.group in ROLES]
        readable = [item for item in candidates if encoder.knows(item.sentence)]
        _require_groups([item.group for item in readable], items)
        vectors = self.encode(encoder, readable)
        is_finite = np.asarray(np.isfinite(vectors).all(axis=1))
        encoded = [item for item, finite in zip(readable, is_finite, strict=True) if finite]
        lost = {item.sentence for item in candidates} - {item.sentence for item in encoded}
        groups = [item.group for item in encoded]
        _require_groups(groups, items)
        labels = {"term": [i.term for i in encoded], "template": [i.template for i in encoded]}
        words = {item.word for item in encoded}
        return Observations(
            values=np.asarray(vectors[is_finite], dtype=np.float64),
            names=[item.sentence for item in encoded],
            factors={name: labels[name] for name in self.shared},
            groups=groups,
            settings={
                **self.averaged(encoder),
                "layer": (encoder.layer if self.layer is None else self.layer)
                % (encoder.layers + 1),
                "dtype": encoder.opened.dtype,
                **sizes(labels),
                "ddof": self.ddof,
                "multi-piece words": sum(encoder.opened.pieces(word) > 1 for word in words)
                / len(words),
            },
            lost=sorted(lost),
        )


def _require_groups(groups: Sequence[str], items: ItemSet) -> None:
    for role in ROLES:
        if role not in groups:
            raise InputError(f"the model knows no sentence of group {role} of {items.name}")


def groups_of(observed: Observations, order: str = ROLES) -> dict[str, Group]:
    """Return the groups by role; ``order`` names the groups that act as X, Y, A and B."""
    rows = unit_rows(observed.values, tuple(observed.names))
    terms = np.asarray(observed.factors["term"])
    groups = {}
    for role, group in zip(ROLES, order, strict=True):
        indices = np.flatnonzero(np.asarray(observed.groups) == group)
        words = list(dict.fromkeys(terms[indices].tolist()))
        member = (terms[indices] == np.asarray(words)[:, None]).astype(np.float64)
        groups[role] = Group(observed.values[indices], rows[indices], indices, words, member)
    return groups


def group_weights(groups: Mapping[str, Group], weights: Floats) -> dict[str, Floats]:
    """Return the weights (n, R) of each group's items."""
    return {role: weights[group.indices] for role, group in groups.items()}


def word_weights(group: Group, weights: Floats) -> Floats:
    """Return each word's weight, (words, R): the mean of its sentences' weights."""
    return np.asarray((group.member @ weights) / group.member.sum(axis=1)[:, None])
