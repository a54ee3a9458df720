"""Text files: lines of plain and compressed files, JSON Lines, nested YAML and JSON."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.paths import atomic_path

if TYPE_CHECKING:
    import yaml
    from typing_extensions import Buffer

T = TypeVar("T")

# Errors of the openers while reading; bz2 and gzip raise a bare OSError for bad data.
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
_BOM = "\ufeff"
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # first bytes, by protocol
_UTF16_REMEDY = "save it as 'CSV UTF-8' (Excel), or convert it with 'iconv -f UTF-16 -t UTF-8'"
_MARKED = "utf-16"  # with a byte order mark
_HEAD = 512  # bytes that tell UTF-16 from others
_WESTERN = "cp1252"  # of Windows in Western Europe and America; has the letters of Latin-1
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]{3}")  # in text of Cyrillic or Greek that is read as Western
_WORD = re.compile(r"\S+", re.ASCII)
_MAX_FOREIGN = 1 / 3  # share of the lines beyond ASCII


def read_lines(path: str | Path, notes: list[str] | None = None) -> Iterator[str]:
    r"""Yield the lines of a text file without their ``\n`` (or ``\r\n``), in constant memory.

    Only the newline ends a line, so that Unicode separators inside a post survive. With a list of
    ``notes``, UTF-16 and Windows-1252 are read too, and a note says so. Raises ``InputError`` for a
    missing or empty file, for bytes in another encoding (naming the line), and as ``open_binary``
    does. A byte order mark is left out.
    """
    number = 0
    with open_binary(path) as content:
        encoding = _find_utf16(content.peek(_HEAD)[:_HEAD])
        if encoding and notes is None:
            raise InputError(f"{path} is UTF-16; {_UTF16_REMEDY}")
        if encoding and notes is not None:
            notes.append(f"{path} is read as UTF-16")
            lines = _decode_utf16(content, str(path), encoding)
        else:
            lines = _decode_lines(content, str(path), notes)
        for number, text in enumerate(lines, 1):
            text = text.removeprefix(_BOM) if number == 1 else text
            yield text.rstrip("\r\n") if text.endswith("\n") else text
    if number == 0:
        raise InputError(f"{path} is empty")


def read_head(path: str | Path, n_bytes: int) -> str:
    """Return the first characters of a file in UTF-8 or UTF-16, without a byte order mark."""
    with open_binary(path) as content:
        head = content.read(n_bytes)
    return head.decode(_find_utf16(head[:_HEAD]) or "utf-8", "ignore").removeprefix(_BOM)


def _find_utf16(head: bytes) -> str:
    """Return the UTF-16 of a byte order mark, or of text where every second byte is 0; else ""."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _MARKED
    halves = {"utf-16-be": (head[::2], head[1::2]), "utf-16-le": (head[1::2], head[::2])}
    return next(
        (
            encoding
            for encoding, (high, low) in halves.items()
            if 0 not in low and high.count(0) > len(high) / 2
        ),
        "",
    )


def _decode_utf16(content: IO[bytes], path: str, encoding: str) -> Iterator[str]:
    try:
        yield from io.TextIOWrapper(content, encoding, newline="\n")
    except UnicodeError as error:
        raise InputError(f"{path} is damaged UTF-16 ({error}); write it again") from None


def _decode_lines(content: IO[bytes], path: str, notes: list[str] | None) -> Iterator[str]:
    """Yield the lines of UTF-8, or of Windows-1252 if the first beyond ASCII is not UTF-8."""
    first = n_foreign = n_accented = 0
    for number, line in enumerate(content, 1):
        if line.isascii():
            yield line.decode("ascii")
            continue
        problem = _problem_of_utf8(line)
        if not first:
            first, is_binary = number, b"\0" in line or line.startswith(_PICKLES)
            is_western = bool(problem) and notes is not None and not is_binary
            encoding = _WESTERN if is_western else "utf-8"
        if not problem and encoding == _WESTERN:
            mixed = f"line {number} is UTF-8, but line {first} is not"
            raise InputError(f"{path}: {mixed}; write the file in one encoding")
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError:
            convert = "convert the file, for example with iconv"
            remedy = "it is binary: give a text file" if is_binary else convert
            raise InputError(f"{path}: line {number} is not UTF-8 ({problem}); {remedy}") from None
        if encoding == _WESTERN and notes is not None:
            n_accented += 1
            n_foreign += bool(_FOREIGN.search(text))
            if number == first:
                words = _WORD.findall(text)  # a no-break space parts none
                example = next(word for word in words if not word.isascii())[:40]
                where = f"line {number} has {example!r}"
                notes.append(f"{path} is not UTF-8: read as Windows-1252 ({_WESTERN}), {where}")
        yield text
    if n_foreign > _MAX_FOREIGN * n_accented:
        problem = f"{path} is neither UTF-8 nor in a Western encoding"
        raise InputError(f"{problem}; convert it to UTF-8, for example with iconv")


def _problem_of_utf8(line: bytes) -> str:
    """Return why a line is not UTF-8; empty if it is."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason
    return ""


def open_binary(path: str | Path) -> io.BufferedReader:
    """Open the decompressed bytes of a file (by its suffix) for sequential reading.

    Raises ``InputError`` as ``open_plain`` does; reading raises it for a truncated or corrupt
    archive.
    """
    return io.BufferedReader(_Unpacked(Path(path)), 1 << 17)


def open_plain(path: Path) -> IO[bytes]:
    """Open the bytes of a file, not unpacked. Raises ``InputError`` if that fails."""
    try:
        if path.is_file():
            return open(path, "rb")
        kind = "is a folder" if path.is_dir() else "is a pipe or device" if path.exists() else ""
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; check its name and permissions"
        ) from error
    if kind:
        raise InputError(f"{path} {kind}; give a file")
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    raise InputError(f"no such file: {path}{nearest(path.name, siblings)}")


def unpacked_name(path: Path) -> Path:
    """Return the path without the suffix of an archive: ``a.csv`` of ``a.csv.gz``."""
    return path.with_suffix("") if path.suffix.lower() in OPENERS else path


def require_written_archive(path: Path) -> None:
    """Raise ``InputError`` for a suffix of an archive that is read, but not written."""
    if path.suffix in OPENERS and path.suffix != ".gz":
        raise InputError(f"{path}: of archives only .gz is written; give another name")


def read_json_lines(
    path: str | Path, adapter: TypeAdapter[T], kind: str, notes: list[str] | None = None
) -> Iterator[T]:
    """Yield an object per line, as ``number_json_lines`` does."""
    return (value for _, value in number_json_lines(path, adapter, kind, notes))


def number_json_lines(
    path: str | Path, adapter: TypeAdapter[T], kind: str, notes: list[str] | None = None
) -> Iterator[tuple[int, T]]:
    """Yield the number of each line and its object; blank lines are skipped. ``notes``: as in
    ``read_lines``.

    Raises ``InputError`` with the line if that is no object of this kind.
    """
    for number, line in enumerate(read_lines(path, notes), 1):
        if not line.strip():
            continue
        yield number, parse_json(line, adapter, f"{path}: line {number} is not a {kind}")


def parse_json(text: str, adapter: TypeAdapter[T], problem: str) -> T:
    """Return the value of a JSON text; ``InputError`` with the problem if it is of another kind."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        raise InputError(f"{problem} ({reason})") from None


def write_json_lines(rows: Iterable[T], adapter: TypeAdapter[T], path: str | Path) -> None:
    """Write an object per line; a reader sees the whole file or none."""
    with atomic_path(path) as work, work.open("wb") as out:
        out.writelines(adapter.dump_json(row) + b"\n" for row in rows)


def read_nested(path: str | Path) -> object:
    """Read a file as plain Python values; JSON by its suffix, else YAML.

    Raises ``InputError`` as ``read_lines`` does, and for a file that is not YAML or JSON, is nested
    too deeply, or gives a key twice in one mapping.
    """
    import yaml

    # YAML's own errors, and those that its constructors of numbers and dates raise
    malformed = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError)
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    text = "\n".join(read_lines(path))
    try:
        if kind == "JSON":
            return json.loads(text, object_pairs_hook=_unique)
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        _refuse_repeated(yaml.compose(text, Loader=loader))
        content: object = yaml.load(text, Loader=loader)
    except RecursionError:
        raise InputError(f"{path} is nested too deeply; write it flatter") from None
    except (*malformed, ArithmeticError) as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None
    return content


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object. Raise ``ValueError`` for a key given twice: one value would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} is given twice in one object")
    return values


def _refuse_repeated(root: yaml.Node | None) -> None:
    """Raise ``ValueError`` for a key given twice in a YAML mapping."""
    import yaml

    nodes, seen = [root], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if not isinstance(node, yaml.MappingNode):
            nodes += node.value
            continue
        keys = set()
        for key, value in node.value:
            nodes += [key, value]
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":  # <<
                continue
            if (key.tag, key.value) in keys:
                line = f"line {key.start_mark.line + 1}: " if key.start_mark else ""
                raise ValueError(f"{line}the key {key.value!r} is given twice in one mapping")
            keys.add((key.tag, key.value))


def _open_member(packed: IO[bytes], mode: str) -> IO[bytes]:
    """Open the only file of a zip archive; ``InputError`` names the files if there are several."""
    try:
        archive = zipfile.ZipFile(packed)
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not name.startswith("__MACOSX/")
        ]
        if len(names) == 1:
            return archive.open(names[0])
    except (*_DAMAGE, NotImplementedError, RuntimeError) as error:  # a cipher or method
        raise InputError(
            f"{packed.name}: damaged archive ({error}); copy it again, or unpack it"
        ) from None
    listed = ", ".join(names[:5]) + ", ..." * (len(names) > 5)
    problem = f"the zip holds {len(names)} files ({listed})" if names else "the zip holds no file"
    raise InputError(f"{packed.name}: {problem}; unpack it, and give one of them")


OPENERS: dict[str, Callable[[IO[bytes], str], object]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_member,
}


class _Unpacked(io.RawIOBase):
    """The decompressed bytes of a file; every reading error is an ``InputError``."""

    def __init__(self, path: Path) -> None:
        opener = OPENERS.get(path.suffix.lower())
        self._path, self._packed, self._size = path, open_plain(path), 0
        self._plain = cast("IO[bytes]", opener(self._packed, "rb") if opener else self._packed)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a part of the buffer; return the number of bytes read, 0 at the end."""
        with memoryview(buffer) as room:
            try:
                data = self._plain.read(len(room))
            except (*_DAMAGE, MemoryError) as error:
                if self._plain is self._packed:
                    problem = f"cannot read {self._path}: {error}"
                    raise InputError(f"{problem}; check its disk") from error
                reason = f"{self._size:,} unpacked bytes ({str(error) or type(error).__name__})"
                problem = f"{self._path}: damaged archive after {reason}"
                raise InputError(f"{problem}; copy the file again, or unpack it") from error
            room[: len(data)] = data
        self._size += len(data)
        return len(data)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._plain.close()
            self._packed.close()
        super().close()
