"""Both ways through the text reader agree, and so do a part of the words and the whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from files import InputError
from files.vectors import read_vectors, text

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TOKENS = [
    b"a",
    b"b",
    b"the",
    b"NA",
    b"nan",
    b"inf",
    b"1",
    b"2",
    b"-0.5",
    b"1e9",
    b"1e39",
    b'"',
    b"'",
    b"\xc2\x85",
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
]
SPACES = [b" ", b" ", b" ", b"\n", b"\n", b"\t", b"\r", b"\r\n", b"  ", b"\x0b", b""]
PIECES = st.lists(st.sampled_from(TOKENS + SPACES), max_size=30).map(b"".join)
ROWS = st.lists(
    st.tuples(st.sampled_from(TOKENS), st.sampled_from(TOKENS), st.sampled_from(TOKENS)).map(
        b" ".join
    ),
    max_size=6,
)
STARTS = [b"", b"1 2\n", b"2 1\n", b"3 3\n"]


def read(path: Path, data: bytes, vocab: list[str] | None = None) -> KeyedVectors | None:
    """The vectors, or None where they are refused."""
    path.write_bytes(data)
    try:
        return read_vectors(path, vocab=vocab, duplicates="first")
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - it may also be read
        return None


@given(
    start=st.sampled_from(STARTS),
    data=PIECES | ROWS.map(lambda rows: b"".join(row + b"\n" for row in rows)),
)
@FUZZ
def test_fast_parser_agrees_with_the_line_by_line_one(
    tmp_path: Path, start: bytes, data: bytes
) -> None:
    fast = read(tmp_path / "v", start + data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_read_plain", lambda *_: None)
        slow = read(tmp_path / "v", start + data)
    assert (fast is None) == (slow is None)
    if fast is not None and slow is not None:
        assert fast.index_to_key == slow.index_to_key
        assert fast.vectors.tobytes() == slow.vectors.tobytes()


@given(
    data=ROWS.map(lambda rows: b"".join(row + b"\n" for row in rows)),
    asked=st.sets(st.sampled_from(["a", "b", "the", "\x85", "1"])),
)
@FUZZ
def test_vocab_gives_the_rows_of_the_whole(tmp_path: Path, data: bytes, asked: set[str]) -> None:
    whole = read(tmp_path / "v", data)
    part = read(tmp_path / "v", data, vocab=sorted(asked))
    if whole is not None:
        expected = [word for word in whole.index_to_key if word in asked]
        assert (part.index_to_key if part is not None else []) == expected
        assert all(
            part is not None and part[word].tobytes() == whole[word].tobytes() for word in expected
        )
