"""A case of a challenge set: a document with a pronoun whose antecedent is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from files.atomic import atomic_path
from files.documents.document import Document, Span  # noqa: TC001 - read by pydantic
from files.errors import InputError
from files.text import read_lines


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


_LINE = TypeAdapter(Case)


def write_cases(cases: Iterable[Case], path: str | Path) -> None:
    """A JSON object a line; the file appears whole."""
    with atomic_path(path) as work, work.open("wb") as out:
        out.writelines(_LINE.dump_json(case) + b"\n" for case in cases)


def read_cases(path: str | Path) -> Iterator[Case]:
    """What ``write_cases`` wrote. Raises ``InputError``, with the line, for anything else."""
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield _LINE.validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{path}: line {number} is no case: {error.errors()[0]['msg']}"
            ) from None
