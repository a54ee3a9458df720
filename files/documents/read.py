"""Reading and writing of documents and cases as JSON Lines; reading of CoNLL documents."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import TypeAdapter

from biasbridge.files.atomic import atomic_path
from biasbridge.files.documents.conll import Mend, read_conll
from biasbridge.files.documents.document import Case, Document
from biasbridge.files.json_lines import read_json_lines, write_json_lines
from biasbridge.files.tables import JSON_LINES, table_suffix

DOCUMENT, CASE = TypeAdapter(Document), TypeAdapter(Case)


def read_documents(path: str | Path, *, mend: Mend | None = None) -> Iterator[Document]:
    """Yield the documents of a file: ``.jsonl`` JSON Lines, any other name CoNLL; each also as
    ``.gz``, ``.bz2`` or ``.xz``.

    ``mend``: see ``biasbridge.files.documents.conll``. Raises ``InputError`` with the line for an
    invalid document, and as ``read_lines`` does.
    """
    path = Path(path)
    if table_suffix(path) == JSON_LINES:
        return read_json_lines(path, DOCUMENT, "document")
    return read_conll(path, mend=mend)


def write_documents(documents: Iterable[Document], path: str | Path) -> None:
    """Write a JSON object per document; a reader sees the whole file or none."""
    with atomic_path(path) as work, work.open("w", encoding="utf-8", newline="\n") as out:
        for document in documents:
            row = json.dumps(dataclasses.asdict(document), ensure_ascii=False)
            out.write(f"{row}\n")


def read_cases(path: str | Path) -> Iterator[Case]:
    """Read what ``write_cases`` wrote. Raises ``InputError`` with the line for anything else."""
    return read_json_lines(path, CASE, "case")


def write_cases(cases: Iterable[Case], path: str | Path) -> None:
    """Write a JSON object per case; a reader sees the whole file or none."""
    write_json_lines(cases, CASE, path)
