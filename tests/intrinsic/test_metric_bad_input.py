"""Every metric on every kind of bad input: a clear refusal, or NaN with its reason in the row;
never a silent number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from biasbridge.files import InputError
from biasbridge.intrinsic import METRICS, Score
from biasbridge.intrinsic.metrics.utility import SemanticQuality, read_similarities
from tests.intrinsic.metric_world import (
    DIM,
    FACTS,
    PAIRS,
    ROLES,
    SETS,
    Items,
    Values,
    Vector,
    axis,
    make_metric,
    make_vectors,
    words_of,
    write_words,
)

ALL = list(METRICS)
# Which role a test spoils: one that the metric needs.


def spoiled(name: str) -> str:
    """The first role that a metric needs."""
    return METRICS[name].about.required[0]


def first_word(name: str) -> str:
    return words_of({"role": ROLES[spoiled(name)]})[0]


def rows_of(
    name: str, words: str, change: Mapping[str, Vector] | None = None, **settings: Any
) -> list[Score]:
    return make_metric(name, words, **settings).score(make_vectors(change), seed=0)


def assert_nan_with_reason(rows: list[Score], *texts: str) -> None:
    for row in rows:
        assert math.isnan(row.value), row
        assert all(text in row.reason for text in texts), row.reason


@pytest.mark.parametrize("name", ALL)
def test_all_words_lost(name: str, tmp_path: Path) -> None:
    role = spoiled(name)
    entry = ROLES[role]
    gone: Items | Values = ["gone1", "gone2"]
    if isinstance(entry, Mapping):
        gone = {"values": {"gone1": 1, "gone2": 1}}
    elif not isinstance(entry[0], str):
        gone = [[f"gone{i}{j}" for j in range(len(entry[0]))] for i in range(2)]
    words = write_words(tmp_path, **{role: gone})
    if name == "sq":
        (tmp_path / "similar.tsv").write_text(
            "gone1\tgone2\t1\ngone3\tgone4\t2\ngone5\tgone6\t3\n", encoding="utf-8"
        )
        rows = SemanticQuality(file=str(tmp_path / "similar.tsv")).score(make_vectors(), seed=0)
    else:
        rows = rows_of(name, words)
    assert_nan_with_reason(rows, "needs at least", "missing gone")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("row", "says"), [(np.zeros(DIM), "is zero"), (np.full(DIM, np.nan), "is not finite")]
)
def test_a_vector_that_has_no_direction(name: str, row: Vector, says: str, tmp_path: Path) -> None:
    rows = rows_of(name, write_words(tmp_path), {first_word(name): row})
    assert_nan_with_reason(rows, first_word(name), says)


@pytest.mark.parametrize("name", ALL)
def test_words_that_repeat_count_once(name: str, tmp_path: Path) -> None:
    role = spoiled(name)
    entry = ROLES[role]
    if isinstance(entry, Mapping) or name == "sq":
        pytest.skip("a mapping or file of values has no repeated words")
    twice = rows_of(name, write_words(tmp_path, **{role: [*entry, *entry[:1]]}))
    once = rows_of(name, write_words(tmp_path))
    assert [row.value for row in twice] == pytest.approx([row.value for row in once], nan_ok=True)
    assert [row.n_found for row in twice] == [row.n_found for row in once]


@pytest.mark.parametrize(("one", "other"), [("X", "Y"), ("A", "B")])
@pytest.mark.parametrize(
    "name", [name for name in ALL if {"X", "Y"} <= set(METRICS[name].about.required)]
)
def test_identical_or_overlapping_sets(name: str, one: str, other: str, tmp_path: Path) -> None:
    if other == "B" and "B" not in METRICS[name].about.required:
        pytest.skip("the metric does not compare A with B")
    for words in (SETS[one], [*SETS[other], SETS[one][0]]):
        assert_nan_with_reason(
            rows_of(name, write_words(tmp_path, **{other: words})),
            f"{one} and {other} of query 'mine' share",
            "one of them only",
        )


def test_facts_that_are_all_the_same(tmp_path: Path) -> None:
    words = write_words(tmp_path, words={"values": dict.fromkeys(FACTS, 2)})
    assert_nan_with_reason(rows_of("factual_association", words), "the values are all the same")
    words = write_words(tmp_path, words=list(FACTS))
    assert_nan_with_reason(rows_of("factual_association", words), "have no values")


def test_base_pairs_that_span_nothing(tmp_path: Path) -> None:
    same = {word: np.ones(DIM) for pair in PAIRS for word in pair}
    for name in ALL:
        if "pairs" in METRICS[name].about.required:
            for row in rows_of(name, write_words(tmp_path), same):
                assert math.isnan(row.value), (name, row)
                assert row.reason


def test_two_words_that_are_orthogonal_have_no_indirect_bias(tmp_path: Path) -> None:
    change = {word: axis(place) for place, word in enumerate(("ra", "sa", "pa", "qa"))}
    assert_nan_with_reason(rows_of("indirect_bias", write_words(tmp_path), change), "0 / 0")


@pytest.mark.parametrize("name", ALL)
def test_another_language_is_refused(name: str, tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"
    content = {"language": "es", "queries": {"mine": ROLES}}
    words.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    if name == "sq":
        pytest.skip("a word similarity file has no language")
    with pytest.raises(InputError, match="is in 'es' and the vectors are in 'en'"):
        METRICS[name](queries=("mine",), words=str(words), language="en")


@pytest.mark.parametrize("name", ALL)
def test_unknown_settings_are_refused(name: str, tmp_path: Path) -> None:
    words = write_words(tmp_path)
    with pytest.raises(InputError, match=r"convention='defualt': .*; did you mean 'default'"):
        make_metric(name, words, convention="defualt")
    with pytest.raises(InputError, match=r"cases='lower': .*; did you mean 'case'"):
        make_metric(name, words, cases="lower")
    for option in METRICS[name].options():
        with pytest.raises(InputError, match=f"^{option}='nonsense': give "):
            make_metric(name, words, **{option: "nonsense"})


@pytest.mark.parametrize("name", [name for name in ALL if name != "sq"])
def test_a_query_without_a_role_is_refused(name: str) -> None:
    role = spoiled(name)
    lacking = {"pairs": "weat7", "partners": "weat7", "rows": "weat7", "words": "weat7"}.get(
        role, "sembias"
    )
    with pytest.raises(InputError, match=f"query '{lacking}' has no .*{role}"):
        METRICS[name](queries=(lacking,))


def test_a_pair_that_comes_again_counts_once(tmp_path: Path) -> None:
    """In either order, as "money bank" in WordSim-353."""
    path = tmp_path / "pairs.tsv"
    path.write_text("bank\tmoney\t8\na\tb\t1\nmoney\tbank\t9\nb\tb\t3\n", encoding="utf-8")
    partners = read_similarities(path)["partners"]
    assert partners.items == [("bank", "money"), ("a", "b"), ("b", "b")]
    assert partners.values == (8.5, 1, 3)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "pairs"), [("wordsim353.tsv", 351), ("SimLex-999.tsv", 998)])
def test_the_pairs_of_published_files(realdata: Path, name: str, pairs: int) -> None:
    partners = read_similarities(realdata / "words" / "similarity" / name)["partners"]
    assert len({frozenset(pair) for pair in partners.items}) == len(partners.items) == pairs


def test_similarity_files(tmp_path: Path) -> None:
    path = tmp_path / "similar.csv"
    for content, says in [
        ("word1;word2;score\n", "has no pair"),
        ("a b 1\nc d\n", "line 2 is not 'word word number': 'c d'"),
        ("a b 1\nc d high\n", "line 2"),
    ]:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            SemanticQuality(file=str(path))
    rows = "ra;sa;3\n\nrb,sb,2\nrc\tsc\t\t1\n"
    for head in ("word1;word2;score\n# note\n", "# note\nword1;word2;score\n"):
        path.write_text(head + rows, encoding="utf-8")
        (row,) = SemanticQuality(file=str(path)).score(make_vectors(), seed=0)
        assert row.n_found == 3
    path.write_text("ra;sa;3\nword1;word2;score\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):  # a header stands first or not at all
        SemanticQuality(file=str(path))
    published = "word1\tword2\tPOS\tSimLex999\nra\tsa\tA\t3\nrb\tsb\tN\t2\nrc\tsc\tV\t1\n"
    path.write_text(published, encoding="utf-8")
    assert SemanticQuality(file=str(path)).score(make_vectors(), seed=0)[0].value == row.value
    with pytest.raises(InputError, match="sq has no default query"):
        SemanticQuality()
