"""Word vectors written in every format, read back by us and by gensim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from biasbridge.files import InputError
from biasbridge.files.vectors import detect_format, keyed, read_vectors, save_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

NAMES = {
    "v.txt": "word2vec_text",
    "v.vec": "word2vec_text",
    "v.vec.gz": "word2vec_text",
    "v.bin": "word2vec_binary",
    "v.bin.gz": "word2vec_binary",
    "v.glove": "glove",
    "v.glove.gz": "glove",
    "v": "mapped",
}
WORDS = ["the", '"', "NA", "nan", "ñandú", "\x85", "\u2028", "女", "1984"]


def example(dim: int = 7) -> KeyedVectors:
    """Values over the whole range of float32: subnormal, huge, and negative zero."""
    values = (
        np.random.default_rng(5).normal(size=(len(WORDS), dim))
        * 10.0 ** np.arange(-4, len(WORDS) - 4)[:, None]
    )
    values[0, :5] = [0.0, -0.0, 2**-149, np.finfo(np.float32).max, 1 / 3]
    return keyed(list(WORDS), values.astype(np.float32))


def same(a: KeyedVectors, b: KeyedVectors) -> bool:
    return a.index_to_key == b.index_to_key and a.vectors.tobytes() == b.vectors.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_keeps_every_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("biasbridge.files.vectors.blocks.FLOATS_PER_BLOCK", 20)  # two rows a block
    save_vectors(example(), tmp_path / name)
    assert detect_format(tmp_path / name) == NAMES[name]
    assert same(read_vectors(tmp_path / name), example())
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("form", ["word2vec_text", "word2vec_binary", "glove", "mapped"])
def test_format_overrides_the_suffix(tmp_path: Path, form: str) -> None:
    save_vectors(example(), tmp_path / "glove.6B", format=form)
    assert detect_format(tmp_path / "glove.6B") == form


@given(
    matrix=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 4), st.integers(2, 5)),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    ),
    name=st.sampled_from(["v.txt", "v.glove", "v.bin"]),
    data=st.data(),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_vectors_come_back_or_are_refused(
    tmp_path: Path, matrix: np.ndarray, name: str, data: st.DataObject
) -> None:
    text = st.text(
        st.characters(categories=["L", "N", "P", "Z", "Cc", "Cs"])
        | st.sampled_from(" 0.-\t\r\ufeff"),
        max_size=6,
    )
    words = data.draw(st.lists(text, min_size=len(matrix), max_size=len(matrix), unique=True))
    try:
        save_vectors(keyed(words, matrix), tmp_path / name)
    except InputError:
        assert any(
            set(w) & set(" \t\n\r\x0b\x0c") or not w or any(0xD800 <= ord(c) < 0xE000 for c in w)
            for w in words
        )
    else:
        assert same(read_vectors(tmp_path / name), keyed(words, matrix))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("two\nlines", "v.txt"),
        ("two\nlines", "v"),
        ("two\nlines", "v.bin"),
        ("two words", "v.bin"),
        ("", "v.txt"),
        ("", "v.bin"),
        (" edge", "v.glove"),
        ("edge\t", "v.txt"),
        ("iPhone 5", "v.txt"),
        ("half \ud83d", "v.txt"),
        ("half\ud83d", "v.bin"),
        ("half\ud83d", "v"),
    ],
)
def test_word_that_the_format_cannot_hold_is_refused(tmp_path: Path, word: str, name: str) -> None:
    with pytest.raises(InputError, match="rename"):
        save_vectors(keyed(["fine", word], np.ones((2, 3), dtype=np.float32)), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_words_with_spaces_survive_in_text(tmp_path: Path) -> None:
    vectors = keyed([". . .", "new york"], np.ones((2, 3), dtype=np.float32))
    save_vectors(vectors, tmp_path / "v.glove")
    assert same(read_vectors(tmp_path / "v.glove"), vectors)


@pytest.mark.parametrize("name", ["v.npz", "glove.6B.300d", "v.gz"])
def test_unknown_suffix_or_format_names_the_allowed_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot write the format 'glov'.*did you mean 'glove'\?"):
        save_vectors(example(), tmp_path / "v", format="glov")
    with pytest.raises(
        InputError, match=r"no format has the suffix .*allowed are \.txt, \.vec, \.glove, \.bin"
    ):
        save_vectors(example(), tmp_path / name)


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_archives_that_are_not_written_are_refused(suffix: str, tmp_path: Path) -> None:
    vectors = keyed(["a", "b"], np.eye(2, dtype=np.float32))
    with pytest.raises(InputError, match=r"of archives only \.gz is written"):
        save_vectors(vectors, tmp_path / f"v.vec{suffix}", format="word2vec_text")
    assert not list(tmp_path.iterdir())
