"""Who uses a store: locks (``flock``) that end with their process, also on shared file systems, and
errors of the disk under it.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import platform
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biasbridge.files.errors import DISK_FULL
from biasbridge.files.paths import open_no_link

_SECONDS_BEFORE_MESSAGE = 5.0  # of waiting for a lock
_MAX_PAUSE = 0.5  # seconds between two tries
SWEEP = "BIASBRIDGE_SWEEP"  # in the environment of all processes of a sweep: the lock that it holds
_CHECK_INTERVAL = 0.5  # seconds between a worker's checks that the sweep is running
_MIN_FREE_BYTES = 1 << 20  # with less, a write error is reported as a full disk
_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)

log = logging.getLogger(__name__)

_sweeps: set[str] = set()  # whose locks this process holds or watches


class StoreError(RuntimeError):
    """The store cannot be written; its results stay valid."""


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
    ``_SECONDS_BEFORE_MESSAGE`` logs it, unless the holder works for the same sweep. Raises
    ``HeldError`` without ``wait``, ``NoLockError``, and ``InputError`` for a link.
    """
    start, pause, is_logged = time.monotonic(), 0.01, False
    while (descriptor := _open(path)) is None:
        if not wait:
            raise HeldError(path)
        if (
            not is_logged
            and time.monotonic() - start > _SECONDS_BEFORE_MESSAGE
            and (holder := other_holder(path))
        ):
            log.warning("waiting for %s, locked by %s", what or path, holder)
            is_logged = True
        time.sleep(pause)
        pause = min(2 * pause, _MAX_PAUSE)
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
    descriptor = open_no_link(path, os.O_RDWR | os.O_CREAT)
    is_locked = False
    try:
        if _lock(descriptor, fcntl.LOCK_EX, path) and _is_current(descriptor, path):
            holder = f"{os.getpid()} on {platform.node()}\n{os.environ.get(SWEEP, '')}"
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


def other_holder(path: Path) -> str:
    """Return who holds the lock; empty for a process of the same sweep."""
    holder, sweep = "", ""
    with suppress(OSError):
        holder, _, sweep = path.read_text(encoding="utf-8").partition("\n")
    if sweep and sweep == os.environ.get(SWEEP):
        return ""
    return f"process {holder}" if holder else "another process"


@contextmanager
def running_sweep(folder: Path) -> Iterator[None]:
    """Hold a lock in a folder: a sweep runs, and its workers know by it that it is their own."""
    path = folder / f"sweep-{uuid.uuid4().hex}.lock"
    with locked(path):
        _sweeps.add(str(path))
        os.environ[SWEEP] = str(path)
        try:
            yield
        finally:
            os.environ.pop(SWEEP)
            with suppress(OSError):
                path.unlink()


def end_with_the_sweep() -> None:
    """Make this worker process end soon after its sweep, on any machine."""
    path = os.environ.get(SWEEP)
    if path and path not in _sweeps:
        _sweeps.add(path)
        threading.Thread(target=_watch, args=(Path(path),), daemon=True).start()


def _watch(path: Path) -> None:
    while True:
        with suppress(OSError):  # an unavailable file system is no sign of a dead sweep
            if not is_held(path):
                os._exit(1)
        time.sleep(_CHECK_INTERVAL)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Turn an error of the disk into a ``StoreError`` with a remedy; let other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOENT and not root.is_dir():
            remedy = "run the same command to rebuild its results"
            raise StoreError(f"store.dir={root} was removed during the sweep; {remedy}") from error
        if reason := _disk_problem(error, root):
            raise StoreError(
                f"store.dir={root}: {reason}. Finished results stay; free some space"
                " (biasbridge store gc) or choose another folder with store.dir=PATH, then"
                " run the same command to continue"
            ) from error
        raise


def _disk_problem(error: OSError, root: Path) -> str:
    """Return what is wrong with the disk; empty for an error of another kind."""
    if isinstance(error, NoLockError):
        return str(error)
    if error.errno in DISK_FULL:
        return f"the disk is full ({error.strerror})"
    path = error.filename2 or error.filename
    is_in_store = path is not None and Path(os.fsdecode(path)).is_relative_to(root)
    if is_in_store and error.errno in _NOT_WRITABLE:
        return f"it cannot be written ({error.strerror})"
    with suppress(OSError):
        # Libraries report a short write by errors of their own
        if shutil.disk_usage(root).free < _MIN_FREE_BYTES:
            return f"the disk is full ({error})"
    return ""
