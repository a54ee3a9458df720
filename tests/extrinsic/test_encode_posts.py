"""Posts to integers and back."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.extrinsic.encode import encode
from biasbridge.files import InputError

WORDS = ["a", "b", "c", "d"]


def keyed(words: list[str], dim: int = 3) -> KeyedVectors:
    made = KeyedVectors(dim)
    made.add_vectors(
        words, np.random.default_rng(0).normal(size=(len(words), dim)).astype(np.float32)
    )
    return made


def literal(text: str, vectors: KeyedVectors) -> np.ndarray:
    known = {word: vectors[word] for word in vectors.index_to_key}
    unknown = known.get("<UNK>", np.zeros(vectors.vector_size))
    return np.array([known.get(word, unknown) for word in text.split()]).reshape(
        -1, vectors.vector_size
    )


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([*WORDS, "x", "y", "<UNK>"]), max_size=8).map(" ".join), max_size=6
    ).map(lambda posts: [*posts, "a"]),
    st.booleans(),
)
def test_rows_are_the_vectors_of_the_words(texts: list[str], has_unknown: bool) -> None:
    vectors = keyed([*WORDS, "<UNK>"] if has_unknown else WORDS)
    encoded = encode(texts, vectors)
    words = " ".join(texts).split()
    assert encoded.matrix.dtype == np.float32
    assert not np.any(encoded.matrix[:1])
    assert len(encoded.matrix) <= len(set(words)) + 2  # no vector that no post needs
    assert encoded.coverage == pytest.approx(np.mean([word in vectors for word in words]))
    posts = np.split(encoded.tokens, encoded.offsets[1:-1])
    for rows, text in zip(posts, texts, strict=True):
        np.testing.assert_array_equal(encoded.matrix[rows], literal(text, vectors))


def test_padded_is_cut_and_filled() -> None:
    encoded = encode(["a b c d", "", "d", "b a"], keyed(WORDS))
    a, b, c, d = encoded.tokens[:4].flat
    np.testing.assert_array_equal(
        encoded.padded(np.array([2, 0]), shortest=2, longest=3), [[d, 0, 0], [a, b, c]]
    )
    np.testing.assert_array_equal(
        encoded.padded(np.array([1, 3]), shortest=5, longest=9), [[0] * 5, [b, a, 0, 0, 0]]
    )
    np.testing.assert_array_equal(encoded.padded(np.array([1]), shortest=2, longest=9), [[0, 0]])


def test_words_without_any_vector_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"none of the 2 distinct words of the texts \(A, B\) has a vector"
    ):
        encode(["A B A"], keyed(WORDS))


def test_a_vector_that_is_not_finite_is_refused() -> None:
    vectors = keyed(WORDS)
    vectors.vectors[1, 0] = np.nan
    with pytest.raises(InputError, match="the vector of 'b'"):
        encode(["a b"], vectors)
    encode(["a c"], vectors)
