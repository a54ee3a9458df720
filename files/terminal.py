"""The console to which every command prints."""

from __future__ import annotations

from typing import Any

from rich.console import Console


def open_console(**options: Any) -> Console:
    """Return rich's ``Console`` with ``options``, without markup, emoji and highlighting."""
    return Console(markup=False, emoji=False, highlight=False, **options)
