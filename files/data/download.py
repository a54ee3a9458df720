"""Checked downloads that go on where they broke: nothing stands under its final name before its
digests are those of the registry.

pooch, the library for this, was tried: it starts a broken file anew, decodes what is served with
``Content-Encoding: gzip``, and knows no git blob digest.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import time
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from biasbridge.files.data.registry import DataFile
from biasbridge.files.errors import DISK_FULL, InputError
from biasbridge.files.paths import atomic_path, open_no_link

_AGENT = "biasbridge (research software; urllib)"
_TRIES = 4  # without progress, of one address
_LONGEST_WAIT = 60  # seconds that a server may ask for; another address is quicker
_TIMEOUT = 30
CHUNK = 2**18
_TRANSIENT = (408, 429, 500, 502, 503, 504)
_GITHUB = ("github.com", "raw.githubusercontent.com", "codeload.github.com")
_HTML = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)

Differs = Callable[[Path], str]
Report = Callable[[int], object]  # of bytes that came
Wait = Callable[[float], object]


class DownloadError(InputError):
    """A file that no address gave as the registry names it."""


class _DifferentError(Exception):
    """Content that is not what the registry names."""


def _file_digest(path: Path, algorithm: str) -> str:
    """Return the digest of a file; ``gitblob`` is git's name of the content."""
    name = "sha1" if algorithm == "gitblob" else algorithm
    computed = hashlib.new(name, usedforsecurity=False)
    if algorithm == "gitblob":
        computed.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as stream:
        while chunk := stream.read(2**20):
            computed.update(chunk)
    return computed.hexdigest()


def find_difference(path: Path, checks: Mapping[str, str], n_bytes: int | None = None) -> str:
    """Return how a file differs in size or digests; empty if it does not."""
    size = path.stat().st_size
    if n_bytes is not None and size != n_bytes:
        return f"{size:,} bytes instead of {n_bytes:,}"
    for algorithm, expected in checks.items():
        if (computed := _file_digest(path, algorithm)) != expected:
            return f"{algorithm} {computed[:12]} instead of {expected[:12]}, {size:,} bytes"
    return ""


def split_login(address: str) -> tuple[str, str]:
    """Return an address without its login, and the login as a header, "" for none.

    Raises ``InputError``, which shows nothing of it, for a text that is no address.
    """
    try:
        parts = urlsplit(address)
        is_address = "://" in address and parts.port != 0  # no number: a "/" within a password
    except ValueError:
        is_address = False
    if not is_address:
        problem = "the mirror (BIASBRIDGE_MIRROR) is not an address"
        raise InputError(f"{problem}; give https://HOST/FOLDER, in a password / as %2F, @ as %40")
    login, _, host = parts.netloc.rpartition("@")
    login = unquote(login if ":" in login else f"{login}:")
    header = f"Basic {b64encode(login.encode()).decode()}" if "@" in parts.netloc else ""
    return parts._replace(netloc=host).geturl(), header


def download(
    addresses: Sequence[str],
    target: Path,
    *,
    login: str = "",
    n_bytes: int | None = None,
    differs: Differs = lambda _: "",
    report: Report = lambda _: None,
    tries: int = _TRIES,
    wait: Wait = time.sleep,
) -> str:
    """Download a file from the first address that gives it, and return that address.

    ``login``, as of ``split_login``, is sent to each address. ``differs`` tells how what came
    differs from what the registry names. What came of a broken download lies beside the target as
    ``.NAME.part``, where the next call goes on. Raises ``DownloadError`` with the reason of each
    address, and ``InputError`` if the disk is full.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    reasons = {}
    for address in addresses:
        try:
            _try_address(address, login, part, n_bytes, differs, report, tries, wait)
            os.replace(part, target)
        except _DifferentError as error:
            _discard(part)
            reasons[address] = f"is not the file that the registry names: {error}; nothing was kept"
        except OSError as error:
            if error.errno in DISK_FULL:
                raise InputError(
                    f"cannot write {target}: {error.strerror}; free some space, and run the same"
                    " command to continue"
                ) from error
            reasons[address] = _explain(error)
        except HTTPException as error:
            reasons[address] = f"broke off ({type(error).__name__})"
        else:
            _tag(part).unlink(missing_ok=True)
            return address
    listed = "; ".join(f"{address} {reason}" for address, reason in reasons.items())
    raise DownloadError(f"{target.name} did not come: {listed}")


def _try_address(
    address: str,
    login: str,
    part: Path,
    n_bytes: int | None,
    differs: Differs,
    report: Report,
    tries: int,
    wait: Wait,
) -> None:
    """Bring ``part`` to its end and check it; progress renews the tries."""
    n_failures = 0
    while True:
        size = _size(part)
        try:
            if n_bytes is None or size != n_bytes:  # else all came before, and is to be checked
                _append(address, login, part, n_bytes, report)
            if n_bytes is not None and _size(part) != n_bytes:
                raise _DifferentError(f"{_size(part):,} bytes instead of {n_bytes:,}")
            if difference := _name_page(part) or differs(part):
                raise _DifferentError(difference)
            return
        except HTTPError as error:
            if error.code == 416:  # nothing after what is here
                _discard(part)
            elif error.code not in _TRANSIENT:
                raise
            n_failures += 1
            after = error.headers.get("Retry-After", "")
            pause = float(after) if after.isdigit() else 2.0**n_failures
            if n_failures >= tries or pause > _LONGEST_WAIT:
                raise
        except (OSError, HTTPException) as error:
            if isinstance(error, OSError) and error.errno in DISK_FULL:
                raise
            if _is_certificate(error):
                raise
            n_failures = 1 if _size(part) > size else n_failures + 1
            if n_failures >= tries:
                raise
            pause = 2.0**n_failures
        wait(pause)


def _append(address: str, login: str, part: Path, n_bytes: int | None, report: Report) -> None:
    """Append what is missing of ``part``, or write it anew if the server's file is another one."""
    size, tag = _size(part), _tag(part)
    request = Request(address, headers={"User-Agent": _AGENT, "Accept-Encoding": "identity"})
    old_tag = ""
    if tag.exists():
        with open(tag, opener=open_no_link) as noted:  # a link's target would be sent
            old_tag = noted.read()
    if size and old_tag:
        request.add_header("Range", f"bytes={size}-")
        request.add_header("If-Range", old_tag)
    token = os.environ.get("GITHUB_TOKEN")
    if not login and token and urlsplit(address).hostname in _GITHUB:
        login = f"Bearer {token}"
    if login:
        request.add_unredirected_header("Authorization", login)
    with urlopen(request, timeout=_TIMEOUT) as answer:
        is_rest = answer.status == 206
        if is_rest and not answer.headers.get("Content-Range", "").startswith(f"bytes {size}-"):
            _discard(part)
            raise OSError("sent another part than was asked for")
        length = answer.headers.get("Content-Length", "")
        expected = int(length) + (size if is_rest else 0) if length.isdigit() else None
        if n_bytes is not None and expected is not None and expected != n_bytes:
            raise _DifferentError(f"the server offers {expected:,} bytes instead of {n_bytes:,}")
        new_tag = answer.headers.get("ETag", "")
        # A weak tag promises no equal bytes
        with open(tag, "w", opener=open_no_link) as noted:
            noted.write("" if new_tag.startswith("W/") else new_tag)
        report(0 if is_rest else -size)
        with open(part, "ab" if is_rest else "wb", opener=open_no_link) as stream:
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
                report(len(chunk))
                if n_bytes is not None and stream.tell() > n_bytes:
                    raise _DifferentError(f"more than {n_bytes:,} bytes")
    if expected is not None and _size(part) < expected:
        raise OSError("the connection ended early")


def _explain(error: OSError) -> str:
    if isinstance(error, HTTPError):
        reason = f"answered {error.code} {str(error.reason).partition('.')[0]}"
        is_github = urlsplit(error.url or "").hostname in _GITHUB
        if error.code in (403, 429) and is_github:
            reason += " (GitHub limits requests: wait an hour, or set GITHUB_TOKEN)"
        return reason
    if _is_certificate(error):
        return f"has a certificate that is not trusted ({error}); a proxy's: set SSL_CERT_FILE"
    cause = error.reason if isinstance(error, URLError) else error
    return f"did not answer ({cause})" if isinstance(error, URLError) else f"broke off ({cause})"


def _is_certificate(error: Exception) -> bool:
    return "CERTIFICATE" in str(error)


def _name_page(path: Path) -> str:
    """Return that a web page came in place of data; empty if none did."""
    with path.open("rb") as stream:
        is_page = _HTML.match(stream.read(200)) is not None
    return "a web page (of a login, a proxy or an error)" if is_page else ""


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def extract_zip(archive: Path, files: Iterable[DataFile], folder: Path) -> None:
    """Write the members that the registry names to the files' targets below ``folder``.

    The names in the archive are never used as paths. Raises ``DownloadError`` for a member that is
    missing or differs.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for file in files:
                entry = opened.getinfo(file.member)
                with opened.open(entry) as stream:
                    _write_member(stream, file, folder, file.member_checks, entry.file_size)
    except KeyError as error:
        raise DownloadError(f"{archive.name}: {error.args[0]}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # or a cipher
        raise DownloadError(f"{archive.name} is not a whole zip file: {error}") from error


def extract_repository(archive: Path, files: Iterable[DataFile], folder: Path) -> None:
    """Write files of a repository's ``.tar.gz`` to their targets below ``folder``; of a path that
    ends with ``/``, every file in that folder.

    Raises ``DownloadError`` for a member that is a link, is missing, or differs.
    """
    wanted = {file.repository_path: file for file in files}
    folders = {path: file for path, file in wanted.items() if path.endswith("/")}
    missing = {*wanted}
    try:
        with tarfile.open(archive, mode="r|gz") as opened:
            for member in opened:
                path = member.name.partition("/")[2]
                file = wanted.get(path)
                around = next((name for name in folders if path.startswith(name)), None)
                if (not file and not around) or member.isdir():
                    continue
                stream = opened.extractfile(member) if member.isfile() else None
                if stream is None or ".." in path.split("/"):
                    raise DownloadError(f"{archive.name}: {path} is a link, not a file")
                if file:
                    _write_member(stream, file, folder, file.checks, file.n_bytes or member.size)
                elif around:
                    target = folders[around].target + path.removeprefix(around)
                    _write_member(stream, DataFile(target, ()), folder, {}, member.size)
                missing.discard(around or path)
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise
        raise DownloadError(f"{archive.name} is not a whole .tar.gz: {error}") from error
    if missing:
        raise DownloadError(f"{archive.name} has no {', '.join(sorted(missing)[:3])}")


def _write_member(
    stream: IO[bytes], file: DataFile, folder: Path, checks: Mapping[str, str], n_bytes: int
) -> None:
    with atomic_path(folder / file.target) as part:
        with part.open("wb") as out:
            shutil.copyfileobj(stream, out, CHUNK)
        if difference := find_difference(part, checks, n_bytes):
            raise DownloadError(f"{file.target} is not what the registry names: {difference}")
