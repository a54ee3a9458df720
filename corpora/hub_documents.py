"""Documents with coreference that ``datasets.load_dataset`` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import TypeAdapter, ValidationError

from corpora.hub import HubData, pick_cell
from corpora.protocols import SPLITS, Singletons
from files import InputError, choice
from files.documents import Document

TEXTS = TypeAdapter(list[str])


@choice
class HubDocuments(HubData):
    """Documents in the format of WinoBias on the hub (``uclanlp/wino_bias``): a row is a document
    of one sentence and one cluster. The cluster is a flat list of texts that alternates the first
    and last token of its mentions: ``["0", "1", "7", "7"]``.

    ``tokens``, ``clusters`` and ``id`` name columns; ``train``, ``dev`` and ``test`` name splits.
    Other fields as in ``corpora.hub.HubData``.
    """

    scheme: str = "ontonotes"
    tokens: str = "tokens"
    clusters: str = "coreference_clusters"
    id: str = "document_id"
    train: str = "train"
    dev: str | None = None
    test: str | None = None
    singletons: Singletons = "drop"

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name in tables: the last part of ``path``."""
        return Path(self.path).name

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents; see ``corpora.protocols.DocumentSource``."""
        names = dict(zip(SPLITS, (self.train, self.dev, self.test), strict=True))
        parts: Counter[str] = Counter()
        return {
            split: list(self._documents(name, parts)) if name else []
            for split, name in names.items()
        }

    def _documents(self, split: str, parts: Counter[str]) -> Iterator[Document]:
        """Yield the documents of a split; documents of one name are numbered as its parts."""
        for number, row in enumerate(self.stream(split)):
            where = f"{self.path} (split {split!r}, row {number})"
            name = str(pick_cell(row, self.id, where))
            tokens = _text_list(pick_cell(row, self.tokens, where), self.tokens, where)
            bounds = _text_list(pick_cell(row, self.clusters, where), self.clusters, where)
            cluster = _cluster(bounds, where)
            clusters = (cluster,) if len(cluster) > (self.singletons == "drop") else ()
            try:
                yield Document(name, (tuple(tokens),), clusters, parts[name])
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
            parts[name] += 1


def _text_list(cell: object, column: str, where: str) -> list[str]:
    try:
        return TEXTS.validate_python(cell)
    except ValidationError:
        raise InputError(f"{where}: the column {column!r} is no list of texts") from None


def _cluster(bounds: list[str], where: str) -> tuple[tuple[int, int], ...]:
    """Return half-open spans of mentions from alternating first and last tokens."""
    if len(bounds) % 2 or not all(bound.isdecimal() for bound in bounds):
        raise InputError(f"{where}: {bounds} must alternate first and last tokens, as texts")
    numbers = map(int, bounds)
    return tuple((first, last + 1) for first, last in zip(numbers, numbers, strict=True))
