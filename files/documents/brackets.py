"""The brackets that mark mentions in a column of a CoNLL file.

``(7`` opens a mention of entity 7 at its first token, ``7)`` closes it at its last, ``(7)`` is a
mention of one token. A cell holds any number of them, with or without ``|`` between: ``(3|(4)``,
``(3(4)``. ``-``, ``_`` and an empty cell hold none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from biasbridge.files.documents.document import Cluster, Span

NONE = ("", "-", "_")
MARK = re.compile(r"\([^\s()|]+\)?|[^\s()|]+\)")
CELL = re.compile(rf"(?:{MARK.pattern})(?:\|?(?:{MARK.pattern}))*")

Fault = Callable[[str, int], None]


def is_cell(text: str) -> bool:
    """Test whether a text is a valid cell of a column of mentions."""
    return text in NONE or bool(CELL.fullmatch(text))


class OpenBracket(NamedTuple):
    """An opening bracket without its partner yet."""

    token: int
    line: int
    order: int


class Brackets:
    """Collects the mentions of one document, cell by cell.

    Mentions may cross. Of two mentions of one entity the one opened last closes first.
    ``fault(problem, line)`` is called for a bracket without its partner and for a mention in two
    clusters or twice in one. If it returns, the bracket is ignored and the mention belongs to the
    entity that opened it first.
    """

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._open: dict[str, list[OpenBracket]] = defaultdict(list)
        self._entities: dict[Span, tuple[int, str]] = {}  # order of opening, entity
        self._order = 0

    def read(self, cell: str, token: int, line: int) -> None:
        """Read the brackets of a token; ``line`` is its line in the file."""
        for mark in MARK.findall(cell):
            entity = mark.strip("()")
            if mark.startswith("("):
                self._open[entity].append(OpenBracket(token, line, self._order))
                self._order += 1
            if mark.endswith(")"):
                self._close(entity, token, line)

    def _close(self, entity: str, token: int, line: int) -> None:
        if not self._open[entity]:
            self._fault(f"{entity}) closes a mention that was not opened", line)
            return
        opened = self._open[entity].pop()
        span = (opened.token, token + 1)
        mention = (opened.order, entity)
        if span in self._entities:
            entities = f"{self._entities[span][1]} and of {entity}"
            self._fault(f"{entity}) closes a mention of {entities} with the same tokens", line)
        self._entities[span] = min(self._entities.get(span, mention), mention)

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the mentions by entity, in order of their beginnings."""
        for entity, unclosed in self._open.items():
            for opened in unclosed:
                self._fault(f"({entity} opens a mention that is not closed", opened.line)
        by_entity: dict[str, list[Span]] = defaultdict(list)
        for span in sorted(self._entities):
            by_entity[self._entities[span][1]].append(span)
        return tuple(map(tuple, by_entity.values()))
