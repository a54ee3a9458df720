"""Documents as JSON Lines, the form in which they pass between stages: nothing is lost."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from files.atomic import atomic_path
from files.documents.document import Cluster, Document
from files.errors import InputError
from files.text import read_lines


class _Row(BaseModel, extra="forbid", strict=True):
    """A line; its keys are the fields of ``Document``."""

    name: str
    sentences: tuple[tuple[str, ...], ...]
    clusters: tuple[Cluster, ...]
    part: int = 0
    speakers: tuple[str, ...] = ()
    genre: str = ""

    def document(self) -> Document:
        """The document, checked."""
        return Document(
            self.name, self.sentences, self.clusters, self.part, self.speakers, self.genre
        )


def read_jsonl(path: str | Path) -> Iterator[Document]:
    """The documents of a plain, gzip, bzip2 or xz file, a JSON object a line, one at a time.

    Raises ``InputError``, with the line, for what is no document, and what ``read_lines`` refuses.
    """
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield _Row.model_validate_json(line).document()
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            reason = f"{place}: {first['msg']}" if place else first["msg"]
            raise InputError(f"{path}: line {number} is no document ({reason})") from None
        except InputError as error:
            raise InputError(f"{path}: line {number}: {error}") from None


def write_documents(documents: Iterable[Document], path: str | Path) -> None:
    """A JSON object a line, keys as the fields of ``Document``; the file appears whole."""
    with atomic_path(path) as work, work.open("w", encoding="utf-8", newline="\n") as out:
        for document in documents:
            row = json.dumps(dataclasses.asdict(document), ensure_ascii=False)
            out.write(f"{row}\n")
