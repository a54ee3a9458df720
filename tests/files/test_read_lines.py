"""Lines of text from plain and compressed files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError, read_lines
from tests.fuzz import PACK


def test_windows_line_ends_are_dropped_and_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\rstill two\nthree\r")
    assert list(read_lines(path)) == ["one", "two\rstill two", "three\r"]


@given(text=st.text(st.characters(exclude_characters="\r\ufeff", codec="utf-8"), min_size=1))
@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_lines_are_those_of_str_split(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    expected = text.split("\n")
    assert list(read_lines(path)) == (expected if expected[-1] else expected[:-1])


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("inmigra\n\ufeffx\n".encode("utf-8-sig"))
    assert list(read_lines(path)) == ["inmigra", "\ufeffx"]


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "tweets.txt").write_text("a\n")
    with pytest.raises(
        InputError, match=r"no such file: .*tweet\.txt; did you mean 'tweets\.txt'\?"
    ):
        list(read_lines(tmp_path / "tweet.txt"))
    with pytest.raises(InputError, match="no such file"):
        list(read_lines(tmp_path / "nowhere" / "tweet.txt"))
    with pytest.raises(InputError, match="is a folder; give a file"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("before", [0, 1, 5000])
def test_bytes_that_are_not_utf8_name_the_line(tmp_path: Path, before: int) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"plain\n" * before + "caf\xe9\n".encode("latin-1") + b"after\n")
    with pytest.raises(InputError, match=rf"line {before + 1} is not UTF-8"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "corrupt", "foreign"])
def test_damaged_archive_is_refused(tmp_path: Path, suffix: str, damage: str) -> None:
    packed = PACK[suffix]("".join(f"line {i * 7919}\n" for i in range(20_000)).encode())
    middle = len(packed) // 2
    broken = {
        "cut": packed[:middle],
        "corrupt": packed[:middle] + bytes(64) + packed[middle + 64 :],
        "foreign": b"plain text\n" * 9,
    }[damage]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(broken)
    with pytest.raises(InputError, match="damaged archive"):
        list(read_lines(path))
