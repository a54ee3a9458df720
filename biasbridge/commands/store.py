"""The store of results: list them, explain one, export vectors, check files, remove old ones."""

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
        Only this step, such as vectors.
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
        Only this step, such as vectors.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    return partial(tools.verify, tools.open_store(store), step)


def explain(key: str, *, store: str = "store") -> Act:
    """Show the recipe of a result and the command that recomputes it.

    Parameters
    ----------
    key : str
        A key or the beginning of one.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    return partial(tools.explain, tools.open_store(store), key)


def export(key: str, file: str, *, force: bool = False, store: str = "store") -> Act:
    """Write the vectors of a result to a file.

    Parameters
    ----------
    key : str
        A key or the beginning of one.
    file : path
        File to write, whose extension sets the format: .vec, .bin, .glove.
    force : bool
        Replace the file that is there.
    store : path
        Folder of the store.
    """
    from biasbridge.train.engine import store_tools as tools

    found = tools.find_entry(tools.open_store(store), key)
    return lambda console: tools.export(found, file, console, force=force)


def gc(*, older_than: str | None = None, dry_run: bool = False, store: str = "store") -> Act:
    """Remove orphaned and long unused results.

    Parameters
    ----------
    older_than : str, optional
        Remove also results and unfinished trainings so old, as 12h or 8w.
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
        "explain": _command(explain),
        "export": _command(export),
        "gc": _command(gc),
        "verify": _command(verify, arguments=["step"]),
    },
)
