"""What is wrong with the input of every point is met once, before any is planned; what deserves a
second look is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from rich.console import Console

    from train.point import Plan
    from train.store import Store


@runtime_checkable
class Checked(Protocol):
    """A part whose input can be looked at without building anything."""

    def check(self) -> None:
        """Raise ``InputError`` for what no point can be made of."""


def check_input(plans: Iterable[Plan], store: Store, console: Console) -> None:
    """Check every different task whose results are not there yet, and say where a point is part
    generated, part not. Raises ``InputError``.
    """
    parts: dict[str, Checked] = {}
    mixed: dict[str, None] = {}
    for plan in plans:
        task = plan.point.task
        if isinstance(task, Checked) and plan.task and not store.has(plan.task):
            parts.setdefault(repr(task), task)
        if told := plan.point.mixture:
            mixed[told] = None
    for part in parts.values():
        part.check()
    for told in mixed:
        line = f"warning: {told}: what is measured is neither the one nor the other"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
