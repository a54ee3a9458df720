"""Documents from a file of either form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from files.documents.conll import Mend, read_conll
from files.documents.jsonl import read_jsonl
from files.text import OPENERS

if TYPE_CHECKING:
    from files.documents.document import Document


def read_documents(path: str | Path, *, mend: Mend | None = None) -> Iterator[Document]:
    """The documents of a file: ``.jsonl`` JSON Lines, any other name CoNLL; each also as ``.gz``,
    ``.bz2`` or ``.xz``.

    ``mend`` and what is refused: see ``files.documents.conll`` and ``files.documents.jsonl``.
    """
    path = Path(path)
    plain = path.with_suffix("") if path.suffix in OPENERS else path
    return read_jsonl(path) if plain.suffix == ".jsonl" else read_conll(path, mend=mend)
