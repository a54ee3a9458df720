"""SHA-256 of files from outside. Those of large files are remembered in the store's folder
``digests``, by path, size, inode and times, so that they are hashed once.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from files import InputError
from files.digest import digest_of, sha256

LARGE = 64 << 20  # bytes; smaller files are hashed by every process
FRESH = 2_000_000_000  # nanoseconds; the coarsest times of a file system in use


class Identity(TypedDict):
    """What a file keeps while nobody writes it."""

    path: str
    size: int
    inode: int
    mtime: int
    ctime: int


_hashed: dict[str, str] = {}


def digest(folder: Path, path: Path) -> str:
    """The SHA-256 of a file, remembered by this process, and in ``folder`` where the file is large;
    not where it has just been written, for a second change may leave the times as they are.
    """
    identity = identify(path)
    name = digest_of(identity)
    if name in _hashed:
        return _hashed[name]
    large = identity["size"] >= LARGE
    if large and (known := read_memo(folder / name)):
        return known[1]
    found = sha256(path)
    if time.time_ns() - identity["ctime"] < FRESH:
        return found
    _hashed[name] = found
    if large:
        with suppress(OSError):  # a store that can only be read, or is full, remembers nothing
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(json.dumps([identity, found, digest_of([identity, found])]))
    return found


def identify(path: Path) -> Identity:
    """The file as it is now. Raises ``InputError`` where there is none."""
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    path = path.resolve()
    stat = path.stat()
    return {
        "path": str(path),
        "size": stat.st_size,
        "inode": stat.st_ino,
        "mtime": stat.st_mtime_ns,
        "ctime": stat.st_ctime_ns,
    }


def read_memo(memo: Path) -> tuple[Identity, str] | None:
    """What is remembered, and of which file; None where that cannot be read or was altered."""
    with suppress(OSError, ValueError):
        identity, found, own = json.loads(memo.read_text(encoding="utf-8"))
        if own == digest_of([identity, found]) and memo.name == digest_of(identity):
            return identity, found
    return None


def is_outdated(memo: Path) -> bool:
    """Whether no file is any more what a memo remembers."""
    known = read_memo(memo)
    try:
        return known is None or identify(Path(known[0]["path"])) != known[0]
    except InputError:
        return True


def is_wrong(memo: Path) -> bool:
    """Whether a memo was altered, or the file that it remembers has another SHA-256."""
    known = read_memo(memo)
    if known is None:
        return True
    return not is_outdated(memo) and sha256(Path(known[0]["path"])) != known[1]
