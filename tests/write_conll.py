"""CoNLL-2012 files, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasbridge.files.documents import Document


def write_conll(documents: Iterable[Document], path: str | Path) -> None:
    """Documents in twelve columns parted by tabs; mentions of one entity must not cross."""
    lines = (f"{line}\n" for document in documents for line in _lines(document))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(lines), encoding="utf-8")


def _lines(document: Document) -> Iterator[str]:
    brackets = iter(_brackets(document))
    speakers = iter(document.speakers or ["-"] * len(document.tokens))
    yield f"#begin document ({document.name}); part {document.part:03d}"
    for sentence in document.sentences:
        for number, word in enumerate(sentence):
            cells = [document.name, str(document.part), str(number), word]
            yield "\t".join([*cells, "-", "*", "-", "-", "-", next(speakers), "*", next(brackets)])
        yield ""
    yield "#end document"


def _brackets(document: Document) -> list[str]:
    """The cell of each token; of mentions that begin or end together the longer is outside."""
    cells: list[list[str]] = [[] for _ in document.tokens]
    marked = sorted(
        (first, -end, number)
        for number, cluster in enumerate(document.clusters)
        for first, end in cluster
    )
    for first, end, number in sorted(marked, key=lambda mark: (-mark[0], -mark[1])):
        if -end > first + 1:
            cells[-end - 1].append(f"{number})")
    for first, end, number in marked:
        cells[first].append(f"({number})" if -end == first + 1 else f"({number}")
    return ["|".join(cell) or "-" for cell in cells]
