"""File locks (``flock``) that end with their process, also on shared file systems."""

from __future__ import annotations

import fcntl
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SECONDS_BEFORE_MESSAGE = 5.0  # of waiting for a lock
MAX_PAUSE = 0.5  # seconds between two tries
LEASE = "BIASBRIDGE_LEASE"  # the environment variable that all processes of one sweep share

log = logging.getLogger(__name__)


class HeldError(Exception):
    """Another process holds the lock."""


class NoLockError(OSError):
    """The file system does not support locks."""

    def __str__(self) -> str:
        return f"its file system does not support locks ({self.strerror})"


@contextmanager
def locked(path: Path, what: str = "", *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file, which is created if missing and stays.

    The file then holds the process id, host and sweep. A process that waits for
    ``SECONDS_BEFORE_MESSAGE`` logs it, unless the holder works for the same sweep. Raises
    ``HeldError`` without ``wait``, and ``NoLockError``.
    """
    start, pause, is_logged = time.monotonic(), 0.01, False
    while (descriptor := _open(path)) is None:
        if not wait:
            raise HeldError(path)
        if (
            not is_logged
            and time.monotonic() - start > SECONDS_BEFORE_MESSAGE
            and (holder := _other_holder(path))
        ):
            log.warning("waiting for %s, locked by %s", what or path, holder)
            is_logged = True
        time.sleep(pause)
        pause = min(2 * pause, MAX_PAUSE)
    try:
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Test whether a process holds the exclusive lock; False for a missing file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH, path)  # takes the lock itself for an instant
    finally:
        os.close(descriptor)


def _open(path: Path) -> int | None:
    """Return the descriptor that holds the lock; None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    is_locked = False
    try:
        if _lock(descriptor, fcntl.LOCK_EX, path) and _is_current(descriptor, path):
            holder = f"{os.getpid()} on {platform.node()}\n{os.environ.get(LEASE, '')}"
            os.truncate(descriptor, 0)
            os.write(descriptor, holder.encode())
            is_locked = True  # only now: with a full disk another process may get it
    finally:
        if not is_locked:
            os.close(descriptor)
    return descriptor if is_locked else None


def _lock(descriptor: int, kind: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # either means that it is held
        return False
    except OSError as error:
        raise NoLockError(error.errno, os.strerror(error.errno or 0), os.fspath(path)) from error
    return True


def _is_current(descriptor: int, path: Path) -> bool:
    """Test whether the file still has its name: cleaning removes lock files that nobody holds."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


def _other_holder(path: Path) -> str:
    """Return who holds the lock; empty for a process of the same sweep."""
    holder, sweep = "", ""
    with suppress(OSError):
        holder, _, sweep = path.read_text(encoding="utf-8").partition("\n")
    if sweep and sweep == os.environ.get(LEASE):
        return ""
    return f"process {holder}" if holder else "another process"
