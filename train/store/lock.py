"""Locks of the operating system (``flock``), which die with their holder, on this machine and on
file systems that several machines share.
"""

from __future__ import annotations

import fcntl
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SILENT = 5.0  # seconds of waiting before it is said for what
LONGEST = 0.5  # seconds between two tries
LEASE = "BIASBRIDGE_LEASE"  # the environment variable that all processes of one sweep share

log = logging.getLogger(__name__)


class HeldError(Exception):
    """Another process holds the lock."""


class NoLockError(OSError):
    """The file system gives no lock."""

    def __str__(self) -> str:
        return f"its file system gives no lock ({self.strerror})"


@contextmanager
def locked(
    path: Path, what: str = "", *, wait: bool = True, shared: bool = False
) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is missing and stays.

    Any number of processes hold it ``shared``, or one alone, whose process id, host and sweep the
    file then names. Who waits for longer than ``SILENT`` says for ``what`` and for whom, but for a
    process of the same sweep. Raises ``HeldError`` where it must not ``wait``, and ``NoLockError``.
    """
    start, pause, said = time.monotonic(), 0.01, False
    while (descriptor := _open(path, shared)) is None:
        if not wait:
            raise HeldError(path)
        if not said and time.monotonic() - start > SILENT and (holder := _other_holder(path)):
            log.warning("waiting for %s, which %s holds", what or path, holder)
            said = True
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)
    try:
        yield
    finally:
        os.close(descriptor)


def held(path: Path) -> bool:
    """Whether a process holds the lock alone; a file that is missing is held by none."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH, path)  # for an instant it takes it itself
    finally:
        os.close(descriptor)


def _open(path: Path, shared: bool) -> int | None:
    """The descriptor that holds the lock, or None where another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    kind, taken = fcntl.LOCK_SH if shared else fcntl.LOCK_EX, False
    try:
        if _lock(descriptor, kind, path) and _named(descriptor, path):
            if not shared:
                holder = f"{os.getpid()} on {platform.node()}\n{os.environ.get(LEASE, '')}"
                os.truncate(descriptor, 0)
                os.write(descriptor, holder.encode())
            taken = True  # only now: where the disk is full, another process may have it
    finally:
        if not taken:
            os.close(descriptor)
    return descriptor if taken else None


def _lock(descriptor: int, kind: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # file systems say either where it is held
        return False
    except OSError as error:
        raise NoLockError(error.errno, os.strerror(error.errno or 0), os.fspath(path)) from error
    return True


def _named(descriptor: int, path: Path) -> bool:
    """Whether the file still has its name: who cleans removes lock files that nobody holds."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


def _other_holder(path: Path) -> str:
    """Return who holds the lock; empty for a process of the sweep that this one works for."""
    holder, sweep = "", ""
    with suppress(OSError):
        holder, _, sweep = path.read_text(encoding="utf-8").partition("\n")
    if sweep and sweep == os.environ.get(LEASE):
        return ""
    return f"process {holder}" if holder else "another process"
