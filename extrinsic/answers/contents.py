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
from pydantic_core import from_json

from biasbridge.files import InputError
from biasbridge.files.text import open_binary, open_plain

LARGEST = 2 << 30  # bytes of a JSON file, and of all members of an archive
LARGEST_MEMBER = 256 << 20
ZSTANDARD = 93  # zipfile reads it from Python 3.14 on
LOCAL_HEADER = struct.Struct("<4s22xHH")  # mark, lengths of name and extra field
Json = dict[str, Any]


@contextmanager
def refuse_damage(place: object) -> Iterator[None]:
    """Raise ``InputError`` with the place for content that is damaged or of another form."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # of libraries, and of values that are missing or of another type
        reason = "no " * isinstance(error, KeyError) + " ".join(str(error).split())
        problem = f"{place} is damaged, or not as its program writes it ({reason})"
        raise InputError(f"{problem}; copy it again") from error


def read_object(path: Path) -> Json:
    """Read the JSON object in a file."""
    with open_binary(path, largest=LARGEST) as content:
        return parse_object(content.read(), path)


def parse_object(content: bytes, place: object) -> Json:
    """Read a JSON object. Raise ``InputError`` with its place for another or damaged one."""
    with refuse_damage(place):
        return {**from_json(content)}


def read_members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a ZIP archive whose names match; of a name that occurs twice the last.

    Raises ``InputError`` for one that unpacks to more than ``LARGEST`` bytes.
    """
    with open_plain(path) as raw:
        with refuse_damage(path):
            archive = zipfile.ZipFile(raw)
        sizes = [info.file_size for info in archive.infolist()]
        if sum(sizes) > LARGEST or max(sizes, default=0) > LARGEST_MEMBER:
            problem = (
                f"{path} unpacks to {sum(sizes):,} bytes, its largest member to {max(sizes):,}"
            )
            raise InputError(f"{problem}; allowed are {LARGEST:,} and {LARGEST_MEMBER:,}")
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
    return pa.CompressedInputStream(packed, "zstd").read(info.file_size + 1)


def read_arrow(path: Path, read: Callable[[IO[bytes]], pa.Table]) -> list[Json]:
    """Return the rows of a file that a function of Arrow reads."""
    with open_plain(path) as raw, refuse_damage(path):
        table = read(raw)
        table.validate(full=True)  # before cells are read at the offsets that it names
        return table.to_pylist()


def named_beside(path: Path, name: str) -> Path:
    """Return the file beside ``path`` that it names, by its whole name or the last part of it.

    Raises ``InputError`` for a name that leaves the folder.
    """
    folder, parts = path.parent, PurePath(name)
    file = folder / name if (folder / name).is_file() else folder / parts.name
    if ".." in parts.parts or folder.resolve() not in file.resolve().parents:
        raise InputError(f"{path} names {name!r}, a file outside its folder; give that file")
    return file
