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

    from train.point import Point


@runtime_checkable
class Checked(Protocol):
    """A part whose input can be looked at without building anything."""

    def check(self) -> None:
        """Raise ``InputError`` for what no point can be made of."""


def check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """The points, which are checked as they come: every different task and corpus at once, so that
    a mistake is answered before the other cells are composed. Says where a point is part generated,
    part not. Raises ``InputError``.
    """
    found: list[Point] = []
    seen: set[str] = set()
    for point in points:
        if isinstance(point.task, Checked) and (told := repr(point.task)) not in seen:
            point.task.check()
            seen.add(told)
        _check_corpus(point, seen)
        found.append(point)
    for told in dict.fromkeys(point.mixture for point in found if point.mixture):
        line = f"warning: {told}: what is measured is neither the one nor the other"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    return found


def _check_corpus(point: Point, seen: set[str]) -> None:
    """Check the corpus that vectors are trained on, against what they are asked, unless seen."""
    if not isinstance(point.subject, StaticVectors) or point.subject.loaded:
        return
    queries = [query for metric in point.metrics for query in metric.asked]
    corpus = point.subject.corpus
    told = repr((corpus, sorted({f"{query.name} {query.language}" for query in queries})))
    if told not in seen:
        check_corpus(corpus, queries)
        seen.add(told)
