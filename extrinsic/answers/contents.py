"""Contents of log files, within bounds: JSON, members of ZIP archives, tables of Arrow."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any

import pyarrow as pa
from pydantic import ValidationError

from files import InputError
from files.tables import JSON_OBJECT
from files.text import open_binary, open_plain

LARGEST = 2 << 30  # bytes of a JSON file
LARGEST_MEMBER = 256 << 20
LARGEST_RATIO = 200  # of an unpacked archive to its size
SMALL = 64 << 20  # bytes to which any archive may unpack
ZSTANDARD = 93  # zipfile reads it from Python 3.14 on
LOCAL_HEADER = struct.Struct("<4s22xHH")  # mark, lengths of name and extra field
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError)
DAMAGE += (ValueError, pa.ArrowException)


@contextmanager
def refuse_damage(place: object) -> Iterator[None]:
    """Raise ``InputError`` with the place for damage that a library meets."""
    try:
        yield
    except InputError:
        raise
    except DAMAGE as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{place} is truncated or damaged ({reason}); copy it again") from error


def read_object(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file."""
    with open_binary(path, largest=LARGEST) as content:
        return parse_object(content.read(), path)


def parse_object(content: bytes, place: object) -> dict[str, Any]:
    """Read a JSON object. Raise ``InputError`` with its place for another or damaged one."""
    try:
        return JSON_OBJECT.validate_json(content)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise InputError(f"{place} is no JSON object ({reason}); copy it again") from None


def read_members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a ZIP archive whose names match; of a name that occurs twice the last.

    Raises ``InputError`` for one that unpacks to more than ``SMALL`` bytes and ``LARGEST_RATIO``
    times its size.
    """
    with open_plain(path) as raw:
        with refuse_damage(path):
            archive = zipfile.ZipFile(raw)
        sizes = [info.file_size for info in archive.infolist()]
        bound = max(SMALL, LARGEST_RATIO * path.stat().st_size)
        if sum(sizes) > bound or max(sizes, default=0) > LARGEST_MEMBER:
            problem = (
                f"{path} unpacks to {sum(sizes):,} bytes, its largest member to {max(sizes):,}"
            )
            raise InputError(f"{problem}; allowed are {bound:,} and {LARGEST_MEMBER:,}")
        for name in dict.fromkeys(filter(re.compile(pattern).fullmatch, archive.namelist())):
            with refuse_damage(f"{path}: {name}"):
                info = archive.getinfo(name)
                content = _read_member(archive, info, raw)
                if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
                    raise ValueError("size or checksum differ from those in its directory")
            yield name, content


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, raw: IO[bytes]) -> bytes:
    if info.compress_type != ZSTANDARD:
        with archive.open(info) as member:
            return member.read(info.file_size + 1)
    raw.seek(info.header_offset)
    mark, name, extra = LOCAL_HEADER.unpack(raw.read(LOCAL_HEADER.size))
    if mark != b"PK\x03\x04" or info.flag_bits & 1:
        raise ValueError("encrypted, or not where its directory says")
    raw.seek(name + extra, 1)
    packed = pa.BufferReader(raw.read(info.compress_size))
    content: bytes = pa.CompressedInputStream(packed, "zstd").read(info.file_size + 1)
    return content


def read_arrow(path: Path, read: Callable[[IO[bytes]], pa.Table]) -> list[dict[str, Any]]:
    """Return the rows of a file that a function of Arrow reads."""
    with open_plain(path) as raw, refuse_damage(path):
        table = read(raw)
        table.validate(full=True)  # before cells are read at the offsets that it names
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows


def named_beside(path: Path, name: str) -> Path:
    """Return the file beside ``path`` that it names, by its whole name or the last part of it.

    Raises ``InputError`` for a name that leaves the folder.
    """
    folder, parts = path.parent, PurePath(name)
    file = folder / name if (folder / name).is_file() else folder / parts.name
    if ".." in parts.parts or folder.resolve() not in file.resolve().parents:
        raise InputError(f"{path} names {name!r}, a file outside its folder; give that file")
    return file
