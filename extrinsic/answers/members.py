"""Members of ZIP archives, deflated or compressed with Zstandard, within bounds."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from files import InputError
from files.text import open_plain

ZSTANDARD = 93  # zipfile reads it from Python 3.14 on
LARGEST_MEMBER = 256 << 20
LARGEST_RATIO = 200  # of the unpacked archive to its size
SMALL = 64 << 20  # bytes to which any archive may unpack
LOCAL_HEADER = struct.Struct("<4s22xHH")  # mark, lengths of name and extra field
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError)
DAMAGE += (NotImplementedError, ValueError, pa.ArrowException)


class Members:
    """The members of an open archive by name."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        self.names = [*dict.fromkeys(archive.namelist())]  # of a repeated name the last counts
        total = sum(info.file_size for info in archive.infolist())
        most = max(SMALL, LARGEST_RATIO * path.stat().st_size)
        largest = max((info.file_size for info in archive.infolist()), default=0)
        if total > most or largest > LARGEST_MEMBER:
            problem = f"{path} unpacks to {total:,} bytes, its largest member to {largest:,}"
            raise InputError(f"{problem}; allowed are {most:,} and {LARGEST_MEMBER:,}")

    def read(self, name: str) -> bytes:
        """Return the bytes of a member, of exactly the size and checksum that the archive names."""
        info = self._archive.getinfo(name)
        with _refusing(self._path, name):
            if info.compress_type == ZSTANDARD:
                content = self._read_zstandard(info)
            else:
                with self._archive.open(info) as member:
                    content = member.read(info.file_size + 1)
            if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
                raise zipfile.BadZipFile("size or checksum differ from those in its directory")
        return content

    def _read_zstandard(self, info: zipfile.ZipInfo) -> bytes:
        with open_plain(self._path) as raw:
            raw.seek(info.header_offset)
            mark, name, extra = LOCAL_HEADER.unpack(raw.read(LOCAL_HEADER.size))
            if mark != b"PK\x03\x04" or info.flag_bits & 1:
                raise zipfile.BadZipFile("encrypted, or not where the directory says")
            raw.seek(name + extra, 1)
            packed = pa.BufferReader(raw.read(info.compress_size))
        content: bytes = pa.CompressedInputStream(packed, "zstd").read(info.file_size + 1)
        return content


@contextmanager
def open_members(path: Path) -> Iterator[Members]:
    """Open an archive. Raise ``InputError`` for damage and for an archive beyond the bounds."""
    with open_plain(path) as raw:
        with _refusing(path):
            archive = zipfile.ZipFile(raw)
        yield Members(path, archive)


@contextmanager
def _refusing(path: Path, name: str = "") -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        where = f"{path}: member {name!r}" if name else f"{path}"
        reason = " ".join(str(error).split())
        raise InputError(f"{where} is truncated or damaged ({reason}); copy it again") from error
