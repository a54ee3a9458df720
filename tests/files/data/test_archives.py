"""Members of archives: what the registry names, whole and unchanged, and nothing else."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from biasbridge.files.data.download import (
    CHUNK,
    MAX_RATIO,
    DownloadError,
    extract_repository,
    extract_zip,
)
from biasbridge.files.data.registry import RAW, DataFile
from tests.data_server import tar_gz

TEXT = b"he she\n" * 50
SHA = {"sha256": hashlib.sha256(TEXT).hexdigest()}
COMMIT = "0" * 40
BOMB = bytes(MAX_RATIO * CHUNK + 1)


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
    "bomb": ([(f"{TOP}/b", bytes(10**7)), (f"{TOP}/a/words.txt", TEXT)], "unpacks to more than"),
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
    "bomb": (zipped("deep/words.txt", BOMB), "unpacks to 52,428,801 bytes"),
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


def test_the_largest_ratio_is_accepted(archive: Path) -> None:
    content = BOMB[:-1]
    checks = {"sha256": hashlib.sha256(content).hexdigest()}
    archive.write_bytes(zipped("a", content))
    extract_zip(archive, [DataFile("a", ("x",), member="a", member_checks=checks)], archive.parent)
    assert (archive.parent / "a").stat().st_size == MAX_RATIO * CHUNK
