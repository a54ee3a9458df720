"""Which words a method works on: by name or from a file, exchanged, lowered, expanded, and what is
refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.words import (
    WordChoice,
    _is_word,
    _write_words,
    expand,
    require_roles,
    words_by_role,
)
from biasbridge.files import InputError
from biasbridge.files.vectors import save_mapped
from biasbridge.intrinsic.words import Query, load_query, load_wordset, read_query
from biasbridge.train.engine.steps import _keyed_params
from tests.debias.planted import make_query

MINE = {
    "mine": {"X": ["He"], "Y": ["She"], "A": ["Office"], "B": ["Home"]},
    "other": {"X": ["a"], "Y": ["b"], "A": ["c"], "B": ["d"]},
}


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(MINE), encoding="utf-8")
    return str(path)


def test_a_query_of_a_file(own: str, tmp_path: Path) -> None:
    assert WordChoice("mine", own).name == "own.mine"
    assert WordChoice("mine", own, swap=True, expand=3).name == "own.mine_swapped+3"
    far = WordChoice("mine", own, expand=3, neighbours="far/big.vec")
    assert (far.name, far.needs_vectors) == ("own.mine+3@big.vec", False)
    assert far.files() == [Path(own), Path("far/big.vec")]
    single = tmp_path / "single.yaml"
    (tmp_path / "home.txt").write_text("home\n", encoding="utf-8")
    single.write_text("q: {X: [he], Y: [she], A: career, B: {file: home.txt}}", encoding="utf-8")
    choice = WordChoice(None, str(single))
    assert choice.name == "single"
    assert choice.words()["A"] == load_wordset("career")
    assert choice.files() == [single, tmp_path / "home.txt"]


def test_swap_exchanges_targets_and_attributes(own: str) -> None:
    query = WordChoice("mine", own, swap=True).words()
    assert [query[role].words[0] for role in "XYAB"] == ["Office", "Home", "He", "She"]


def test_what_is_written_is_what_is_used(tmp_path: Path) -> None:
    choice = WordChoice("gender_union", lowercase=True, expand=2)
    seeds = [word for words in words_by_role(choice.seed_words()).values() for word in words]
    words = [*seeds, "cat", "dog", "emu"]
    vectors = KeyedVectors(4)
    rows = np.random.default_rng(0).standard_normal((len(words), 4))
    vectors.add_vectors(words, rows.astype(np.float32))
    save_mapped(vectors, tmp_path / "vectors")
    _write_words(choice, tmp_path, {"vectors": tmp_path}, 0)
    used = read_query(tmp_path / "words.yaml")
    assert used == choice.words(vectors)
    added = {word for words in words_by_role(used).values() for word in words} - set(seeds)
    assert added == {"cat", "dog", "emu"}
    with pytest.raises(InputError, match="expand=2: give the vectors"):
        _write_words(choice, tmp_path, {}, 0)


def test_neighbours_in_vectors_of_a_file(tmp_path: Path) -> None:
    """``He`` lies nearest; a text in lower case has no use for it."""
    words = ["he", "she", "office", "home", "He", "him", "her"]
    rows = np.eye(4)[[0, 1, 2, 3, 0, 0, 1]] + [[0.1 * (n > 4)] * 4 for n in range(7)]
    far, run = KeyedVectors(4), KeyedVectors(4)
    far.add_vectors(words, rows.astype(np.float32))
    run.add_vectors(["he", "she", "office", "home", "noise"], rows[[0, 1, 2, 3, 0]])
    far.save_word2vec_format(str(tmp_path / "far.vec"))
    fields: dict[str, Any] = {"query": "mine", "file": str(tmp_path / "own.yaml"), "expand": 1}
    fields["neighbours"] = str(tmp_path / "far.vec")
    Path(fields["file"]).write_text("mine: {X: [he], Y: [she], A: [office], B: [home]}")
    expanded = WordChoice(**fields, lowercase=True).words(run)
    assert [expanded[role].words for role in "XYAB"] == [
        *(("he", "him"), ("she", "her"), ("office",), ("home",))
    ]
    assert WordChoice(**fields).words()["X"].words == ("he", "He")
    far.save(str(tmp_path / "far.kv"))
    pickled = fields | {"neighbours": str(tmp_path / "far.kv")}
    with pytest.raises(InputError, match=r"words\.trusted=true for words\.neighbours"):
        WordChoice(**pickled).words()
    trusted = WordChoice(**pickled, trusted=True)
    assert trusted.words()["X"].words == ("he", "He")
    assert _keyed_params(trusted) == _keyed_params(WordChoice(**fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"neighbours": "big.vec"}, "neighbours='big.vec' has no effect without expand"),
        ({"query": "weat6c"}, "unknown query 'weat6c'; did you mean 'weat6'"),
        ({"query": None}, "query=None without a file"),
        ({"query": "mine", "file": "nowhere.yaml"}, r"no such file: nowhere\.yaml"),
        ({"expand": -1}, "expand=-1: give a whole number of at least 0"),
        ({"expand": 2.5}, r"expand=2\.5: give a whole number"),
        ({"lowercase": "yes"}, "lowercase='yes': give true or false"),
    ],
)
def test_a_wrong_choice_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WordChoice(**fields)


def test_a_query_without_a_role_is_refused_by_its_name() -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(["he", "she"], np.eye(2, dtype=np.float32))
    with pytest.raises(InputError, match="'names_professions' has no B; the method needs X, Y"):
        AttractRepel("debias").modify(vectors, load_query("names_professions"), seed=0)
    with pytest.raises(InputError, match="'base_pairs' has no X, Y, A, B"):
        require_roles(load_query("base_pairs"), AttractRepel.roles)


# Expansion of a query against a literal search over the whole vocabulary.

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


def literal(query: Query, vectors: KeyedVectors, k: int) -> dict[str, list[str]]:
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
        if word not in seeds and word[0] not in "<@#4.":
            offers[best].append((nearness[best], word))
    return {
        role: [word for _, word in sorted(result, reverse=True)[:k]]
        for role, result in offers.items()
    }


@given(seed=st.integers(0, 10_000), k=st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_the_neighbours_are_those_of_a_literal_search(seed: int, k: int) -> None:
    words = [
        *("he", "she", "her", "office", "home", "family", "<UNK>", "@user", "#tag", "4th", "...")
    ] + [f"{a}{b}" for a in "abcdef" for b in "uvwxyz"]
    vectors = vocabulary(words, seed)
    with mock.patch("biasbridge.debias.words._COMPARED_ROWS", 7):
        expanded = expand(SEEDS, vectors, k=k)
    assert added(expanded) == literal(SEEDS, vectors, k)


def test_a_word_with_a_zero_vector_comes_last_and_warns_of_nothing() -> None:
    vectors = vocabulary(["he", "she", "office", "home", "cat", "zero"], 1)
    vectors.vectors[5] = 0
    assert ["cat"] in added(expand(SEEDS, vectors, k=1)).values()
    reference = vocabulary(["he", "she", "office", "home", "cat"], 1)
    vectors = vocabulary(["he", "she", "office", "home", "cat", "her"], 1)
    vectors.vectors[:] = np.vstack([reference.vectors, np.zeros_like(reference.vectors[:1])])
    result, without = (added(expand(SEEDS, of, k=1)) for of in (vectors, reference))
    assert result == without, "a seed with a zero vector is as one that is not there"


def test_what_cannot_be_read_back_is_no_word() -> None:
    assert not _is_word("his\u200b")
    assert all(map(_is_word, ("été", "e\u0301te\u0301")))


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
