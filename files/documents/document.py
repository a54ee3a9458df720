"""Documents with clusters of mentions, and cases of challenge sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from pydantic import ConfigDict

from biasbridge.files.errors import InputError

Span = tuple[int, int]
"""Index of the first token and of the one after the last, in the whole document."""
Cluster = tuple[Span, ...]
"""All mentions of one entity."""


@dataclass(frozen=True)
class Document:
    """Sentences of tokens, and clusters of mentions.

    ``name`` and ``part`` identify a document (CoNLL cuts long ones into parts). ``speakers``: one
    per token, or none. ``genre``: that of the collection, or empty.

    Raises :class:`InputError` for a mention outside the document or in two clusters, an empty
    cluster, and another number of speakers than tokens.
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
        spans: set[Span] = set()
        for cluster in self.clusters:
            if not cluster:
                raise InputError(f"{self.title}: a cluster has no mention")
            for first, end in cluster:
                if not 0 <= first < end <= n_tokens:
                    raise InputError(
                        f"{self.title}: a mention of tokens {first} to {end}, but there are"
                        f" {n_tokens}"
                    )
                if (first, end) in spans:
                    raise InputError(
                        f"{self.title}: tokens {first} to {end} are a mention twice: give each"
                        " mention one cluster"
                    )
                spans.add((first, end))
        if self.speakers and len(self.speakers) != n_tokens:
            raise InputError(
                f"{self.title}: {len(self.speakers)} speakers of {n_tokens} tokens: give one per"
                " token, or none"
            )

    @property
    def title(self) -> str:
        """Name in messages."""
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
        """Return the document without clusters of one mention, as in OntoNotes."""
        clusters = tuple(cluster for cluster in self.clusters if len(cluster) > 1)
        return replace(self, clusters=clusters)


@dataclass(frozen=True)
class Question:
    """Whether the pronoun refers to the name; both are half-open spans of the document's tokens.

    ``occupation``: that of the name, if it is one, and the ``percentage`` of women in it, if known.
    """

    pronoun: Span
    name: Span
    answer: bool
    occupation: str = ""
    percentage: float | None = None


@dataclass(frozen=True)
class Case:
    """A document and questions about its pronoun, of one ``gender``.

    ``unit`` is equal for cases that differ only in the pronoun. ``condition``: ``pro`` if a
    stereotype agrees with the answer, ``anti`` if it contradicts it, empty if unknown. ``subset``:
    a part of the set with separate results, such as ``type1`` of WinoBias.
    """

    document: Document
    unit: str
    gender: str
    questions: tuple[Question, ...]
    condition: str = ""
    subset: str = ""
