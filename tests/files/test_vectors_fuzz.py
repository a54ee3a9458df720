"""A part of the words of a file has the vectors of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.files.vectors import read_vectors

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


def read(path: Path, data: bytes) -> KeyedVectors | None:
    """The vectors, or None where they are refused."""
    path.write_bytes(data)
    try:
        return read_vectors(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - it may also be read
        return None
