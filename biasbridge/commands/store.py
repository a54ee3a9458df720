"""The store of results: list them, check their files, remove old ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from biasbridge.command_line import Command, Group

if TYPE_CHECKING:
    from rich.console import Console

Act: TypeAlias = "Callable[[Console], int | None]"


def ls(step: str | None = None, *, store: str = "store") -> Act:
    """List the results with their size and time.

    Parameters
    ----------
    step : str, optional
        List only this step, such as vectors.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    return partial(tools.ls, tools.open_store(store), step)


def verify(step: str | None = None, *, store: str = "store") -> Act:
    """Compare every file with its checksum.

    Parameters
    ----------
    step : str, optional
        Check only this step, such as vectors.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    return partial(tools.verify, tools.open_store(store), step)


def gc(*, older_than: str | None = None, dry_run: bool = False, store: str = "store") -> Act:
    """Remove leftovers of broken runs, and results that were not used for long.

    Parameters
    ----------
    older_than : str, optional
        Also remove results and unfinished trainings older than this, such as 12h or 8w.
    dry_run : bool
        Only list what would be removed.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    opened = tools.open_store(store)
    return lambda console: tools.gc(opened, older_than, console, dry_run=dry_run)


def _command(function: Callable[..., Act], **options: Any) -> Command:
    spelling = "step STEP?; store DIR; older_than AGE"
    return Command(function, lambda act, console: act(console), spelling=spelling, **options)


main = Group(
    "store",
    {
        "ls": _command(ls, arguments=["step"]),
        "gc": _command(gc),
        "verify": _command(verify, arguments=["step"]),
    },
)
