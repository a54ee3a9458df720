"""Leases: a file that a running sweep keeps locked and that lists the results it needs.

``gc`` leaves these results alone, and workers see by the lock that their sweep is running.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from train.engine.store.disk_errors import error_of_removed, writing
from train.engine.store.lock import LEASE, HeldError, is_held, locked

CHECK_INTERVAL = 0.5  # seconds between checks that the sweep is running

_leases: set[str] = set()  # held or watched by this process


@contextmanager
def lease(root: Path, keys: Iterable[str]) -> Iterator[Callable[[Iterable[str]], None]]:
    """Hold a lease on results with these keys; the block gets a function that adds keys.

    The function raises ``StoreError`` if the store is gone or full. A read-only store has no
    leases, as nothing is removed from it.
    """
    path = root / "leases" / uuid.uuid4().hex

    def add(new_keys: Iterable[str]) -> None:
        if str(path) in _leases:
            if not path.exists():
                raise error_of_removed(root)
            with writing(root), open(path, "a", encoding="ascii") as file:
                file.writelines(f"{key}\n" for key in new_keys)

    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_dead_leases(path.parent)
            stack.enter_context(locked(path))
            stack.callback(path.unlink, missing_ok=True)
            os.truncate(path, 0)
            _leases.add(str(path))
            stack.enter_context(_in_environment(path))
        add(keys)
        yield add


@contextmanager
def _in_environment(path: Path) -> Iterator[None]:
    previous = os.environ.get(LEASE)
    os.environ[LEASE] = str(path)
    try:
        yield
    finally:
        os.environ.pop(LEASE)
        os.environ |= {LEASE: previous} if previous else {}


def leased_keys(root: Path) -> set[str]:
    """Return the keys on which running sweeps hold a lease."""
    _remove_dead_leases(root / "leases")
    keys: set[str] = set()
    for path in (root / "leases").glob("*"):
        with suppress(FileNotFoundError):
            keys |= set(path.read_text(encoding="ascii").split())
    return keys


def _remove_dead_leases(folder: Path) -> None:
    """Remove the leases of sweeps that were killed."""
    for path in folder.glob("*"):
        with suppress(HeldError), locked(path, wait=False):
            path.unlink(missing_ok=True)


def end_with_the_sweep() -> None:
    """Make this worker process end soon after its sweep, on any machine."""
    path = os.environ.get(LEASE)
    if path and path not in _leases:
        _leases.add(path)
        threading.Thread(target=_watch, args=(Path(path),), daemon=True).start()


def _watch(path: Path) -> None:
    while True:
        with suppress(OSError):  # an unavailable file system is no sign of a dead sweep
            if not is_held(path):
                os._exit(1)
        time.sleep(CHECK_INTERVAL)
