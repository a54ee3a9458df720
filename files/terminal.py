"""The console to which every command prints."""

from __future__ import annotations

from typing import Any

from rich.console import Console


def open_console(**options: Any) -> Console:
    """Return a console that prints text as it is: ``[red]``, ``[/w]`` and ``:x:`` in a name are no
    markup, and no number is coloured. ``options``: of rich's ``Console``.
    """
    return Console(markup=False, emoji=False, highlight=False, **options)
