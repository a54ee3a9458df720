"""Mistakes in the input of points are found before any is planned; what deserves a second look is
said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from train.parts.part import Checked

if TYPE_CHECKING:
    from rich.console import Console

    from train.point import Point


def check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """The points, which are checked as they come: every different task and subject once, so that a
    mistake is answered before the other cells are composed. Says where a point is part synthetic,
    part not. Raises ``InputError``.
    """
    found: list[Point] = []
    checked: set[str] = set()
    for point in points:
        queries = point.queries
        asked = sorted({f"{query.name} {query.language}" for query in queries})
        for part in (point.task, point.subject):
            what = repr((getattr(part, "checked", part), asked))
            if isinstance(part, Checked) and what not in checked:
                part.check(queries)
                checked.add(what)
        found.append(point)
    for mixture in dict.fromkeys(point.mixture for point in found if point.mixture):
        line = f"warning: {mixture}: what is measured is neither the one nor the other"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    return found
