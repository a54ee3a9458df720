"""Lines of UTF-8 text, streamed from plain, gzip, bzip2 or xz files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from files.errors import InputError, nearest

Opener = Callable[[Path, str], object]
OPENERS: dict[str, Opener] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# What the openers raise while reading; bz2 and gzip use a bare OSError for bad data.
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)


def open_binary(path: str | Path) -> IO[bytes]:
    """The decompressed bytes of a file (by its suffix); ``InputError`` if it cannot be opened.

    Reading on may raise one of ``DAMAGE`` when the archive is cut or corrupt.
    """
    path = Path(path)
    if not path.exists():
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"no such file: {path}{nearest(path.name, siblings)}")
    if not path.is_file():
        raise InputError(f"{path} is a folder; give a file")
    opener = OPENERS.get(path.suffix)
    try:
        return cast("IO[bytes]", opener(path, "rb") if opener else open(path, "rb"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def read_lines(path: str | Path) -> Iterator[str]:
    r"""The lines of a text file without their ``\n`` (or ``\r\n``), in constant memory.

    Only the newline ends a line, so that Unicode separators inside a post survive. Raises
    ``InputError`` for a missing or empty file, for bytes that are not UTF-8 (naming the line), and
    for a damaged archive.
    """
    number = 0
    try:
        with io.TextIOWrapper(open_binary(path), encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 - read after the loop
                yield line.rstrip("\r\n") if line.endswith("\n") else line
    except UnicodeDecodeError as error:
        # TextIOWrapper decodes ahead, so the count above may lag behind the bad line: look it up.
        bad = f"line {_bad_line(path)} is not UTF-8 ({error.reason})"
        raise InputError(f"{path}: {bad}; convert the file, for example with iconv") from None
    except DAMAGE as error:
        bad = f"damaged archive after line {number} ({error})"
        raise InputError(f"{path}: {bad}; copy the file again") from None
    if number == 0:
        raise InputError(f"{path} is empty")


def _bad_line(path: str | Path) -> int:
    """The first line, counted from 1, that does not decode as UTF-8."""
    with open_binary(path) as raw:
        for number, line in enumerate(raw, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0
