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

    Any number of processes hold it ``shared``, or one alone, whose process id and host the file
    then names. Who waits for longer than ``SILENT`` says for ``what`` and for whom. Raises
    ``HeldError`` where it must not ``wait``, and ``NoLockError``.
    """
    start, pause, said = time.monotonic(), 0.01, False
    while (descriptor := _open(path, shared)) is None:
        if not wait:
            raise HeldError(path)
        if not said and time.monotonic() - start > SILENT:
            log.warning("waiting for %s, which %s holds", what or path, _holder(path))
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
    taken = False
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        taken = _lock(descriptor, kind, path) and _named(descriptor, path)
        if taken and not shared:
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} on {platform.node()}".encode())
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


def _holder(path: Path) -> str:
    with suppress(OSError):
        if found := path.read_text(encoding="utf-8"):
            return f"process {found}"
    return "another process"
