"""Queries and documents; each document has a wording about men and one about women."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

from biasbridge.files.errors import InputError
from biasbridge.files.json_lines import read_json_lines, write_json_lines

Stereotype = Literal["male", "female", ""]


@dataclass(frozen=True)
class WordedDocument:
    """The same text about men and about women; ``relevant``: whether it answers the query."""

    male: str
    female: str
    relevant: bool = True

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class RetrievalQuery:
    """A query that names neither gender, and its documents.

    ``stereotype``: the gender that a stereotype connects with the query; empty: none.
    ``cluster``: a property that queries share, such as an occupation; empty: none.
    Raises ``InputError`` for a query without a relevant document.
    """

    text: str
    documents: tuple[WordedDocument, ...]
    stereotype: Stereotype = ""
    cluster: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    def __post_init__(self) -> None:
        if not any(document.relevant for document in self.documents):
            raise InputError(f"query {self.text!r} has no relevant document in both wordings")


QUERY = TypeAdapter(RetrievalQuery)


def read_queries(path: str | Path) -> Iterator[RetrievalQuery]:
    """Read what ``write_queries`` wrote. Raises ``InputError`` with the line for anything else."""
    return read_json_lines(path, QUERY, "query")


def write_queries(queries: Iterable[RetrievalQuery], path: str | Path) -> None:
    """Write a JSON object per line; a reader sees the whole file or none."""
    write_json_lines(queries, QUERY, path)
