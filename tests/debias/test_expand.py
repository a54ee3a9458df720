"""Expansion of a query against a literal search over the whole vocabulary."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.debias.expand import expand, is_word
from biasbridge.debias.roles import words_by_role
from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import Query, load_query
from tests.debias.make_query import make_query

SEEDS = make_query("s", ["he", "absent"], ["she", "her"], ["office"], ["home", "family"])


def vocabulary(words: list[str], seed: int, dim: int = 6) -> KeyedVectors:
    vectors = KeyedVectors(dim)
    vectors.add_vectors(
        words, np.random.default_rng(seed).standard_normal((len(words), dim)).astype(np.float32)
    )
    return vectors


def added(expanded: Query) -> dict[str, list[str]]:
    """The neighbours of each role, behind the seeds."""
    return {
        role: list(words[len(SEEDS[role].words) :])
        for role, words in words_by_role(expanded).items()
    }


def literal(query: Query, vectors: KeyedVectors, k: int, stop: set[str]) -> dict[str, list[str]]:
    """Every word is offered to the role it is nearest to; each role takes its k nearest."""
    roles = words_by_role(query)
    offers: dict[str, list[tuple[float, str]]] = {role: [] for role in roles}
    seeds = {word for words in roles.values() for word in words}
    for word in vectors.index_to_key:
        nearness = {
            role: max(float(vectors.similarity(word, seed)) for seed in words if seed in vectors)
            for role, words in roles.items()
        }
        best = max(nearness, key=lambda role: nearness[role])
        if word not in seeds and word.lower() not in stop and word[0] not in "<@#4.":
            offers[best].append((nearness[best], word))
    return {
        role: [word for _, word in sorted(found, reverse=True)[:k]]
        for role, found in offers.items()
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
    with mock.patch("biasbridge.debias.expand.ROWS", 7):
        expanded = expand(SEEDS, vectors, k=k, stop=["AU", "fz"])
    assert added(expanded) == literal(SEEDS, vectors, k, {"au", "fz"})


def test_a_word_with_a_zero_vector_comes_last_and_warns_of_nothing() -> None:
    vectors = vocabulary(["he", "she", "office", "home", "cat", "zero"], 1)
    vectors.vectors[5] = 0
    assert ["cat"] in added(expand(SEEDS, vectors, k=1)).values()
    known = vocabulary(["he", "she", "office", "home", "cat"], 1)
    vectors = vocabulary(["he", "she", "office", "home", "cat", "her"], 1)
    vectors.vectors[:] = np.vstack([known.vectors, np.zeros_like(known.vectors[:1])])
    found, without = (added(expand(SEEDS, of, k=1)) for of in (vectors, known))
    assert found == without, "a seed with a zero vector is as one that is not there"


def test_what_cannot_be_read_back_is_no_word() -> None:
    assert not is_word("his\u200b")
    assert all(map(is_word, ("été", "e\u0301te\u0301")))


def test_the_roles_that_a_query_has_are_expanded_and_the_others_stay() -> None:
    names = load_query("names_professions")
    vectors = vocabulary(["Mary", "John", "nurse", "doctor", "lawyer", "cat", "dog"], 1)
    expanded = expand(names, vectors, k=2)
    assert expanded.sets.keys() == names.sets.keys()
    every = [word for role in "XYA" for word in expanded[role].words[len(names[role].words) :]]
    assert set(every) == {"cat", "dog"}
    with pytest.raises(InputError, match="'base_pairs' has no X, Y, A, B"):
        expand(load_query("base_pairs"), vectors)


def test_a_role_without_any_seed_is_refused() -> None:
    with pytest.raises(InputError, match="none of the words of A "):
        expand(SEEDS, vocabulary(["he", "she", "home"], 1))


def test_k_must_be_positive() -> None:
    with pytest.raises(InputError, match="k=0: give a whole number of at least 1"):
        expand(SEEDS, vocabulary(["he", "she", "office", "home"], 1), k=0)
