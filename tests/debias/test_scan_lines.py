"""The fast search for lines that hold a word misses none and invents none."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debias.scan import blocks, lines_with
from files import InputError

WORDS = ["a", "he", "office", "niño", "abcdefgh", "abcdefghi", "abcdefghijklmnop"]
token = st.sampled_from(
    [*WORDS, "He", "off", "offices", "abcdefgX", "abcdefghij", "ñ", "the"]
) | st.text(max_size=4)
line = st.lists(token).flatmap(
    lambda tokens: st.sampled_from([" ", "  ", "\t", "\r", "\x0b", "\u00a0"]).map(
        lambda gap: gap.join(tokens)
    )
)
text = st.lists(line.map(lambda one: one.replace("\n", "")), min_size=1).map("\n".join)


@given(text=text, newline=st.booleans(), block=st.sampled_from([1, 7, 64, 1 << 19]))
@settings(deadline=None)
def test_the_lines_found_are_those_that_hold_a_word(
    tmp_path_factory: pytest.TempPathFactory, text: str, newline: bool, block: int
) -> None:
    path = tmp_path_factory.mktemp("scan") / "text.txt"
    path.write_bytes((text + "\n" * (newline or not text)).encode())
    expected, start, total = [], 0, 0
    wanted = {word.encode() for word in WORDS}
    with path.open("rb") as file:
        for number, raw in enumerate(file):
            if wanted & set(raw.split()):
                expected.append((number, start, start + len(raw), raw.split()))
            start += len(raw)
            total += 1
    with mock.patch("debias.scan.BLOCK", block):
        found = list(lines_with(path, WORDS))
    assert [tuple(one) for _, lines in found for one in lines] == expected
    assert sum(count for count, _ in found) == total


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_archives_are_read(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"text.txt{suffix}"
    path.write_bytes(pack(b"the cat\nhe sat\n"))
    assert [
        (found.number, found.start, found.end)
        for _, lines in lines_with(path, ["he"])
        for found in lines
    ] == [(1, 8, 15)]


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"one\ntwo \xff\n", "line 2 is not UTF-8")]
)
def test_broken_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(blocks(path))


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(b"he sat\n" * 1000)[:-10])
    with pytest.raises(InputError, match="damaged archive"):
        list(blocks(path))
