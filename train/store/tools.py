"""What ``python -m train.store`` does to a store: list it, check it, remove what is no longer
needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import track
from rich.table import Table

from files import InputError
from train.estimate import duration
from train.store.digests import is_outdated, is_wrong
from train.store.entry import RECIPE, Content, DamagedError, check, read_recipe
from train.store.lease import leased
from train.store.lock import HeldError, NoLockError, locked
from train.store.store import NOT_STAGES, Store, StoreError

if TYPE_CHECKING:
    from rich.console import Console

UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def open_store(root: str) -> Store:
    """The store in a folder. Raises ``InputError`` where there is none."""
    if not (Path(root) / "locks").is_dir():
        raise InputError(f"{root} is no store: it has no folder locks; give one with --store DIR")
    return Store(root)


def entries(store: Store, stage: str | None = None) -> list[Path]:
    """The folders of all results, or of one stage. Raises ``InputError`` for a stage that has
    none.
    """
    stages = [
        path.name
        for path in sorted(store.root.iterdir())
        if path.is_dir() and path.name not in NOT_STAGES and not path.name.startswith(".")
    ]
    if stage is not None and stage not in stages:
        raise InputError(
            f"{store.root} has no stage {stage!r}; it has {', '.join(stages) or 'none'}"
        )
    return [entry for name in stages if stage in (None, name) for entry in store.entries(name)]


def ls(store: Store, stage: str | None, console: Console) -> None:
    """One row a stage, or one row a result of one stage; what is under way, orphaned and damaged
    below.
    """
    console.print(_stages(store) if stage is None else _results(store, stage))
    orphans = {path.name for path in store.orphans(remove=False)}
    being_built = store.in_progress() - orphans
    console.print(
        f"{len(being_built)} being built, {len(orphans)} orphaned,"
        f" {len(_damaged(store))} damaged and set aside"
    )


def _stages(store: Store) -> Table:
    table = Table(title=str(store.root), title_justify="left")
    _columns(table, "stage", "results", "size", "took", "last used")
    for name in dict.fromkeys(entry.parent.name for entry in entries(store)):
        group = entries(store, name)
        known = [content for entry in group if (content := _content(entry))]
        table.add_row(
            name,
            str(len(group)),
            format_bytes(sum(map(size, group))),
            duration(sum(content["made"]["seconds"] for content in known)),
            _date(max(map(last_used, group))),
        )
    return table


def _results(store: Store, stage: str) -> Table:
    table = Table(title=str(store.root), title_justify="left")
    _columns(table, "key", "made by", "size", "took", "made", "last used")
    for entry in entries(store, stage):
        cells = ("damaged",) * 4
        if content := _content(entry):
            cells = (
                content["recipe"]["made_by"],
                format_bytes(size(entry)),
                duration(content["made"]["seconds"]),
                content["made"]["time"][:10],
            )
        table.add_row(entry.name[:12], *cells, _date(last_used(entry)))
    return table


def verify(store: Store, stage: str | None, console: Console) -> int:
    """Compare every file with its checksum; 1 if a result is damaged, else 0. A remembered digest
    of a file from outside that is wrong is removed, results are left as they are.
    """
    found = entries(store, stage)
    bad = 0
    for entry in track(
        found, "checking", console=console, transient=True, disable=not console.is_terminal
    ):
        try:
            check(entry)
        except DamagedError as damage:
            bad += 1
            console.print(
                f"damaged: {entry.parent.name} {entry.name}: {damage}",
                soft_wrap=True,
                highlight=False,
            )
    console.print(
        f"{len(found)} results, {format_bytes(sum(map(size, found)))} checked, {bad} damaged",
        highlight=False,
    )
    for memo in store.memos() if stage is None else ():
        if is_wrong(memo):
            memo.unlink(missing_ok=True)
            console.print(f"removed a wrong digest of a file: {memo}", soft_wrap=True)
    if bad:
        console.print(
            "a damaged result is set aside and built again when a sweep next needs it",
            highlight=False,
        )
    return 1 if bad else 0


def gc(store: Store, older_than: str | None, console: Console, *, dry_run: bool) -> None:
    """Remove what no sweep can use: orphaned work, damaged results, locks nobody holds; with an
    age, results not used for so long too, but for those that running sweeps need.

    A result that is removed is built again when it is needed. Ages are of the last use (noted once
    a process).
    """
    before = time.time() - age(older_than) if older_than else None
    needed = leased(store.root)
    table = Table(title="would be removed" if dry_run else "removed", title_justify="left")
    _columns(table, "what", "how many", "size")
    for what, folders in _garbage(store, before, needed):
        removed = [(size(path), dry_run or _remove(store, path)) for path in folders]
        gone = [count for count, done in removed if done]
        table.add_row(what, str(len(gone)), format_bytes(sum(gone)))
    console.print(table)
    if kept := needed & {entry.name for entry in entries(store)}:
        console.print(f"{len(kept)} results are in use by running sweeps", highlight=False)


def age(text: str) -> float:
    """Seconds of an age such as ``30d``. Raises ``InputError``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text)
    if not match:
        raise InputError(f"--older-than {text}: give a number and m, h, d or w, such as 30d")
    return float(match[1]) * UNITS[match[2]]


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def format_bytes(count: float) -> str:
    """``340 B``, ``1.2 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def last_used(entry: Path) -> float:
    """When a process last found the result whole, in seconds since 1970."""
    recipe = entry / RECIPE
    return (recipe if recipe.exists() else entry).stat().st_mtime


def _garbage(
    store: Store, before: float | None, needed: set[str]
) -> Iterator[tuple[str, list[Path]]]:
    yield "orphaned work", store.orphans(remove=False)
    yield "unfinished trainings", sorted((store.root / "unfinished").glob("*"))
    yield "damaged results", _damaged(store)
    outdated = [memo for memo in store.memos() if is_outdated(memo)]
    yield "digests of files", outdated
    if before is not None:
        old = [entry for entry in entries(store) if last_used(entry) < before]
        yield "unused results", [entry for entry in old if entry.name not in needed]
    yield "locks", sorted((store.root / "locks").glob("*.lock"))


def _remove(store: Store, path: Path) -> bool:
    """Remove a file or folder unless a process holds its key; whether it is gone."""
    is_lock = path.parent.name == "locks"
    try:
        # Whoever waits for a lock file that is removed here notices, and takes the one that has its
        # name then.
        with locked(path if is_lock else store.lock(path), wait=False):
            if path.is_dir() and not path.is_symlink():
                store.remove(path)
            else:
                path.unlink(missing_ok=True)
    except HeldError:
        return False
    except (OSError, StoreError) as error:
        why = error if isinstance(error, StoreError | NoLockError) else error.strerror
        raise InputError(f"{path} cannot be removed: {why}") from error
    return True


def _damaged(store: Store) -> list[Path]:
    return sorted((store.root / "damaged").glob("*"))


def _content(entry: Path) -> Content | None:
    """What is noted of a result; None for a damaged one."""
    with suppress(DamagedError):
        return read_recipe(entry)
    return None


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _columns(table: Table, first: str, *numbers: str) -> None:
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
