"""Downloads from servers that break off, lie and throttle."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import ssl
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.files.data import download as module
from biasbridge.files.data.download import (
    _LONGEST_WAIT,
    _TRIES,
    CHUNK,
    DownloadError,
    _file_digest,
    download,
    extract_repository,
    extract_zip,
)
from biasbridge.files.data.download import find_difference as difference
from biasbridge.files.data.registry import RAW, DataFile
from tests.data_server import Reply, Server, tar_gz

BODY = bytes(range(256)) * 3000  # 768,000 bytes: two whole chunks and a part of one
OTHER = b"x" + BODY[1:]
CHECKS = {"sha256": hashlib.sha256(BODY).hexdigest()}
N = len(BODY)
BREAKS = Reply(cut=1000)


@pytest.fixture
def bring(server: Server, tmp_path: Path) -> Callable[..., Path]:
    """Download ``file`` from the server, without pauses."""
    (server.folder / "file").write_bytes(BODY)

    def run(*paths: str, n_bytes: int | None = N, waits: list[float] | None = None) -> Path:
        target = tmp_path / "data" / "file"
        download(
            [path if "://" in path else f"{server.url}/{path}" for path in paths or ("file",)],
            target,
            n_bytes=n_bytes,
            differs=partial(difference, checks=CHECKS),
            wait=(waits if waits is not None else []).append,
        )
        return target

    return run


def ranges(server: Server) -> list[str | None]:
    return [asked for _, asked in server.requests]


@dataclass
class Case:
    """Replies, then rightly (or ``then``), and the end: ``waits`` before it, ``error`` or none."""

    replies: Iterable[Reply]
    waits: list[float]
    error: str = ""
    ranges: list[str | None] | None = None
    n_bytes: int | None = N
    then: Iterable[Reply] = ()


FROM_1000 = [None, "bytes=1000-"]
LIMITED = {"Retry-After": "7"}
CASES = {
    "as it should be": Case([], [], ranges=[None]),
    "size unknown": Case([], [], n_bytes=None),
    "broken once, resumed": Case([BREAKS], [2], ranges=FROM_1000),
    "broken before the first byte": Case([Reply(cut=0)], [2], ranges=[None, None]),
    "broken again and again, with progress": Case(
        [BREAKS] * 6, [2] * 6, ranges=[None, *(f"bytes={k}000-" for k in range(1, 7))]
    ),
    "broken, size unknown": Case([BREAKS], [2], ranges=FROM_1000, n_bytes=None),
    "broken without progress": Case(
        [], [2, 4, 8], r"broke off \(the connection ended", then=repeat(Reply(cut=0))
    ),
    "ETag changed between": Case([BREAKS, Reply(etag='"2"')], [2], ranges=FROM_1000),
    "weak ETag": Case([Reply(cut=1000, etag='W/"1"')], [2], ranges=[None, None]),
    "no ETag": Case([Reply(cut=1000, etag="")], [2], ranges=[None, None]),
    "content and ETag changed between": Case(
        [BREAKS, Reply(etag='"2"', body=OTHER)], [2], "sha256 .* instead of"
    ),
    "Range ignored": Case([BREAKS, Reply(takes_range=False)], [2], ranges=FROM_1000),
    "another part": Case([BREAKS, Reply(shift=5)], [2, 4], ranges=[*FROM_1000, None]),
    "changed, same length": Case(
        [Reply(body=OTHER)], [], "sha256 .* instead of .*nothing was kept"
    ),
    "too short": Case([Reply(body=BODY[:-1])], [], "offers 767,999 bytes instead of 768,000"),
    "too long": Case([Reply(body=BODY + b"!")], [], "offers 768,001 bytes instead of 768,000"),
    "too short, length not said": Case(
        [Reply(body=BODY[:-1], length=None)], [], "767,999 bytes instead of 768,000"
    ),
    "too long, length not said": Case(
        [Reply(body=BODY * 2, length=None)], [], "more than 768,000 bytes"
    ),
    "too long, size unknown": Case([Reply(body=BODY + b"!")], [], "sha256", n_bytes=None),
    "Content-Length right, content short": Case([Reply(body=BODY[:-1], length=N)], [2]),
    "Content-Length too large": Case([Reply(length=N + 5)], [], "offers 768,005"),
    "Content-Length too large, size unknown": Case(
        [],
        [2, 4, 8],
        "broke off",
        n_bytes=None,
        then=repeat(Reply(length=N + 5, takes_range=False)),
    ),
    "Content-Length too small, size unknown": Case([Reply(length=9)], [], "sha256", n_bytes=None),
    "403": Case([Reply(403)], [], "answered 403 Forbidden"),
    "404": Case([Reply(404)], [], "answered 404 Not Found"),
    "416, then right": Case([BREAKS, Reply(416)], [2, 4], ranges=[*FROM_1000, None]),
    "416, always": Case([], [2, 4, 8], "answered 416", then=repeat(Reply(416))),
    "429 with a short Retry-After": Case([Reply(429, LIMITED)] * 2, [7, 7]),
    "429, always": Case([], [7, 7, 7], "answered 429", then=repeat(Reply(429, LIMITED))),
    "429 at the longest wait": Case([Reply(429, {"Retry-After": "60"})], [60]),
    "429 beyond the longest wait": Case([Reply(429, {"Retry-After": "61"})], [], "answered 429"),
    "429 with an hour": Case([Reply(429, {"Retry-After": "3600"})], [], "answered 429"),
    "429 with a date": Case([Reply(429, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})], [2]),
    "500 then right": Case([Reply(500)], [2]),
    "503 thrice then right": Case([Reply(503)] * 3, [2, 4, 8]),
    "503 four times": Case([Reply(503)] * 4, [2, 4, 8], "answered 503"),
    "redirect": Case([Reply(302, {"Location": "/again"})], [], ranges=[None, None]),
    "redirect loop": Case(
        [], [], "answered 302 .*redirect error", then=repeat(Reply(302, {"Location": "/file"}))
    ),
    "redirect to another kind": Case([Reply(302, {"Location": "file:///etc/passwd"})], [], "302"),
    "a page in place of data": Case(
        [Reply(body=b"<!DOCTYPE html><title>Log in")], [], "a web page", n_bytes=None
    ),
    "a page of another size": Case([Reply(body=b"<html>")], [], "offers 6 bytes"),
    "gzip although identity was asked": Case(
        [Reply(body=gzip.compress(BODY, mtime=0), headers={"Content-Encoding": "gzip"})],
        [],
        "offers [0-9,]+ bytes instead of",
    ),
    "no HTTP": Case([Reply(999)], [], "999"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_download_ends_right_or_in_one_clear_line(
    name: str, server: Server, bring: Callable[..., Path]
) -> None:
    case, waits = CASES[name], list[float]()
    address = server.reply("file", *case.replies, then=case.then)
    (server.folder / "again").write_bytes(BODY)
    target = server.folder.parent / "data" / "file"
    if case.error:
        with pytest.raises(DownloadError, match=case.error) as refusal:
            bring(n_bytes=case.n_bytes, waits=waits)
        assert str(refusal.value).startswith(f"file did not come: {address} ")
        assert "\\n" not in str(refusal.value)
        assert len(str(refusal.value)) < 300
        assert not target.exists()
    else:
        bring(n_bytes=case.n_bytes, waits=waits)
        assert target.read_bytes() == BODY
        assert [path.name for path in target.parent.iterdir()] == ["file"]
    assert waits == case.waits
    assert len(server.requests) >= len(waits) + 1
    if case.ranges is not None:
        assert ranges(server) == case.ranges


def test_the_tries_are_those_of_the_table() -> None:
    assert (_TRIES, _LONGEST_WAIT) == (4, 60)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)
@given(cuts=st.lists(st.integers(1, N), max_size=3), tags=st.booleans())
def test_broken_at_any_byte(
    cuts: list[int], tags: bool, server: Server, bring: Callable[..., Path]
) -> None:
    etags = [f'"{number if tags else 0}"' for number in range(len(cuts))]
    server.reply("file", *(Reply(cut=cut, etag=tag) for cut, tag in zip(cuts, etags, strict=True)))
    target = bring()
    assert target.read_bytes() == BODY
    target.unlink()


@pytest.mark.parametrize("cut", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, N - 1])
def test_broken_at_a_byte_the_rest_is_asked_for(
    cut: int, server: Server, bring: Callable[..., Path]
) -> None:
    server.reply("file", Reply(cut=cut))
    assert bring().read_bytes() == BODY
    assert ranges(server) == [None, f"bytes={cut}-"]


def test_an_answer_that_never_comes(
    server: Server, bring: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT", 0.05)
    server.reply("file", then=repeat(Reply(stalls=True)))
    with pytest.raises(DownloadError, match=r"(did not answer|broke off) \(timed out\)"):
        bring()
    server.reply("file", Reply(stalls=True))
    assert bring().read_bytes() == BODY


def test_a_server_that_is_down_is_left_for_the_next(
    server: Server, bring: Callable[..., Path]
) -> None:
    waits: list[float] = []
    assert bring("http://127.0.0.1:9/file", "missing", "file", waits=waits).read_bytes() == BODY
    assert waits == [2, 4, 8]
    (server.folder.parent / "data" / "file").unlink()
    with pytest.raises(DownloadError, match=r"9/file did not answer \(.*refused.*missing answered"):
        bring("http://127.0.0.1:9/file", "missing")


def test_a_part_of_one_address_is_no_start_for_another_file(
    server: Server, bring: Callable[..., Path]
) -> None:
    server.reply("first", then=[Reply(body=OTHER, cut=500, etag='"a"'), *[Reply(404)]])
    server.reply("file", Reply(etag='"b"'))
    assert bring("first", "file").read_bytes() == BODY


def test_github_is_named_where_it_limits(
    server: Server, bring: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_GITHUB", ("127.0.0.1",))
    for reply in (Reply(403), Reply(429, {"Retry-After": "3600"})):
        server.reply("file", reply)
        with pytest.raises(DownloadError, match=r"wait an hour, or set GITHUB_TOKEN\)$"):
            bring()


def test_a_token_goes_to_github_alone(
    server: Server, bring: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    bring()
    monkeypatch.setattr(module, "_GITHUB", ("127.0.0.1",))
    server.reply("file", Reply(302, {"Location": "/again"}))
    (server.folder / "again").write_bytes(BODY)
    bring()
    assert server.tokens == [None, "Bearer secret", None]  # nor where GitHub sends one on


def test_a_full_disk(
    server: Server, bring: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if self.tell() > 1000:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    def opened(path: Path, mode: str = "r", **options: Any) -> IO[Any]:
        return Full(path, mode) if path.suffix == ".part" else open(path, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module, "open", opened, raising=False)
        server.reply("file", Reply(cut=1000), Reply(cut=5000))
        with pytest.raises(InputError, match=r"cannot write .*file: No space left.*free some"):
            bring()
    assert bring().read_bytes() == BODY
    assert ranges(server)[-1] == "bytes=6000-"


def test_a_certificate_that_is_not_trusted_is_not_tried_again(
    bring: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise URLError(
            ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] self-signed")
        )

    monkeypatch.setattr(module, "urlopen", refuse)
    waits: list[float] = []
    with pytest.raises(DownloadError, match=r"certificate that is not trusted.*set SSL_CERT_FILE"):
        bring(waits=waits)
    assert waits == []


def test_interrupted_it_goes_on(server: Server, tmp_path: Path, bring: Callable[..., Path]) -> None:
    def interrupt(n_bytes: int) -> None:
        if n_bytes:
            raise KeyboardInterrupt

    target = tmp_path / "data" / "file"
    with pytest.raises(KeyboardInterrupt):
        download([f"{server.url}/file"], target, n_bytes=N, report=interrupt)
    assert not target.exists()
    assert bring().read_bytes() == BODY
    assert ranges(server) == [None, f"bytes={CHUNK}-"]


def test_what_came_whole_is_checked_and_not_asked_for_again(
    server: Server, tmp_path: Path, bring: Callable[..., Path]
) -> None:
    part = tmp_path / "data" / ".file.part"
    part.parent.mkdir()
    part.write_bytes(BODY)
    assert bring().read_bytes() == BODY
    assert server.requests == []


def test_a_part_that_another_process_spoiled(
    server: Server, tmp_path: Path, bring: Callable[..., Path]
) -> None:
    server.reply("file", BREAKS, then=repeat(Reply(404), 1))
    with pytest.raises(DownloadError, match="404"):
        bring()
    part = tmp_path / "data" / ".file.part"
    part.write_bytes(b"?" + part.read_bytes()[1:])
    with pytest.raises(DownloadError, match="sha256"):
        bring()
    assert bring().read_bytes() == BODY


def test_reported_bytes_are_those_that_count(server: Server, tmp_path: Path) -> None:
    (server.folder / "file").write_bytes(BODY)
    server.reply("file", BREAKS, Reply(etag='"2"', cut=500), BREAKS)
    reported: list[int] = []
    waits: list[float] = []
    download([f"{server.url}/file"], tmp_path / "x", report=reported.append, wait=waits.append)
    assert sum(reported) == N


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [  # of "hello\n": published in git's book (blob) and by coreutils
        ("gitblob", "ce013625030ba8dba906f756967f9e9ca394464a"),
        ("sha1", "f572d396fae9206628714fb2ce00f72e94f2258f"),
        ("md5", "b1946ac92492d2347c6235b4d2611184"),
        ("sha256", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"),
    ],
)
def test_digests(algorithm: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"hello\n")
    assert _file_digest(file, algorithm) == expected
    assert difference(file, {algorithm: expected}, 6) == ""
    assert re.fullmatch("6 bytes instead of 7", difference(file, {}, 7))
    assert difference(file, {algorithm: "0" * 64}).startswith(f"{algorithm} {expected[:12]}")


# Members of archives: what the registry names, whole and unchanged, and nothing else.

TEXT = b"he she\n" * 50
SHA = {"sha256": hashlib.sha256(TEXT).hexdigest()}
COMMIT = "0" * 40


def in_repository(path: str, target: str) -> DataFile:
    size = None if path.endswith("/") else len(TEXT)
    return DataFile(target, (f"{RAW}owner/name/{COMMIT}/{path}",), size, {} if not size else SHA)


def link(name: str, kind: bytes, to: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def left(folder: Path) -> list[str]:
    """All files around the data folder, for what is written outside of it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    (tmp_path / "in" / "data").mkdir(parents=True)
    return tmp_path / "in" / "archive"


FILE = in_repository("a/words.txt", "words/a.txt")
FOLDER = in_repository("texts/", "sources/texts/")
TOP = f"name-{COMMIT}"


def test_files_and_folders_of_a_repository(archive: Path) -> None:
    archive.write_bytes(
        tar_gz(
            (f"{TOP}/a/words.txt", TEXT),
            (f"{TOP}/a/words.txt.orig", b"not asked for"),
            (f"{TOP}/texts/one.txt", b"1"),
            (f"{TOP}/texts/deep/two.txt", b"2"),
            (link(f"{TOP}/other", tarfile.SYMTYPE, "/etc/passwd"), b""),
        )
    )
    data = archive.parent / "data"
    extract_repository(archive, [FILE, FOLDER], data)
    assert left(data) == ["sources/texts/deep/two.txt", "sources/texts/one.txt", "words/a.txt"]
    assert (data / "words" / "a.txt").read_bytes() == TEXT


Member = tuple[tarfile.TarInfo | str, bytes]
TARS: dict[str, tuple[list[Member], str]] = {
    "symbolic link": ([(link(f"{TOP}/a/words.txt", tarfile.SYMTYPE, "/etc/passwd"), b"")], "link"),
    "hard link": ([(link(f"{TOP}/a/words.txt", tarfile.LNKTYPE, f"{TOP}/b"), b"")], "is a link"),
    "device": ([(link(f"{TOP}/a/words.txt", tarfile.CHRTYPE, ""), b"")], "is a link, not a file"),
    "out of the folder": ([(f"{TOP}/texts/../../../../evil.txt", b"evil")], "not a file"),
    "absolute": ([("/etc/evil.txt", b"evil")], "has no a/words.txt, texts/"),
    "missing": ([(f"{TOP}/texts/one.txt", b"1")], "has no a/words.txt"),
    "another content": ([(f"{TOP}/a/words.txt", b"x" + TEXT[1:])], "a.txt is not what .*sha256"),
    "another size": ([(f"{TOP}/a/words.txt", TEXT + b"!")], "351 bytes instead of 350"),
}


@pytest.mark.parametrize("name", TARS)
def test_refused_tars(name: str, archive: Path) -> None:
    members, reason = TARS[name]
    archive.write_bytes(tar_gz(*members))
    with pytest.raises(DownloadError, match=reason):
        extract_repository(archive, [FILE, FOLDER], archive.parent / "data")
    kept = ["archive", *(["data/sources/texts/one.txt"] if name == "missing" else [])]
    assert left(archive.parent) == kept


def test_an_absolute_name_in_a_wanted_folder_stays_in_it(archive: Path) -> None:
    archive.write_bytes(tar_gz((f"{TOP}/texts//etc/passwd", b"evil")))
    extract_repository(archive, [FOLDER], archive.parent / "data")
    assert left(archive.parent) == ["archive", "data/sources/texts/etc/passwd"]


@pytest.mark.parametrize("part", [0, 1, 100, 0.5, 0.9])
def test_cut_and_spoiled_tars(part: float, archive: Path) -> None:
    whole = tar_gz((f"{TOP}/b", bytes(range(256)) * 40), (f"{TOP}/a/words.txt", TEXT))
    size = int(part if part >= 1 else part * len(whole))
    spoiled = whole[:100] + bytes(byte ^ 255 for byte in whole[100:])
    for content in (whole[:size], spoiled):
        archive.write_bytes(content)
        with pytest.raises(DownloadError, match=r"is not a whole \.tar\.gz|has no"):
            extract_repository(archive, [FILE], archive.parent / "data")
        assert left(archive.parent) == ["archive"]


def member(name: str = "deep/words.txt", **options: object) -> DataFile:
    return DataFile("vectors/a.txt", ("http://127.0.0.1/a.zip",), member=name, member_checks=SHA)


def zipped(name: str, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as opened:
        opened.writestr("other.txt", "not asked for")
        opened.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["deep/words.txt", "../words.txt", "/etc/words.txt"])
def test_a_name_in_a_zip_is_never_a_path(name: str, archive: Path) -> None:
    archive.write_bytes(zipped(name, TEXT))
    extract_zip(archive, [member(name)], archive.parent / "data")
    assert left(archive.parent) == ["archive", "data/vectors/a.txt"]
    assert (archive.parent / "data" / "vectors" / "a.txt").read_bytes() == TEXT


WHOLE = zipped("deep/words.txt", TEXT)
STORED = zipped("deep/words.txt", TEXT, zipfile.ZIP_STORED)
# Version, flags and method in the headers of a member
STORED_METHOD, DEFLATED_METHOD = b"\x14\x00\x00\x00\x00\x00", b"\x14\x00\x00\x00\x08\x00"
ZIPS = {
    "missing": (zipped("words.txt", TEXT), "no item named 'deep/words.txt'"),
    "another content": (zipped("deep/words.txt", TEXT[1:] + b"!"), "a.txt is not what .*sha256"),
    "cut": (WHOLE[:-30], "not a whole zip file"),
    "empty": (b"", "not a whole zip file"),
    "a page": (b"<html>", "not a whole zip file"),
    "a spoiled byte": (STORED.replace(b"he she\nhe", b"he she\nhi", 1), "Bad CRC-32"),
    "spoiled packing": (STORED.replace(STORED_METHOD, DEFLATED_METHOD), "Error -3|Bad CRC"),
    "a cipher": (STORED.replace(STORED_METHOD, b"\x14\x00\x01\x00\x00\x00"), "encrypted"),
    "an unknown method": (STORED.replace(STORED_METHOD, b"\x14\x00\x00\x00\x63\x00"), "supported"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_refused_zips(name: str, archive: Path) -> None:
    content, reason = ZIPS[name]
    archive.write_bytes(content)
    with pytest.raises(DownloadError, match=reason):
        extract_zip(archive, [member()], archive.parent / "data")
    assert left(archive.parent) == ["archive"]
