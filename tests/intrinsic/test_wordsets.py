"""The built-in word sets against their sources, and the reader of a user's own file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import (
    load_queries,
    load_query,
    load_wordset,
    query_names,
    read_query,
    read_wordsets,
    write_query,
)

# Words in use and deleted words, counted in the lists of Caliskan et al. (2017).
SIZES = {
    "flowers": (25, 0),
    "insects": (25, 0),
    "instruments": (25, 0),
    "weapons": (25, 0),
    "european_american_names_5": (32, 18),
    "african_american_names_5": (32, 18),
    "pleasant_5": (25, 0),
    "unpleasant_5a": (25, 0),
    "unpleasant_5b": (25, 0),
    "european_american_names_7": (18, 0),
    "african_american_names_7": (18, 0),
    "european_american_names_4": (16, 2),
    "african_american_names_4": (16, 2),
    "pleasant_9": (8, 0),
    "unpleasant_9": (8, 0),
    "male_names": (8, 0),
    "female_names": (8, 0),
    "career": (8, 0),
    "family": (8, 0),
    "math": (8, 0),
    "arts": (8, 0),
    "male_terms": (8, 0),
    "female_terms": (8, 0),
    "young_people_names": (8, 0),
    "old_people_names": (8, 0),
    "science": (8, 0),
    "arts_2": (8, 0),
    "male_terms_2": (8, 0),
    "female_terms_2": (8, 0),
    "mental_disease": (6, 0),
    "physical_disease": (6, 0),
    "temporary": (7, 1),
    "permanent": (7, 0),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    found = load_wordset(name)
    assert (len(found.words), len(found.deleted)) == SIZES[name]
    assert len(set(found.words + found.deleted)) == sum(SIZES[name]), "a word occurs twice"
    assert found.language == "en"
    assert "Caliskan" in found.source
    assert all(word == word.strip() for word in found.words + found.deleted)


@pytest.mark.realdata
def test_words_are_those_of_wefe(realdata: Path) -> None:
    path = realdata / "words" / "wefe" / "WEAT.json"
    theirs: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    for name, words in theirs.items():
        assert list(load_wordset(name).words) == words, name
    assert set(SIZES) - set(theirs) == {"european_american_names_4", "african_american_names_4"}


@pytest.mark.realdata
@pytest.mark.parametrize("number", range(1, 11))
def test_full_lists_are_those_of_bias_silhouette_analysis(realdata: Path, number: int) -> None:
    test = json.loads(
        (realdata / "words" / "webis" / "weat_tests.json").read_text(encoding="utf-8")
    )[f"test{number}"]
    query = load_query("weat4_deleted" if number == 4 else f"weat{number}")
    # A misprint of theirs; a difference that WEFE has
    differs = {"appy": "happy"} | ({"Billy": "Bill"} if number == 10 else {})
    for role, ours in (("X", query["X"]), ("Y", query["Y"]), ("A", query["A"]), ("B", query["B"])):
        full = {differs.get(word, word) for word in test[role]}
        assert set(ours.words + ours.deleted) == full
        # Unknown to word2vec, not deleted
        assert set(ours.deleted) == set(test["out_of_vocabularies"]["word2vec"][role]) - {"axe"}


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
    assert (query.title, query.language, query["A"].language, query["B"].source) == (
        "Animales",
        "es",
        "es",
        "own work",
    )


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
    assert (query.name, query["X"].words, query["X"].name) == (
        "mine_lower",
        ("he",),
        "mine.X_lower",
    )
    assert (query["words"].words, query["words"].values) == (("a", "b"), (1.5, 2.0))
    assert query["A"] == load_wordset("math")
    assert query.lowered() == query


def test_swapping_exchanges_targets_and_attributes_of_every_group(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    sets = {role: [role.lower()] for role in ("X", "Y", "X3", "A", "B", "A3", "words")}
    path.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    query = read_query(path)
    swapped = {role: wordset.words[0] for role, wordset in query.swapped().sets.items()}
    assert swapped == {
        "X": "a",
        "Y": "b",
        "X3": "a3",
        "A": "x",
        "B": "y",
        "A3": "x3",
        "words": "words",
    }
    assert query.swapped().swapped().sets == query.sets


@pytest.mark.parametrize("suffix", ["json", "yaml"])
@pytest.mark.parametrize("name", query_names())
def test_every_query_is_written_and_read_back_unchanged(
    tmp_path: Path, name: str, suffix: str
) -> None:
    path = tmp_path / f"used.{suffix}"
    for query in (load_query(name), load_query(name).swapped(), load_query(name).lowered()):
        write_query(query, path)
        read = read_query(path)
        assert read == query
        assert list(read.sets) == list(query.sets)


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
