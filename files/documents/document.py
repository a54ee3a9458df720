"""A document whose mentions of one entity are known, and a case of a challenge set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from pydantic import ConfigDict

from files.errors import InputError

Span = tuple[int, int]
"""First token and the one after the last, counted through the whole document."""
Cluster = tuple[Span, ...]
"""All mentions of one entity."""


@dataclass(frozen=True)
class Document:
    """Sentences of tokens, and clusters of mentions.

    ``name`` and ``part`` identify a document (CoNLL cuts long ones into parts). ``speakers``: one
    a token, or none. ``genre``: as the collection says it, or empty.

    Raises :class:`InputError` for a mention outside the document or in two clusters, an empty
    cluster, and speakers that are not one a token.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]
    clusters: tuple[Cluster, ...]
    part: int = 0
    speakers: tuple[str, ...] = ()
    genre: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    def __post_init__(self) -> None:
        n_tokens = sum(map(len, self.sentences))
        seen: set[Span] = set()
        for cluster in self.clusters:
            if not cluster:
                raise InputError(f"{self.title}: a cluster has no mention")
            for first, end in cluster:
                if not 0 <= first < end <= n_tokens:
                    raise InputError(
                        f"{self.title}: a mention of tokens {first} to {end}, but there are"
                        f" {n_tokens}"
                    )
                if (first, end) in seen:
                    raise InputError(
                        f"{self.title}: tokens {first} to {end} are a mention twice: give each"
                        " mention one cluster"
                    )
                seen.add((first, end))
        if self.speakers and len(self.speakers) != n_tokens:
            raise InputError(
                f"{self.title}: {len(self.speakers)} speakers of {n_tokens} tokens: give one a"
                " token, or none"
            )

    @property
    def title(self) -> str:
        """How messages name it."""
        return f"document {self.name} part {self.part}"

    @property
    def tokens(self) -> list[str]:
        """All tokens, in order."""
        return list(chain.from_iterable(self.sentences))

    @property
    def mentions(self) -> list[Span]:
        """All mentions, in order of clusters."""
        return list(chain.from_iterable(self.clusters))

    def without_singletons(self) -> Document:
        """The same without clusters of one mention, which OntoNotes does not annotate."""
        clusters = tuple(cluster for cluster in self.clusters if len(cluster) > 1)
        return replace(self, clusters=clusters)


@dataclass(frozen=True)
class Question:
    """Does the pronoun refer to the name? Half-open spans of the document's tokens.

    ``occupation``: what the name is, where it is one, and the ``percentage`` of women among those
    who work in it, where it is known.
    """

    pronoun: Span
    name: Span
    answer: bool
    occupation: str = ""
    percentage: float | None = None


@dataclass(frozen=True)
class Case:
    """A document and what is asked about its pronoun, of one ``gender``.

    ``unit`` is the same for cases that differ in the pronoun alone. ``condition``: ``pro`` where a
    stereotype agrees with the answer and ``anti`` where it does not; empty where neither is known.
    ``subset``: a part of the set with results of its own, such as ``type1`` of WinoBias.
    """

    document: Document
    unit: str
    gender: str
    questions: tuple[Question, ...]
    condition: str = ""
    subset: str = ""
