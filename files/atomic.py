"""Write beside the target, then rename: a reader sees the whole file or none."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from files.errors import DISK_FULL, InputError, nearest

TEMPORARY = ".biasbridge-tmp"  # beside the targets: a folder for each file that is being written
LOCK = ".lock"  # in each of these folders: locked while its process is writing
MAX_TRIES = 9  # to make such a folder while others remove the one around it


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside the target; it becomes ``target``, or vanishes on errors.

    The block may create a file or a folder at the path it is given, which has the target's name.
    Missing parents are created. Raises ``InputError`` if the folder cannot be written or the disk
    is full.
    """
    target = Path(target)
    try:
        folder, lock = _open_folder(target.parent / TEMPORARY)
        work = folder / target.name
        work.touch()
        work.unlink()
    except OSError as error:
        reason = f"cannot write {target}: {error.strerror}"
        raise InputError(f"{reason}; choose a folder that can be written") from error
    try:
        yield work
        os.replace(work, target)
    except OSError as error:
        if error.errno in (*DISK_FULL, errno.EROFS):
            reason = f"cannot write {target}: {error.strerror}"
            raise InputError(f"{reason}; free some space, or choose another folder") from error
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # others are writing beside
            folder.parent.rmdir()
        lock.close()


def _open_folder(parent: Path) -> tuple[Path, TextIO]:
    """Return a new folder in ``parent`` and its open lock, which ends with this process."""
    for _ in range(MAX_TRIES):
        folder = parent / uuid.uuid4().hex
        try:
            folder.mkdir(parents=True)
            lock = (folder / LOCK).open("w")
        except FileNotFoundError:  # another process has removed the folder while it was empty
            continue
        with suppress(OSError):  # of file systems without locks; sweeps refuse these
            fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / LOCK).exists():
            return folder, lock
        lock.close()
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(parent))


def require_output(target: str | Path, endings: Sequence[str]) -> Path:
    """Return the path ``target``; raise ``InputError`` if no file can be written there, or if the
    name ends in none of ``endings``.
    """
    target = Path(target)
    if target.suffix not in endings:
        name = f"the name must end in {', '.join(filter(None, endings))}"
        raise InputError(f"cannot write {target}: {name}{nearest(target.suffix, endings)}")
    try:
        if target.exists() and not target.is_file():
            kind = "a folder" if target.is_dir() else "a pipe or device"
            raise InputError(f"cannot write {target}: it is {kind}; give the name of a file")
        folder = next(parent for parent in target.absolute().parents if parent.exists())
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}; give another name") from None
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        reason = f"{folder} is no folder that can be written"
        raise InputError(f"cannot write {target}: {reason}; choose another")
    return target


def require_new(
    target: str | Path, *, inputs: Iterable[str | Path] = (), force: bool = False
) -> None:
    """Raise ``InputError`` if writing ``target`` would replace a file of ``inputs`` or, without
    ``force``, any file, or if its folder does not exist.
    """
    target = Path(target)
    for path in map(Path, inputs):
        if path.exists() and target.exists() and target.samefile(path):
            raise InputError(f"{target} is read, and would be overwritten; give another name")
    if target.is_dir():
        raise InputError(f"{target} is a folder that is there already; give another name")
    if target.exists() and not force:
        raise InputError(f"{target} is there already; give another name, or --force to replace it")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: there is no folder {target.parent}; make it")


def clear_leftovers(folder: Path) -> None:
    """Remove what killed processes left of ``atomic_path`` in a folder and the folders in it."""
    for place in (parent / TEMPORARY for parent in (folder, *folder.glob("*"))):
        for leftover in place.glob("*"):
            if not any(path.is_symlink() for path in (place.parent, place, leftover)):
                with suppress(OSError), (leftover / LOCK).open("a") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails for a live process
                    shutil.rmtree(leftover)
        with suppress(OSError):
            place.rmdir()
