"""Write beside the target, then rename: a reader sees the whole file or none."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from files.errors import InputError


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """A temporary path in the target's folder that becomes ``target``, or vanishes on any error.

    The block may create a file or a folder at the path it is given, with the target's suffix kept.
    Missing parents are made. Raises ``InputError`` when the folder cannot be written or the disk is
    full.
    """
    target = Path(target)
    work = target.with_name(f".{target.stem}-{uuid.uuid4().hex[:12]}{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work.touch()
        work.unlink()
    except OSError as error:
        reason = f"cannot write {target}: {error.strerror}"
        raise InputError(f"{reason}; choose a folder that can be written") from error
    try:
        yield work
        os.replace(work, target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
            reason = f"cannot write {target}: {error.strerror}"
            raise InputError(f"{reason}; free some space, or choose another folder") from error
        raise
    finally:
        if work.is_dir():
            shutil.rmtree(work)
        else:
            work.unlink(missing_ok=True)
