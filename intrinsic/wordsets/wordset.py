"""What a metric asks about: a word set, and a query of word sets in roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

# Every role of a query, and the words of one item of its word set.
ROLES = {
    "X": 1,  # targets: two groups, or more as X3, X4, ...
    "Y": 1,
    "A": 1,  # attributes: two groups, or more as A3, A4, ...
    "B": 1,
    "words": 1,  # words each of which is measured
    "pairs": 2,  # base pairs, which span a direction from the second word to the first
    "counterparts": 2,  # words that change places in a counterfactual text
    "partners": 2,  # pairs of words whose likeness is measured
    "rows": 8,  # a definition, two pairs of neither kind, and a stereotype
    "excluded": 1,  # words left out of the vocabulary that is searched
}
MORE_GROUPS = re.compile(r"[XA](?:[3-9]|[1-9]\d+)")
EXCHANGED = str.maketrans("XYAB", "ABXY")


def width_of(role: str) -> int | None:
    """How many words an item of a role has; None if there is no such role."""
    return 1 if MORE_GROUPS.fullmatch(role) else ROLES.get(role)


@dataclass(frozen=True)
class WordSet:
    """Words that stand for one concept; or pairs or rows of words, each of ``width`` words.

    ``words`` are the words in use, in their original order and case, those of an item one after the
    other. ``values`` has a number for each item, or is empty. ``deleted`` are further words of the
    original list that its authors left out, so ``words + deleted`` is the full list. ``language``
    is an ISO 639 code (``und`` where none was given) and ``source`` the citation.
    """

    name: str
    words: tuple[str, ...]
    language: str
    source: str
    deleted: tuple[str, ...] = ()
    width: int = 1
    values: tuple[float, ...] = ()

    @property
    def items(self) -> list[tuple[str, ...]]:
        """The words, item by item."""
        return [self.words[i : i + self.width] for i in range(0, len(self.words), self.width)]

    def lowered(self) -> WordSet:
        """The set in lower case, equal items once; itself where that changes nothing."""
        places: dict[tuple[str, ...], int] = {}
        for place, item in enumerate(self.items):
            places.setdefault(tuple(word.lower() for word in item), place)
        words = tuple(word for item in places for word in item)
        if words == self.words:
            return self
        values = tuple(self.values[place] for place in places.values()) if self.values else ()
        return replace(self, name=f"{self.name}_lower", words=words, values=values)


@dataclass(frozen=True, repr=False)
class Query:
    """Word sets in the roles that a metric asks for, ``query["X"]``.

    Two sets of target words are ``X`` and ``Y``, two of attribute words ``A`` and ``B``, in the
    notation of Caliskan et al. (2017). By convention X and A are the stereotypical partners, and so
    are Y and B: a positive score means that X goes with A. ``ROLES`` has all.
    """

    name: str
    sets: Mapping[str, WordSet]
    language: str
    title: str = ""

    def __repr__(self) -> str:
        roles = "; ".join(
            f"{role} {each.name}, {len(each.items)}: {' '.join(each.words[:3])} ..."
            for role, each in self.sets.items()
        )
        return f"Query {self.name} ({self.language}) {roles}"

    def __getitem__(self, role: str) -> WordSet:
        return self.sets[role]

    def decisive(self) -> dict[str, object]:
        """What can change a result, as JSON: all but titles and sources."""
        words = {
            role: [each.name, each.language, each.words, each.width, each.values]
            for role, each in self.sets.items()
        }
        return {"name": self.name, "language": self.language, "sets": words}

    def lowered(self) -> Query:
        """The query in lower case; itself where that changes nothing."""
        sets = {role: wordset.lowered() for role, wordset in self.sets.items()}
        return self if sets == self.sets else replace(self, name=f"{self.name}_lower", sets=sets)

    def swapped(self) -> Query:
        """The query with targets and attributes exchanged: X and A, Y and B, X3 and A3, ..."""
        sets = {role.translate(EXCHANGED): wordset for role, wordset in self.sets.items()}
        return replace(self, name=f"{self.name}_swapped", sets=sets)
