"""Looking words up: order, case, losses, and vectors without a direction."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import ResolvedWords, describe_shortage, find
from biasbridge.intrinsic.wordsets import WordSet

WORDS = ["Bill", "bill", "he", "she", "NASA", "zero", "nan", "inf"]
ROWS = [[3, 4], [0, 2], [1, 0], [0, -5], [1, 1], [0, 0], [np.nan, 1], [np.inf, 1]]


@pytest.fixture
def vectors() -> KeyedVectors:
    found = KeyedVectors(vector_size=2)
    found.add_vectors(WORDS, np.array(ROWS, dtype=np.float32))
    return found


def test_found_words_keep_their_order_and_have_unit_length(vectors: KeyedVectors) -> None:
    found = find(vectors, ["she", "nobody", "Bill", "nothing"])
    assert found.words == ("she", "Bill")
    assert found.lost == ("nobody", "nothing")
    assert found.matrix.dtype == np.float64
    np.testing.assert_allclose(found.matrix, [[0.0, -1.0], [0.6, 0.8]])


def account(found: ResolvedWords) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return found.words, found.lost


def test_lower_case_tries_the_exact_form_first(vectors: KeyedVectors) -> None:
    found = find(vectors, ["NASA", "Bill", "HE", "Nasa"], case="lower")
    assert found.words == ("NASA", "Bill", "he")
    assert found.lost == ("Nasa",)


def test_duplicates_count_once(vectors: KeyedVectors) -> None:
    assert account(find(vectors, ["he", "he", "x", "x"])) == (("he",), ("x",))
    assert account(find(vectors, ["he", "HE", "He", "Xx", "xX"], case="lower")) == (
        ("he",),
        ("Xx",),
    )


def test_an_unknown_case_is_refused(vectors: KeyedVectors) -> None:
    with pytest.raises(InputError, match="unknown case 'upper'; choose from exact, lower"):
        find(vectors, ["he"], case="upper")


EIGHT = WordSet("female", tuple("abcdefgh"), "en", "")


def found(n: int, of: int) -> ResolvedWords:
    return ResolvedWords(EIGHT.items[:n], EIGHT.words[n:of], np.zeros((n, 2)))


@pytest.mark.parametrize(
    ("n", "share", "enough"),
    [
        (4, 0.5, True),
        (3, 0.5, False),
        (8, 1.0, True),
        (7, 1.0, False),
        (1, 0.0, True),
        (0, 0.0, False),
        (7, 0.8, True),
        (6, 0.8, False),
    ],
)
def test_enough_words(n: int, share: float, enough: bool) -> None:
    assert (describe_shortage(EIGHT, found(n, 8), share) == "") is enough
