"""Lexicon expansion against a literal search over the whole vocabulary."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from debias.expand import expand, is_word
from debias.lexicon import Lexicon
from files import InputError

SEEDS = Lexicon(
    "s", ("he", "absent"), ("she", "her"), ("office",), ("home", "family"), "en", "made up"
)


def vocabulary(words: list[str], seed: int, dim: int = 6) -> KeyedVectors:
    vectors = KeyedVectors(dim)
    vectors.add_vectors(
        words, np.random.default_rng(seed).standard_normal((len(words), dim)).astype(np.float32)
    )
    return vectors


def literal(
    lexicon: Lexicon, vectors: KeyedVectors, k: int, stop: set[str]
) -> dict[str, list[str]]:
    """Every word is offered to the side it is nearest to; each side takes its k nearest."""
    offers: dict[str, list[tuple[float, str]]] = {side: [] for side, _ in lexicon.sides()}
    seeds = {word for _, words in lexicon.sides() for word in words}
    for word in vectors.index_to_key:
        nearness = {
            side: max(float(vectors.similarity(word, seed)) for seed in words if seed in vectors)
            for side, words in lexicon.sides()
        }
        best = max(nearness, key=lambda side: nearness[side])
        if word not in seeds and word.lower() not in stop and word[0] not in "<@#4.":
            offers[best].append((nearness[best], word))
    return {
        side: [word for _, word in sorted(found, reverse=True)[:k]]
        for side, found in offers.items()
    }


@given(seed=st.integers(0, 10_000), k=st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_the_neighbours_are_those_of_a_literal_search(seed: int, k: int) -> None:
    words = [
        "he",
        "she",
        "her",
        "office",
        "home",
        "family",
        "<UNK>",
        "@user",
        "#tag",
        "4th",
        "...",
    ] + [f"{a}{b}" for a in "abcdef" for b in "uvwxyz"]
    vectors = vocabulary(words, seed)
    with mock.patch("debias.expand.ROWS", 7):
        expanded = expand(SEEDS, vectors, k=k, stop=["AU", "fz"])
    expected = literal(SEEDS, vectors, k, {"au", "fz"})
    for side, found in expanded.sides():
        assert list(found[len(getattr(SEEDS, side)) :]) == expected[side]


def test_seeds_stay_in_front_and_the_name_tells(  # a seed that the vectors lack stays too
) -> None:
    expanded = expand(SEEDS, vocabulary(["he", "she", "office", "home", "cat", "dog"], 1), k=3)
    assert expanded.T1[:2] == SEEDS.T1
    assert expanded.name == "s_3nn"
    assert "3 nearest" in expanded.source
    assert sorted(
        word for side, words in expanded.sides() for word in words[len(getattr(SEEDS, side)) :]
    ) == ["cat", "dog"]


def test_a_word_with_a_zero_vector_comes_last_and_warns_of_nothing() -> None:
    vectors = vocabulary(["he", "she", "office", "home", "cat", "zero"], 1)
    vectors.vectors[5] = 0
    added = {
        word
        for side, words in expand(SEEDS, vectors, k=1).sides()
        for word in words[len(getattr(SEEDS, side)) :]
    }
    assert "cat" in added


def test_a_side_without_any_seed_is_refused() -> None:
    with pytest.raises(InputError, match="none of the words of A1"):
        expand(SEEDS, vocabulary(["he", "she", "home"], 1))


def test_k_must_be_positive() -> None:
    with pytest.raises(InputError, match="k is 0"):
        expand(SEEDS, vocabulary(["he", "she", "office", "home"], 1), k=0)


@pytest.mark.parametrize(
    ("token", "expected"),
    [("home", True), ("niño", True), ("brother-in-law", True), ("New_York", True), ("家", True)]
    + [
        (token, False)
        for token in (
            "<UNK>",
            "<MENTION>",
            "@user",
            "#tag",
            "...",
            "4th",
            "mp3",
            "http://t.co",
            "",
            "a b",
            "'s",
        )
    ],
)
def test_what_counts_as_a_word(token: str, expected: bool) -> None:
    assert is_word(token) is expected
