"""Word vectors written in every format, read back by us and by gensim."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from biasbridge.files import InputError
from biasbridge.files.vectors import (
    detect_format,
    keyed,
    open_mapped,
    read_vectors,
    save_mapped,
    save_vectors,
)

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
    monkeypatch.setattr("biasbridge.files.vector_readers._FLOATS_PER_BLOCK", 20)  # two rows a block
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
        *(("two\nlines", "v.txt"), ("two\nlines", "v"), ("two\nlines", "v.bin")),
        *(("two words", "v.bin"), ("", "v.txt"), ("", "v.bin"), (" edge", "v.glove")),
        *(("edge\t", "v.txt"), ("iPhone 5", "v.txt"), ("half \ud83d", "v.txt")),
        *(("half\ud83d", "v.bin"), ("half\ud83d", "v")),
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


# The mapped folder.

WORDS_VECTORS_MAPPED = ["the", "\x85", "car\rriage", "", "two words", "\u2028", "\ufeffthe"]


def example_vectors_mapped(
    words: list[str] = WORDS_VECTORS_MAPPED, *, counts: bool = False
) -> KeyedVectors:
    matrix = np.random.default_rng(7).normal(size=(len(words), 5)).astype(np.float32)
    return keyed(list(words), matrix, np.arange(len(words), 0, -1) * 10 if counts else None)


def same_vectors_mapped(a: KeyedVectors, b: KeyedVectors) -> bool:
    return a.index_to_key == b.index_to_key and a.vectors.tobytes() == b.vectors.tobytes()


def backing(array: np.ndarray) -> object:
    """What the array's memory belongs to."""
    base: object = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return base


def test_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasbridge.files.vector_readers._FLOATS_PER_BLOCK", 10)
    save_mapped(example_vectors_mapped(), tmp_path / "v")
    assert same_vectors_mapped(open_mapped(tmp_path / "v"), example_vectors_mapped())
    assert sorted(p.name for p in (tmp_path / "v").iterdir()) == ["vectors.npy", "words.txt"]
    assert (
        np.load(tmp_path / "v" / "vectors.npy", allow_pickle=False).tobytes()
        == example_vectors_mapped().vectors.tobytes()
    )
    assert (tmp_path / "v" / "words.txt").read_bytes() == "".join(
        f"{w}\n" for w in WORDS_VECTORS_MAPPED
    ).encode()


def test_matrix_is_mapped_and_read_only(tmp_path: Path) -> None:
    save_mapped(example_vectors_mapped(), tmp_path / "v")
    matrix = open_mapped(tmp_path / "v").vectors
    assert isinstance(backing(matrix), mmap.mmap)
    assert type(matrix) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 1


def test_counts_are_kept(tmp_path: Path) -> None:
    save_mapped(example_vectors_mapped(counts=True), tmp_path / "v")
    vectors = open_mapped(tmp_path / "v")
    assert [vectors.get_vecattr(word, "count") for word in WORDS_VECTORS_MAPPED] == [
        *(70, 60, 50, 40, 30, 20, 10)
    ]
    save_mapped(example_vectors_mapped(), tmp_path / "without")
    assert not open_mapped(tmp_path / "without").expandos


def test_read_vectors_opens_a_folder(tmp_path: Path) -> None:
    save_mapped(example_vectors_mapped(), tmp_path / "v")
    assert isinstance(backing(read_vectors(tmp_path / "v").vectors), mmap.mmap)


def test_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    save_mapped(example_vectors_mapped(), tmp_path / "v")  # an empty folder is fine
    with pytest.raises(InputError, match="exists; give a new folder"):
        save_mapped(example_vectors_mapped(), tmp_path / "v")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="exists; give a new folder"):
        save_mapped(example_vectors_mapped(), tmp_path / "file")


DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "word missing": (
        "words.txt",
        lambda b: b.replace(b"two words\n", b""),
        "do not match .6 words, 7 vectors",
    ),
    "word too many": ("words.txt", lambda b: b + b"more\n", "do not match .8 words, 7 vectors"),
    "words cut": ("words.txt", lambda b: b[:-2], "words.txt is cut"),
    "words not UTF-8": ("words.txt", lambda b: b"\xff" + b, "damaged"),
    "matrix cut": ("vectors.npy", lambda b: b[:-4], "damaged"),
    "counts too short": (
        "counts.npy",
        lambda b: b.replace(b"(7,)", b"(6,)"),
        r"counts of shape \(6,\)",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    save_mapped(example_vectors_mapped(counts=True), tmp_path / "v")
    file, spoil, message = DAMAGE[name]
    path = tmp_path / "v" / file
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(InputError, match=message):
        open_mapped(tmp_path / "v")


def test_a_value_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    vectors = example_vectors_mapped()
    save_mapped(vectors, tmp_path / "v")
    matrix = vectors.vectors.copy()
    matrix[4, 1] = np.inf
    np.save(tmp_path / "v" / "vectors.npy", matrix)
    message = "the vector of 'two words' holds a NaN or infinite value"
    with pytest.raises(InputError, match=message):
        read_vectors(tmp_path / "v")
