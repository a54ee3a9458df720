"""Word sets against their sources, word files of users and strangers, forms of words, look-up."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from gensim.models import KeyedVectors
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import ResolvedWords, _describe_shortage, find
from biasbridge.intrinsic.word_forms import english_plural, word_form
from biasbridge.intrinsic.words import (
    WordFile,
    WordSet,
    load_queries,
    load_query,
    load_wordset,
    query_names,
    read_query,
    read_wordsets,
    write_query,
)
from tests.corpora import spanish_words as typed

# By words in use and deleted words, counted in the lists of Caliskan et al. (2017).
SIZES = {
    (25, 0): "flowers insects instruments weapons pleasant_5 unpleasant_5a unpleasant_5b",
    (32, 18): "european_american_names_5 african_american_names_5",
    (18, 0): "european_american_names_7 african_american_names_7",
    (16, 2): "european_american_names_4 african_american_names_4",
    (8, 0): "pleasant_9 unpleasant_9 male_names female_names career family math arts male_terms"
    " female_terms young_people_names old_people_names science arts_2 male_terms_2 female_terms_2",
    (6, 0): "mental_disease physical_disease",
    (7, 1): "temporary",
    (7, 0): "permanent",
}


def test_sizes() -> None:
    for size, names in SIZES.items():
        for name in names.split():
            result = load_wordset(name)
            assert (len(result.words), len(result.deleted)) == size, name
            assert len(set(result.words + result.deleted)) == sum(size), f"{name}: a word twice"
            assert result.language == "en"
            assert "Caliskan" in result.source
            assert all(word == word.strip() for word in result.words + result.deleted)


@pytest.mark.realdata
def test_words_are_those_of_wefe(realdata: Path) -> None:
    path = realdata / "words" / "wefe" / "WEAT.json"
    theirs: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    for name, words in theirs.items():
        assert list(load_wordset(name).words) == words, name
    names = {name for names in SIZES.values() for name in names.split()}
    assert names - set(theirs) == {"european_american_names_4", "african_american_names_4"}


@pytest.mark.realdata
def test_full_lists_are_those_of_bias_silhouette_analysis(realdata: Path) -> None:
    tests = json.loads((realdata / "words" / "webis" / "weat_tests.json").read_text("utf-8"))
    for number in range(1, 11):
        test = tests[f"test{number}"]
        query = load_query("weat4_deleted" if number == 4 else f"weat{number}")
        # A misprint of theirs; a difference that WEFE has
        differs = {"appy": "happy"} | ({"Billy": "Bill"} if number == 10 else {})
        for role in "XYAB":
            ours, missing = query[role], {*test["out_of_vocabularies"]["word2vec"][role]}
            assert {*ours.words, *ours.deleted} == {differs.get(w, w) for w in test[role]}, number
            assert {*ours.deleted} == missing - {"axe"}  # unknown to word2vec, not deleted


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(
        InputError, match="unknown word set 'femal_terms'; did you mean 'female_terms'"
    ):
        load_wordset("femal_terms")
    with pytest.raises(InputError, match="unknown query 'weat6c'; did you mean 'weat6'"):
        load_query("weat6c")
    with pytest.raises(InputError, match="unknown query 'mine'"):
        load_queries(["weat6", "mine"])


SHORT = {"mine": {"X": ["lion"], "Y": ["hare", "deer"], "A": ["strong"], "B": "family"}}


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_short_form(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine.{suffix}"
    path.write_text(json.dumps(SHORT, indent="\t" if suffix == "json" else None), encoding="utf-8")
    query = read_wordsets(path).queries["mine"]
    assert query["Y"].words == ("hare", "deer")
    assert query["Y"].name == "mine.Y"
    assert load_wordset("family") == query["B"]
    assert (query.language, query["X"].source) == ("und", path.name)
    assert load_queries(["weat7", "mine"], path) == [load_query("weat7"), query]


def test_full_form(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        """
        language: es
        source: own work
        sets:
          fuerte: {words: [león, tigre], deleted: [puma]}
          suave: [liebre]
        queries:
          animales: {title: Animales, X: fuerte, Y: suave, A: [alto], B: [bajo]}
        """,
        encoding="utf-8",
    )
    file = read_wordsets(path)
    assert file.sets["fuerte"].words == ("león", "tigre")
    assert file.sets["fuerte"].deleted == ("puma",)
    query = file.queries["animales"]
    assert query["X"] is file.sets["fuerte"]
    assert (query.title, query["B"].source) == ("Animales", "own work")
    assert query.language == query["A"].language == "es"


def test_a_union_has_every_item_once_in_order(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        """
        sets:
          small: [a, b]
          both: {union: [small, family], source: mine}
          more: {union: [both, small]}
        queries:
          mine: {X: more, pairs: {union: [she_he, base_pairs]}}
        """,
        encoding="utf-8",
    )
    file = read_wordsets(path)
    assert file.sets["both"].words == ("a", "b", *load_wordset("family").words)
    assert (file.sets["both"].source, file.sets["more"].source) == ("mine", path.name)
    assert file.queries["mine"]["X"].words == file.sets["both"].words
    pairs = file.queries["mine"]["pairs"].items
    assert pairs == list(
        dict.fromkeys(load_wordset("she_he").items + load_wordset("base_pairs").items)
    )


def test_lowering_keeps_equal_items_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    sets = {"X": ["He", "he"], "A": "math", "words": {"values": {"A": 1.5, "b": 2, "a": 3}}}
    path.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    query = read_query(path).lowered()
    found = (query.name, query["X"].words, query["X"].name)
    assert found == ("mine_lower", ("he",), "mine.X_lower")
    assert (query["words"].words, query["words"].values) == (("a", "b"), (1.5, 2.0))
    assert query["A"] == load_wordset("math")
    assert query.lowered() == query


def test_swapping_exchanges_targets_and_attributes_of_every_group(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    sets = {role: [role.lower()] for role in ("X", "Y", "X3", "A", "B", "A3", "words")}
    path.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    query = read_query(path)
    swapped = {role: wordset.words[0] for role, wordset in query.swapped().sets.items()}
    assert swapped.pop("words") == "words"
    assert swapped == {"X": "a", "Y": "b", "X3": "a3", "A": "x", "B": "y", "A3": "x3"}
    assert query.swapped().swapped().sets == query.sets


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_every_query_is_written_and_read_back_unchanged(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"used.{suffix}"
    for name in query_names():
        for query in (load_query(name), load_query(name).swapped(), load_query(name).lowered()):
            write_query(query, path)
            read = read_query(path)
            assert (read, list(read.sets)) == (query, list(query.sets)), name


def test_a_built_in_name_may_stand_for_the_same_query_only(tmp_path: Path) -> None:
    path = tmp_path / "used.yaml"
    write_query(load_query("weat7"), path)
    assert load_queries(["weat7"], path) == [load_query("weat7")]
    write_query(replace(load_query("weat7").swapped(), name="weat7"), path)
    with pytest.raises(InputError, match="the query name weat7 is taken"):
        read_query(path)


def test_which_query_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"sets": {"a": ["b"]}}), encoding="utf-8")
    with pytest.raises(InputError, match="has word sets but no query; add one, such as"):
        read_query(path)
    path.write_text(json.dumps({"one": {"X": ["a"]}, "two": {"X": ["b"]}}), encoding="utf-8")
    assert read_query(path, "two")["X"].words == ("b",)
    with pytest.raises(InputError, match="has the queries one, two; name one"):
        read_query(path)
    with pytest.raises(InputError, match=r"no query 'tow'; did you mean 'two'\?; name one"):
        read_query(path, "tow")


ROLES = '"X": ["a"], "Y": ["b"], "A": ["c"]'
BROKEN = {
    "not a mapping": ("[1, 2]", "expected names with their content, not list"),
    "not JSON": ("{", "is not valid JSON"),
    "a query that is a list": ('{"mine": ["a"]}', "query 'mine' .* expected names"),
    "an unknown key": ('{"mine": {' + ROLES + ', "b": ["d"]}}', "unknown key 'b'"),
    "an unknown set": (
        '{"mine": {' + ROLES + ', "B": "femly"}}',
        "B of query 'mine' .*: unknown word set 'femly'; did you mean 'family'",
    ),
    "no words": ('{"mine": {' + ROLES + ', "B": []}}', "B of query 'mine' .* has no words"),
    "a word that is a number": (
        '{"mine": {' + ROLES + ', "B": [1984]}}',
        "1984 is not a word but int",
    ),
    "an empty word": ('{"mine": {' + ROLES + ', "B": [" "]}}', "has an empty word"),
    "words forgotten": (
        '{"sets": {"mine": {}}}',
        "set 'mine' .* needs one of 'words', a list, 'values'",
    ),
    "a union of words and pairs": (
        '{"sets": {"mine": {"union": ["she_he", "math"]}}}',
        "set 'mine' .* has items of 1 and of 2 words",
    ),
    "a set that holds itself": (
        '{"sets": {"mine": {"union": ["math", "mine"]}}}',
        "set 'mine' .*: unknown word set 'mine'; .*; a set cannot contain itself$",
    ),
    "an unknown field of a set": (
        '{"sets": {"mine": {"word": ["a"]}}}',
        "unknown key 'word'; did you mean 'words'",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_say_what_is_wrong(tmp_path: Path, case: str) -> None:
    text, message = BROKEN[case]
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_wordsets(path)
    assert "broken.json" in str(caught.value)


def test_yaml_traps_are_named(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("sets: {answers: [yes, no]}", encoding="utf-8")
    with pytest.raises(
        InputError, match="True is not a word but bool; put the word in quotation marks"
    ):
        read_wordsets(path)
    path.write_text("sets: {answers: [yes", encoding="utf-8")
    with pytest.raises(InputError, match="is not valid YAML"):
        read_wordsets(path)

    path.write_text("sets: !!python/object/apply:os.system [ls]", encoding="utf-8")
    with pytest.raises(InputError, match="is not valid YAML"):
        read_wordsets(path)


# The Spanish word sets against the paper's, typed off it, and against the released pairs.

SETS = {
    "masculino_es": typed.SPANISH_MALE,
    "femenino_es": typed.SPANISH_FEMALE,
    "ciencia_es": typed.SCIENCE,
    "arte_es": typed.ARTS,
    "nombres_espanoles_es": typed.LOCAL,
    "nombres_migrantes_es": typed.MIGRANT,
    "agradable_es": typed.PLEASANT,
    "desagradable_es": typed.UNPLEASANT,
}
# Pairs to attract and to repel as the study's authors released them, and the sets of their sides
GENDERS = "masculino_ampliado_es femenino_ampliado_es"
PLEASANT = "agradable_ampliado_es desagradable_ampliado_es"
RELEASED = {
    "gender_es_exp": f"ciencia_ampliada_es arte_ampliado_es {GENDERS}",
    "gender_es_pleasant_exp": f"{GENDERS} {PLEASANT}",
    "migrant_es_exp": f"nombres_espanoles_es nombres_migrantes_es {PLEASANT}",
}


def test_the_sets_are_those_of_the_paper_each_word_once() -> None:
    for name, words in SETS.items():
        result = load_wordset(name)
        assert len(result.words) == len(words), name
        assert {word.lower() for word in result.words} == words, name
        assert result.language == "es"


def test_words_of_ones_own_are_composed_too(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "niño")
    (tmp_path / "mine.json").write_text(
        f'{{"q": {{"X": ["{decomposed}"], "Y": ["niña"]}}}}', encoding="utf-8"
    )
    assert read_query(tmp_path / "mine.json")["X"].words == ("niño",)


@pytest.mark.realdata
@pytest.mark.parametrize("name", RELEASED)
def test_the_expanded_sets_are_the_sides_of_the_released_pairs(name: str, realdata: Path) -> None:
    """But for four vulgar words, which are all in one of the sets."""
    folder = realdata / "words" / "goldfarb"
    x, y, a, b = ({*load_wordset(of_set).words} for of_set in RELEASED[name].split())
    released = {}
    for kind in ("ant", "syn"):
        text = (folder / f"{name}_{kind}.txt").read_text(encoding="utf-8")
        lines = unicodedata.normalize("NFC", text).splitlines()
        released[kind] = {(line.split()[0], line.split()[1]) for line in lines}
    stereotype = {*product(x, a), *product(y, b)}
    opposite = {*product(x, b), *product(y, a)}
    for kind, ours in (("ant", stereotype), ("syn", opposite)):
        assert ours <= released[kind]
        beyond = {word for pair in released[kind] - ours for word in pair} - x - y - a - b
        assert len(beyond) == (0 if name == "gender_es_exp" else 4)


# Word files from strangers: whatever they hold, they are read or refused with ``InputError``.

NAMES = """sets file queries mine X Y A B X3 words values union pairs partners rows deleted language
title"""
KEYS = st.sampled_from(NAMES.split())
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=6)
LEAVES |= st.sampled_from(["weat", "professions", "she_he"])
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)
OFTEN = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read_or_refuse(path: Path) -> WordFile | None:
    try:
        return read_wordsets(path)
    except InputError:
        return None


# Each of these was once read wrongly or ended in a traceback.
@OFTEN
@given(tree=TREES)
@example(tree={"mine": {"X": [[]]}})
@example(tree={"mine": {"X": [["a"], "b"]}})
@example(tree={"mine": {"X": {"values": {"a": float("nan")}}}})
@example(tree={"mine": {"X": {"values": {"a": 1}, "words": ["a"]}}})
@example(tree={"mine": {"X": {"values": []}}})
@example(tree={"mine": {"pairs": ["a", "b"]}})
@example(tree={"mine": {"pairs": [["a", "b", "c"]]}})
@example(tree={"sets": {"weat": ["a"]}, "queries": {"mine": {"X": "weat"}}})
@example(tree={"queries": {1: {"X": ["a"]}}})
@example(tree={"mine": {"X": {"union": ["weat", "professions"]}}})
@example(tree={"mine": {"X": ["no", "1", "\x85", "\ufeff a"]}})
def test_any_tree(tree: Any, tmp_path: Path) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    file = read_or_refuse(path)
    for query in file.queries.values() if file else ():
        for wordset in query.sets.values():
            assert wordset.words
            assert len(wordset.words) % wordset.width == 0
            assert len(wordset.values) in (0, len(wordset.items))
        if len({wordset.name for wordset in query.sets.values()}) == len(query.sets):
            write_query(query, tmp_path / "again.yaml")
            assert read_query(tmp_path / "again.yaml") == query


# Forms of words: the plurals of professions, capitals.


PLURALS = """surgeon surgeons, actress actresses, boss bosses, coach coaches, fireman firemen,
businesswoman businesswomen, nanny nannies, attorney attorneys, human humans, housewife housewives,
adjunct_professor adjunct_professors, sheriff_deputy sheriff_deputies, stepchild stepchildren,
professor_emeritus professors_emeritus, solicitor_general solicitors_general, goose geese,
attorney_in_fact attorneys_in_fact, chief_of_staff chiefs_of_staff"""


def test_english_plurals() -> None:
    nouns = dict(pair.split() for pair in PLURALS.split(","))
    assert {noun: english_plural(noun) for noun in nouns} == nouns


def test_other_forms() -> None:
    assert word_form("fire_chief", "capital") == "Fire_chief"
    assert word_form("chef", "upper") == "CHEF"
    assert word_form("chef", "base") == "chef"
    assert word_form("NASA", "upper") is None, "that is the word itself"
    assert word_form("Ärztin", "capital") is None
    assert word_form("médico", "plural", "es") is None, "the rules are those of English"


# Looking words up: order, case, losses, and vectors without a direction.

WORDS = ["Bill", "bill", "he", "she", "NASA", "zero", "nan", "inf"]
ROWS = [[3, 4], [0, 2], [1, 0], [0, -5], [1, 1], [0, 0], [np.nan, 1], [np.inf, 1]]


@pytest.fixture
def vectors() -> KeyedVectors:
    result = KeyedVectors(vector_size=2)
    result.add_vectors(WORDS, np.array(ROWS, dtype=np.float32))
    return result


def test_found_words_keep_their_order_and_have_unit_length(vectors: KeyedVectors) -> None:
    result = find(vectors, ["she", "nobody", "Bill", "nothing"])
    assert result.words == ("she", "Bill")
    assert result.lost == ("nobody", "nothing")
    assert result.matrix.dtype == np.float64
    np.testing.assert_allclose(result.matrix, [[0.0, -1.0], [0.6, 0.8]])


def test_lower_case_tries_the_exact_form_first(vectors: KeyedVectors) -> None:
    result = find(vectors, ["NASA", "Bill", "HE", "Nasa"], case="lower")
    assert result.words == ("NASA", "Bill", "he")
    assert result.lost == ("Nasa",)


def test_duplicates_count_once(vectors: KeyedVectors) -> None:
    found = find(vectors, ["he", "he", "x", "x"])
    assert (found.words, found.lost) == (("he",), ("x",))
    found = find(vectors, ["he", "HE", "He", "Xx", "xX"], case="lower")
    assert (found.words, found.lost) == (("he",), ("Xx",))


def test_an_unknown_case_is_refused(vectors: KeyedVectors) -> None:
    with pytest.raises(InputError, match="unknown case 'upper'; choose from exact, lower"):
        find(vectors, ["he"], case="upper")


EIGHT = WordSet("female", tuple("abcdefgh"), "en", "")


@pytest.mark.parametrize(
    ("n", "share", "enough"),
    [
        *((4, 0.5, 1), (3, 0.5, 0), (8, 1, 1), (7, 1, 0), (1, 0, 1), (0, 0, 0), (7, 0.8, 1)),
        (6, 0.8, 0),
    ],
)
def test_enough_words(n: int, share: float, enough: int) -> None:
    found = ResolvedWords(EIGHT.items[:n], EIGHT.words[n:], np.zeros((n, 2)))
    assert (_describe_shortage(EIGHT, found, share) == "") == bool(enough)


def test_deleted_words_leave_a_list_in_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "good.txt").write_bytes(
        "; a comment\nfine\nenvious\nna\u00efve\n".encode("latin-1")
    )
    (tmp_path / "bad.txt").write_text("awful\nenvious\n")
    content = {
        "sets": {name: {"file": f"{name}.txt", "deleted": ["envious"]} for name in ("good", "bad")},
        "queries": {"q": {"X": ["he"], "Y": ["she"], "A": "good", "B": "bad"}},
    }
    (tmp_path / "q.json").write_text(json.dumps(content))
    query = load_queries(["q"], tmp_path / "q.json")[0]
    assert query.sets["A"].words == ("fine", "na\u00efve")
    assert query.sets["B"].words == ("awful",)
    assert "good.txt is not UTF-8: read as Windows-1252" in caplog.text
