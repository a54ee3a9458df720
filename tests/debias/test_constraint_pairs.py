"""Pairs from files, and which of them can be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.debias.constraints import mean_cosine, read_pairs, stereotype_pairs, usable_pairs
from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import load_query
from tests.debias.make_query import make_query


def test_pairs_are_the_products_of_the_paper() -> None:
    small = make_query("small", ["he", "him"], ["she"], ["office"], ["home", "family"])
    pro, anti = stereotype_pairs(small)
    assert anti == [
        ("he", "home"),
        ("he", "family"),
        ("him", "home"),
        ("him", "family"),
        ("she", "office"),
    ]
    assert pro == [("he", "office"), ("him", "office"), ("she", "home"), ("she", "family")]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "attract", "repel"),
    [
        ("weat6b", "weat6b_syn_debias", "weat6b_ant_debias"),
        ("weat7", "weat7_syn_t3", "weat7_ant_t3"),
        ("gender_authors", "math_sci_exp_syn", "math_sci_exp_ant"),
    ],
)
def test_pairs_are_the_constraint_files_of_the_paper(
    realdata: Path, name: str, attract: str, repel: str
) -> None:
    """Their files write tests 7 and 8 attribute first; as sets of words the pairs are the same."""
    query = load_query(name)
    every = [word for wordset in query.sets.values() for word in wordset.words]
    assert len(set(every)) == len(every)
    for ours, theirs in zip(stereotype_pairs(query), (repel, attract), strict=True):
        lines = (realdata / "words" / "goldfarb" / f"{theirs}.txt").read_text().splitlines()
        assert {frozenset(pair) for pair in ours} == {frozenset(line.split()) for line in lines}


def test_a_file_holds_a_pair_a_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("he home\nshe\toffice\n\nniño  casa\r\n", encoding="utf-8")
    assert read_pairs(path) == [("he", "home"), ("she", "office"), ("niño", "casa")]


@pytest.mark.parametrize("line", ["he", "he is home"])
def test_another_number_of_words_is_refused_by_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(f"he home\n{line}\n")
    with pytest.raises(InputError, match="line 2 holds"):
        read_pairs(path)


def test_which_pairs_are_kept() -> None:
    """METHODS D.1: both words known and different, duplicates vanish, a pair in both lists is only
    repelled, pairs are ordered.
    """
    attract = [("b", "c"), ("a", "b"), ("a", "b"), ("a", "a"), ("a", "x"), ("c", "d")]
    repel = [("c", "d"), ("b", "a"), ("y", "a")]
    kept = usable_pairs(attract, repel, {"a", "b", "c", "d"})
    assert kept.attract == [("a", "b"), ("b", "c")]
    assert kept.repel == [("b", "a"), ("c", "d")]
    assert kept.missing == ["x", "y"]


def test_a_word_that_is_not_there_is_looked_up_in_lower_case() -> None:
    kept = usable_pairs([("Einstein", "He"), ("He", "NASA")], [], {"einstein", "He", "he", "nasa"})
    assert kept.attract == [("He", "nasa"), ("einstein", "He")]
    assert kept.missing == []


def test_no_pair_left_names_the_missing_words() -> None:
    with pytest.raises(InputError, match="2 of 3 words are out of vocabulary: x, y;"):
        usable_pairs([("a", "x")], [("a", "y")], {"a"})


def test_mean_cosine() -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(
        ["east", "north", "northeast"], np.array([[2, 0], [0, 3], [1, 1]], dtype=np.float32)
    )
    assert mean_cosine(
        vectors, [("east", "north"), ("east", "northeast"), ("north", "east")]
    ) == pytest.approx(np.sqrt(0.5) / 3)
    assert np.isnan(mean_cosine(vectors, []))
