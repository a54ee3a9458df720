"""What a running sweep needs, in a file that it holds locked for as long as it lives: results that
``gc`` leaves alone, and a sign of life for the processes that work for it.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from train.store.lock import HeldError, held, locked
from train.store.store import error_of_removed

LEASE = "BIASBRIDGE_LEASE"  # the environment variable by which an engine's workers know it
EVERY = 0.5  # seconds between two looks whether the sweep lives

_known: set[str] = set()  # leases that this process holds, or watches already


class Lease:
    """A lease that is held; none where the store can only be read, for there nobody removes
    anything.
    """

    def __init__(self) -> None:
        self.path: Path | None = None

    @property
    def mark(self) -> str:
        """What the environment of the processes that work for the sweep holds; empty for none."""
        return f"{LEASE}={self.path}" if self.path else ""

    def add(self, keys: Iterable[str]) -> None:
        """Hold the results with these keys too. Raises ``StoreError`` where the store is gone."""
        if not self.path:
            return
        if not self.path.exists():
            raise error_of_removed(self.path.parent.parent)
        with open(self.path, "a", encoding="ascii") as file:
            file.writelines(f"{key}\n" for key in keys)


@contextmanager
def lease(root: Path, keys: Iterable[str]) -> Iterator[Lease]:
    """Hold a lease on the results with these keys in the store ``root``."""
    own = Lease()
    with ExitStack() as stack:
        with suppress(OSError):
            own.path = stack.enter_context(_hold(root / "leases" / uuid.uuid4().hex))
            own.add(keys)
        yield own


@contextmanager
def _hold(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    clear(path.parent)
    with locked(path):
        os.truncate(path, 0)
        outer = os.environ.get(LEASE)
        os.environ[LEASE] = str(path)
        _known.add(str(path))
        try:
            yield path
        finally:
            os.environ.pop(LEASE)
            os.environ |= {LEASE: outer} if outer else {}
            path.unlink(missing_ok=True)


def leased(root: Path) -> set[str]:
    """The keys that running sweeps hold a lease on."""
    clear(root / "leases")
    found: set[str] = set()
    for path in _files(root / "leases"):
        with suppress(FileNotFoundError):
            found |= set(path.read_text(encoding="ascii").split())
    return found


def clear(folder: Path) -> None:
    """Remove the leases of sweeps that were killed."""
    for path in _files(folder):
        with suppress(HeldError), locked(path, wait=False):
            path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.is_file()]


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
