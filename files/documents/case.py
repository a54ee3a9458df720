"""A case of a challenge set: a document with a pronoun whose antecedent is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from files.documents.document import Document, Span  # noqa: TC001 - read by pydantic


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
