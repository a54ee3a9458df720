"""Paths: where the project is, files written whole or not at all, names of outputs, hashes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from biasbridge.files.errors import DISK_FULL, InputError, nearest

ROOMS = (
    *("analysis", "corpora", "debias", "extrinsic", "files", "intrinsic", "stats", "studies"),
    "train",
)
HOME = Path(__file__).resolve().parent.parent  # has the rooms and conf, in a checkout or installed
IMPORTED_FROM = HOME.parent if (HOME / "__init__.py").is_file() else HOME  # has biasbridge
TRAIN = "python train.py" if (HOME / "train.py").is_file() else "biasbridge train"  # runs studies
_POINTS = "points.parquet"  # the first table of a results folder
_TEMPORARY = ".biasbridge-tmp-"  # a folder beside the target; a killed process leaves it behind


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside the target; it becomes ``target``, or vanishes on errors. So
    a reader sees the whole file or none.

    The block may create a file or a folder at the path it is given, which has the target's name.
    Missing parents are created. Raises ``InputError`` if the folder cannot be written or the disk
    is full.
    """
    target = Path(target)
    folder = target.parent / f"{_TEMPORARY}{secrets.token_hex(8)}"
    try:
        try:
            folder.mkdir(0o700, parents=True)
        except OSError as error:
            reason = f"cannot write {target}: {error.strerror}"
            raise InputError(f"{reason}; choose a folder that can be written") from error
        work = folder / target.name
        yield work
        os.replace(work, target)
    except OSError as error:
        if error.errno in (*DISK_FULL, errno.EROFS):
            reason = f"cannot write {target}: {error.strerror}"
            raise InputError(f"{reason}; free some space, or choose another folder") from error
        raise
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # also where a signal interrupts the first
            shutil.rmtree(folder, ignore_errors=True)


def open_no_link(path: str | Path, flags: int) -> int:
    """Open a file that is written, as the ``opener`` of ``open`` does; raise ``InputError`` for a
    link, whose target would be overwritten.
    """
    try:
        return os.open(path, flags | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            reason = "is a link, and writing to it would overwrite its target"
            raise InputError(f"{path} {reason}; remove the link") from error
        raise


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
        reason = f"{folder} is not a folder that can be written"
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


def require_results(results: str | os.PathLike[str]) -> None:
    """Raise ``InputError`` for a folder without tables, before anything slow is imported."""
    folder = Path(results)
    if not (folder / _POINTS).exists():
        nearby = (folder, folder.parent, folder.parent / "results")
        candidates = {str(path.parent) for root in nearby for path in root.glob(f"*/{_POINTS}")}
        hint = f"; results are in {', '.join(sorted(candidates)[:10])}" if candidates else ""
        raise InputError(f"no such file: {folder / _POINTS}{hint}")


def digest_of(value: object) -> str:
    """Hash a value as JSON with sorted keys: 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def sha256(path: Path) -> str:
    """Hash the bytes of a file: 64 hexadecimal digits."""
    with open(path, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()
