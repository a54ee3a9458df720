"""Whatever the bytes, reading gives valid vectors or an ``InputError``, and both ways through the
text reader agree.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from files import InputError
from files.vectors import keyed, read_vectors, save_vectors, text

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
STARTS = [b"", b"1 2\n", b"2 1\n", b"3 3\n", b"\xba\x16\x4f\x2f", b"\x1f\x8b", b"\xef\xbb\xbf1 2\n"]
ANY = st.tuples(
    st.sampled_from(STARTS), st.binary(max_size=80) | PIECES | ROWS.map(b"\n".join)
).map(b"".join)


def read(path: Path, data: bytes, vocab: list[str] | None = None) -> KeyedVectors | None:
    """The vectors, checked for being valid, or None when they were refused."""
    path.write_bytes(data)
    try:
        vectors = read_vectors(path, vocab=vocab, duplicates="first")
    except InputError as error:
        if str(path) not in str(error):
            raise AssertionError(f"the message names no file: {error}") from error
        return None
    assert vectors.vectors.shape == (len(vectors.index_to_key), vectors.vector_size)
    assert len(set(vectors.index_to_key)) == len(vectors) > 0
    assert vectors.vectors.dtype == np.float32
    assert np.isfinite(vectors.vectors).all()
    assert all(vectors.key_to_index[word] == i for i, word in enumerate(vectors.index_to_key))
    return vectors


@given(data=ANY)
@example(data=b"the 1 2\n\r 3 4\n")
@example(data=b"2 2\n\xef\xbb\xbfa 1 2\nb 3 4\n")
@FUZZ
def test_random_bytes_are_refused_or_valid(tmp_path: Path, data: bytes) -> None:
    read(tmp_path / "v", data)


@given(data=ANY, cut=st.integers(0, 60))
@settings(FUZZ, max_examples=60)
def test_random_archives_are_refused_or_valid(tmp_path: Path, data: bytes, cut: int) -> None:
    read(tmp_path / "v.gz", gzip.compress(data)[: cut or None])


@given(
    start=st.sampled_from(STARTS[:4]),
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


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A sound file in each format that is read from bytes."""
    folder = tmp_path_factory.mktemp("sound")
    vectors = keyed(
        ["the", "man", "ñandú"], np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    )
    for name in ("v.txt", "v.glove", "v.bin"):
        save_vectors(vectors, folder / name)
    save_facebook_model(
        FastText([["the", "man"]] * 2, vector_size=4, min_count=1, bucket=9, seed=1, workers=1),
        str(folder / "ft.bin"),
    )
    return [path.read_bytes() for path in sorted(folder.iterdir())]


@given(
    which=st.integers(0, 3),
    at=st.integers(0, 120) | st.integers(0, 2000),
    cut=st.integers(0, 4),
    put=st.binary(max_size=3) | st.sampled_from([b" ", b"\n", b"\r", b"1", b"\xff\xff"]),
)
@FUZZ
def test_damaged_files_are_refused_or_valid(
    tmp_path: Path, sound: list[bytes], which: int, at: int, cut: int, put: bytes
) -> None:
    data = sound[which]
    at %= len(data)
    read(tmp_path / "v", data[:at] + put + data[at + cut :])
