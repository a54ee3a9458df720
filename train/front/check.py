"""What is wrong with the input of every point is met once, before any is planned; what deserves a
second look is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from train.parts.check_corpus import check_corpus
from train.parts.static import StaticVectors

if TYPE_CHECKING:
    from rich.console import Console

    from corpora.kinds import Corpus
    from intrinsic.wordsets import Query
    from train.point import Point


@runtime_checkable
class Checked(Protocol):
    """A part whose input can be looked at without building anything."""

    def check(self) -> None:
        """Raise ``InputError`` for what no point can be made of."""


def check_input(points: Iterable[Point], console: Console) -> None:
    """Check every different task and corpus, and say where a point is part generated, part not.
    Raises ``InputError``.
    """
    parts: dict[str, Checked] = {}
    corpora: dict[str, tuple[Corpus, list[Query]]] = {}
    mixed: dict[str, None] = {}
    for point in points:
        if isinstance(point.task, Checked):
            parts.setdefault(repr(point.task), point.task)
        if isinstance(point.subject, StaticVectors) and not point.subject.loaded:
            queries = [query for metric in point.metrics for query in metric.asked]
            corpus = point.subject.corpus
            asked = sorted({f"{query.name} {query.language}" for query in queries})
            corpora.setdefault(repr((corpus, asked)), (corpus, queries))
        if point.mixture:
            mixed[point.mixture] = None
    for part in parts.values():
        part.check()
    for corpus, queries in corpora.values():
        check_corpus(corpus, queries)
    for told in mixed:
        line = f"warning: {told}: what is measured is neither the one nor the other"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
