"""Which words a method works on: by name or from a file, exchanged, lowered, expanded, and what is
refused.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.roles import require_roles, words_by_role
from biasbridge.debias.word_choice import WordChoice, write_words
from biasbridge.files import InputError
from biasbridge.files.vectors import save_mapped
from biasbridge.intrinsic.wordsets import load_query, load_wordset, read_query
from biasbridge.train.engine.part import keyed_params

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
    assert replace(choice, expand=1, stop="stop.txt").files()[2:] == [Path("stop.txt")]


def test_swap_exchanges_targets_and_attributes(own: str) -> None:
    query = WordChoice("mine", own, swap=True).words()
    assert [query[role].words[0] for role in "XYAB"] == ["Office", "Home", "He", "She"]


def test_what_is_written_is_what_is_used(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text(" cow \n", encoding="utf-8")
    choice = WordChoice("gender_union", lowercase=True, expand=2, stop=str(tmp_path / "stop.txt"))
    seeds = [word for words in words_by_role(choice.seed_words()).values() for word in words]
    words = [*seeds, "cat", "dog", "cow", "emu"]
    vectors = KeyedVectors(4)
    rows = np.random.default_rng(0).standard_normal((len(words), 4))
    vectors.add_vectors(words, rows.astype(np.float32))
    save_mapped(vectors, tmp_path / "vectors")
    write_words(choice, tmp_path, {"vectors": tmp_path}, 0)
    used = read_query(tmp_path / "words.yaml")
    assert used == choice.words(vectors)
    added = {word for words in words_by_role(used).values() for word in words} - set(seeds)
    assert added == {"cat", "dog", "emu"}
    with pytest.raises(InputError, match="expand=2: give the vectors"):
        write_words(choice, tmp_path, {}, 0)


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
    assert keyed_params(trusted) == keyed_params(WordChoice(**fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"neighbours": "big.vec"}, "neighbours='big.vec' has no effect without expand"),
        ({"stop": "a.txt"}, "stop='a.txt' has no effect without expand"),
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
