"""Errors of the disk under a store, with a remedy."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from files.errors import DISK_FULL
from train.engine.store.lock import NoLockError

MIN_FREE_BYTES = 1 << 20  # with less, a write error is reported as a full disk
NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)


class StoreError(RuntimeError):
    """The store cannot be written; its results stay valid."""


def error_of_removed(root: Path) -> StoreError:
    """Return the error for a store that was removed during the sweep."""
    return StoreError(
        f"store.dir={root} was removed during the sweep; run the same command to rebuild its"
        " results"
    )


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Turn an error of the disk into a ``StoreError`` with a remedy; let other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOENT and not root.is_dir():
            raise error_of_removed(root) from error
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
    if is_in_store and error.errno in NOT_WRITABLE:
        return f"it cannot be written ({error.strerror})"
    with suppress(OSError):
        # Libraries report a short write by errors of their own
        if shutil.disk_usage(root).free < MIN_FREE_BYTES:
            return f"the disk is full ({error})"
    return ""
