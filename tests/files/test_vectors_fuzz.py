"""A part of the words of a file has the vectors of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from files import InputError
from files.vectors import read_vectors

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
ROWS = st.lists(
    st.tuples(st.sampled_from(TOKENS), st.sampled_from(TOKENS), st.sampled_from(TOKENS)).map(
        b" ".join
    ),
    max_size=6,
)


def read(path: Path, data: bytes, vocab: list[str] | None = None) -> KeyedVectors | None:
    """The vectors, or None where they are refused."""
    path.write_bytes(data)
    try:
        return read_vectors(path, vocab=vocab)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - it may also be read
        return None


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
