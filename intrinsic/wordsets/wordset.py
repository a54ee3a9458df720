"""Word sets, and queries: word sets in the roles of a metric."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from biasbridge.files.names import lower_forms

# Roles of a query, with the number of words in an item of its word set.
ROLES = {
    "X": 1,  # targets: two groups, or more as X3, X4, ...
    "Y": 1,
    "A": 1,  # attributes: two groups, or more as A3, A4, ...
    "B": 1,
    "words": 1,  # words measured singly
    "pairs": 2,  # base pairs, which span a direction from the second word to the first
    "counterparts": 2,  # words swapped in a counterfactual text
    "partners": 2,  # pairs of words whose similarity is measured
    "rows": 8,  # a definition, two pairs of neither kind, and a stereotype
    "equalise": 2,  # pairs that debiasing makes equidistant from every other word
    "specific": 1,  # gendered by definition: unchanged by debiasing
    "excluded": 1,  # words excluded from the searched vocabulary
}
MORE_GROUPS = re.compile(r"[XA](?:[3-9]|[1-9]\d+)")
EXCHANGED = str.maketrans("XYAB", "ABXY")


def width_of(role: str) -> int | None:
    """Return the number of words in an item of a role; None for an unknown role."""
    return 1 if MORE_GROUPS.fullmatch(role) else ROLES.get(role)


@dataclass(frozen=True)
class WordSet:
    """Words that stand for one concept, or items of ``width`` words (pairs, rows).

    ``words``: the words in use, in original order and case, item by item. ``values``: a number for
    each item, or empty. ``deleted``: words of the original list that its authors left out, so
    ``words + deleted`` is the full list. ``language``: an ISO 639 code (``und`` if none was given).
    ``source``: the citation.
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
        """Items of ``width`` words."""
        return [self.words[i : i + self.width] for i in range(0, len(self.words), self.width)]

    def lowered(self, keep: Container[str] = ()) -> WordSet:
        """Return the set in lower case, words in ``keep`` as they are, without duplicate items;
        itself if nothing changes.
        """
        index_of: dict[tuple[str, ...], int] = {}
        for n, item in enumerate(self.items):
            lowered = (w if w in keep else next(iter(lower_forms(w))) for w in item)
            index_of.setdefault(tuple(lowered), n)
        words = tuple(word for item in index_of for word in item)
        if words == self.words:
            return self
        values = tuple(self.values[n] for n in index_of.values()) if self.values else ()
        return replace(self, name=f"{self.name}_lower", words=words, values=values)


@dataclass(frozen=True, repr=False)
class Query:
    """Word sets by role, ``query["X"]``.

    Target words are ``X`` and ``Y``, attribute words ``A`` and ``B`` (Caliskan et al., 2017). By
    convention X goes with A and Y with B in the stereotype, so a positive score is stereotypical.
    ``ROLES`` lists all roles.
    """

    name: str
    sets: Mapping[str, WordSet]
    language: str
    title: str = ""

    def __repr__(self) -> str:
        roles = "; ".join(
            f"{role} {words.name}, {len(words.items)}: {' '.join(words.words[:3])} ..."
            for role, words in self.sets.items()
        )
        return f"Query {self.name} ({self.language}) {roles}"

    def __getitem__(self, role: str) -> WordSet:
        return self.sets[role]

    def key_fields(self) -> dict[str, object]:
        """Return the fields that can change a result (all but titles and sources), as JSON."""
        sets = {
            role: [words.name, words.language, words.words, words.width, words.values]
            for role, words in self.sets.items()
        }
        return {"name": self.name, "language": self.language, "sets": sets}

    def lowered(self, keep: Container[str] = ()) -> Query:
        """Return the query in lower case, words in ``keep`` as they are; itself if nothing
        changes.
        """
        sets = {role: wordset.lowered(keep) for role, wordset in self.sets.items()}
        return self if sets == self.sets else replace(self, name=f"{self.name}_lower", sets=sets)

    def swapped(self) -> Query:
        """Return the query with targets and attributes swapped: X and A, Y and B, X3 and A3, ..."""
        sets = {role.translate(EXCHANGED): wordset for role, wordset in self.sets.items()}
        return replace(self, name=f"{self.name}_swapped", sets=sets)
