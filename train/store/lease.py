"""What a running sweep needs, in a file that it holds locked for as long as it lives: results that
``gc`` leaves alone, and a sign of life for the processes that work for it.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from train.store.lock import LEASE, HeldError, held, locked
from train.store.store import error_of_removed

EVERY = 0.5  # seconds between two looks whether the sweep lives

_known: set[str] = set()  # leases that this process holds, or watches already


@contextmanager
def lease(root: Path, keys: Iterable[str]) -> Iterator[Callable[[Iterable[str]], None]]:
    """Hold a lease on the results with these keys in the store ``root``, and on those that the
    function in the block is given; it raises ``StoreError`` where the store is gone.

    A store that can only be read has none, for there nobody removes anything.
    """
    path = root / "leases" / uuid.uuid4().hex

    def add(more: Iterable[str]) -> None:
        if str(path) in _known:
            if not path.exists():
                raise error_of_removed(root)
            with open(path, "a", encoding="ascii") as file:
                file.writelines(f"{key}\n" for key in more)

    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _clear(path.parent)
            stack.enter_context(locked(path))
            stack.callback(path.unlink, missing_ok=True)
            os.truncate(path, 0)
            _known.add(str(path))
            stack.enter_context(_in_environment(path))
        add(keys)
        yield add


@contextmanager
def _in_environment(path: Path) -> Iterator[None]:
    outer = os.environ.get(LEASE)
    os.environ[LEASE] = str(path)
    try:
        yield
    finally:
        os.environ.pop(LEASE)
        os.environ |= {LEASE: outer} if outer else {}


def leased(root: Path) -> set[str]:
    """The keys that running sweeps hold a lease on."""
    _clear(root / "leases")
    found: set[str] = set()
    for path in (root / "leases").glob("*"):
        with suppress(FileNotFoundError):
            found |= set(path.read_text(encoding="ascii").split())
    return found


def _clear(folder: Path) -> None:
    """Remove the leases of sweeps that were killed."""
    for path in folder.glob("*"):
        with suppress(HeldError), locked(path, wait=False):
            path.unlink(missing_ok=True)


def end_with_the_sweep() -> None:
    """Have this process, an engine's worker, end soon after the sweep that it works for, whatever
    ends that, and on whatever machine.
    """
    path = os.environ.get(LEASE)
    if path and path not in _known:
        _known.add(path)
        threading.Thread(target=_watch, args=(Path(path),), daemon=True).start()


def _watch(path: Path) -> None:
    while True:
        with suppress(OSError):  # a file system that does not answer says nothing about the sweep
            if not held(path):
                os._exit(1)
        time.sleep(EVERY)
