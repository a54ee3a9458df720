"""Items of four groups, encoded: what SEAT and CEAT share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from files import InputError, choice
from intrinsic.item_metric import ItemMetric, Observed, sizes
from intrinsic.lookup import unit_rows

if TYPE_CHECKING:
    from files.models.encoder import Encoder
    from intrinsic.item_metric import Settings
    from intrinsic.items.item import Item, ItemSet

Floats = NDArray[np.float64]
ROLES = "XYAB"
DDof = Literal[0, 1]


@dataclass(frozen=True)
class Group:
    """The encodings of a group, as they are and of unit length, (n, dim); their places among all;
    the words in them; which word each is of, (words, n) of 0 and 1.
    """

    vectors: Floats
    rows: Floats
    places: NDArray[np.intp]
    words: Sequence[str]
    member: Floats


@choice
class EncodedItems(ItemMetric):
    """A metric on encodings of items of the groups X, Y, A and B.

    A new metric gives ``encode`` and ``averaged``, and what every metric on items does.
    """

    needs: ClassVar[str] = "encoder"
    seeded: ClassVar[bool] = True
    shared: ClassVar[tuple[str, ...]] = ("term", "template")

    layer: Annotated[
        int | None, doc("of the hidden states, 0 the embeddings, -1 the last; null: the encoder's")
    ] = None
    ddof: Annotated[
        DDof, doc("the standard deviation is the population's (0) or the sample's (1)")
    ] = 1

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Why it cannot ask these items: a group is missing."""
        missing = [role for role in ROLES if role not in items.groups]
        if not missing:
            return ""
        there = f"it has {', '.join(items.groups)}" if items.items else "it has pairs of sentences"
        return f"{items.name} has no group {missing[0]}; {there}; {cls.about.name} needs X, Y, A, B"

    def encode(self, given: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """The vector of each item, (n, dim); NaN where there is none."""
        raise NotImplementedError

    def averaged(self, given: Encoder) -> Settings:
        """Which hidden states make up a vector."""
        raise NotImplementedError

    def observe(self, given: Encoder, items: ItemSet) -> Observed:
        """The vectors of the items of X, Y, A and B whose tokens the model all knows."""
        asked = [each for each in items.items if each.group in ROLES]
        known = [each for each in asked if given.knows(each.sentence)]
        _require_groups([each.group for each in known], items)
        vectors = self.encode(given, known)
        whole = np.asarray(np.isfinite(vectors).all(axis=1))
        found = [each for each, there in zip(known, whole, strict=True) if there]
        lost = {each.sentence for each in asked} - {each.sentence for each in found}
        groups = [each.group for each in found]
        _require_groups(groups, items)
        labels = {"term": [each.term for each in found], "template": [t.template for t in found]}
        words = {each.word for each in found}
        return Observed(
            values=np.asarray(vectors[whole], dtype=np.float64),
            names=[each.sentence for each in found],
            factors={name: labels[name] for name in self.shared},
            groups=groups,
            settings={
                **self.averaged(given),
                "layer": (given.layer if self.layer is None else self.layer) % (given.layers + 1),
                "dtype": given.opened.dtype,
                **sizes(labels),
                "ddof": self.ddof,
                "multi-piece words": sum(given.opened.pieces(word) > 1 for word in words)
                / len(words),
            },
            lost=sorted(lost),
        )


def _require_groups(groups: Sequence[str], items: ItemSet) -> None:
    """Raise ``InputError`` where a group has no sentence."""
    for role in ROLES:
        if role not in groups:
            raise InputError(f"the model knows no sentence of group {role} of {items.name}")


def groups_of(seen: Observed, order: str = ROLES) -> dict[str, Group]:
    """The groups as X, Y, A and B; ``order`` names those that take these places."""
    rows = unit_rows(seen.values, tuple(seen.names))
    terms = np.asarray(seen.factors["term"])
    found = {}
    for role, group in zip(ROLES, order, strict=True):
        places = np.flatnonzero(np.asarray(seen.groups) == group)
        words = list(dict.fromkeys(terms[places].tolist()))
        member = (terms[places] == np.asarray(words)[:, None]).astype(np.float64)
        found[role] = Group(seen.values[places], rows[places], places, words, member)
    return found


def times_of(groups: Mapping[str, Group], weights: Floats) -> dict[str, Floats]:
    """The weights (n, R) of each group."""
    return {role: weights[group.places] for role, group in groups.items()}


def word_counts(group: Group, times: Floats) -> Floats:
    """How often each word counts, (words, R): the mean of its sentences' weights."""
    return np.asarray((group.member @ times) / group.member.sum(axis=1)[:, None])
