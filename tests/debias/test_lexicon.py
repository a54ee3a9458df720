"""Lexicons: what they refuse, how they are read, and the pairs they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debias.lexicon import SHIPPED, Lexicon, load_lexicon, pairs, read_lexicon, write_lexicon
from files import InputError
from intrinsic.wordsets import load_wordset

SMALL = Lexicon("small", ("he", "him"), ("she",), ("office",), ("home", "family"), "en", "made up")


def test_pairs_are_the_products_of_the_paper() -> None:
    attract, repel = pairs(SMALL, "debias")
    assert attract == [
        ("he", "home"),
        ("he", "family"),
        ("him", "home"),
        ("him", "family"),
        ("she", "office"),
    ]
    assert repel == [("he", "office"), ("him", "office"), ("she", "home"), ("she", "family")]
    assert pairs(SMALL, "overbias") == (repel, attract)


def test_unknown_direction_is_refused() -> None:
    with pytest.raises(InputError, match=r"direction is 'debais'.*did you mean 'debias'"):
        pairs(SMALL, "debais")


@pytest.mark.parametrize(
    ("name", "sizes"),
    # Caliskan et al. (2017): eight words a list; the union keeps each word once.
    [
        ("weat6b", (8, 8, 8, 8)),
        ("weat7", (8, 8, 8, 8)),
        ("weat8", (8, 8, 8, 8)),
        ("gender_union", (11, 11, 24, 17)),
    ],
)
def test_shipped_lexicons(name: str, sizes: tuple[int, ...]) -> None:
    lexicon = load_lexicon(name)
    assert lexicon.name == name
    assert tuple(len(words) for _, words in lexicon.sides()) == sizes


def test_every_shipped_lexicon_is_tested() -> None:
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {
        "weat6b",
        "weat7",
        "weat8",
        "gender_union",
    }


def test_gender_union_is_the_union_of_the_three_tests() -> None:
    union = load_lexicon("gender_union")
    for name in ("weat6b", "weat7", "weat8"):
        for (_, of_all), (_, of_one) in zip(union.sides(), load_lexicon(name).sides(), strict=True):
            assert set(of_one) <= set(of_all)
    assert set(union.A2) == {
        word for name in ("family", "arts", "arts_2") for word in load_wordset(name).words
    }


def test_lowercase_meets_lower_cased_text() -> None:
    lexicon = load_lexicon("weat8", lowercase=True)
    assert {"einstein", "nasa"} <= set(lexicon.A1)
    assert "shakespeare" in lexicon.A2
    assert all(word == word.lower() for _, words in lexicon.sides() for word in words)


def test_lowering_keeps_equal_words_once() -> None:
    lexicon = Lexicon("n", ("He", "he"), ("she",), ("office",), ("home",), "en", "s").lowered()
    assert lexicon.T1 == ("he",)


@pytest.mark.parametrize(
    ("t1", "message"),
    [
        ((), "T1 is empty"),
        (("he", "home"), "'home' stands in T1 and in A2"),
        (("he", "he"), "'he' stands in T1 and in T1"),
        (("two words",), "'two words'.*one word"),
        (("",), "one word"),
        (("a\x01b",), "one word"),
        ((True,), "True.*quote yes"),
    ],
)
def test_a_broken_lexicon_is_refused(t1: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Lexicon("broken", t1, ("she",), ("office",), ("home",), "en", "s")


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'weat6b'"):
        load_lexicon("weat6")


word = st.text(min_size=1, max_size=8).filter(
    lambda text: text.split() == [text] and text.isprintable()
)


@given(st.lists(word, min_size=4, max_size=12, unique=True))
def test_a_written_lexicon_reads_back(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lexicon") / "own.yaml"
    lexicon = Lexicon(
        "no", (words[0],), (words[1],), (words[2],), tuple(words[3:]), "es", "mine: # 1"
    )
    write_lexicon(lexicon, path)
    assert read_lexicon(path) == lexicon


def test_a_file_may_name_word_sets(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: n\nlanguage: en\nsource: s\nT1: [he]\nT2: [she]\nA1: {wordsets: [arts, arts_2]}\nA2:"
        " [home]\n"
    )
    own = read_lexicon(path)
    assert set(own.A1) == {*load_wordset("arts").words, *load_wordset("arts_2").words}
    assert len(own.A1) == len(set(own.A1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: n\n", "T1 is missing"),
        ("[1, 2]\n", "no lexicon"),
        ("a: [\n", "no YAML"),
        (
            "name: n\nlanguage: en\nsource: s\nT1: [he]\nT2: [she]\nA1: [a]\nA2: [b]\nA3: [c]\n",
            "A3 is unknown",
        ),
        (
            "name: n\nlanguage: en\nsource: s\nT1: [he]\nT2: [she]\nA1: [a]\nA2: word\n",
            "A2 must be a list",
        ),
        (
            (
                "name: n\nlanguage: en\nsource: s\nT1: [he]\nT2: [she]\nA1: [a]\nA2: {wordsets:"
                " [artz]}\n"
            ),
            "artz",
        ),
        (
            "name: n\nlanguage: en\nsource: s\nT1: [he]\nT2: [she]\nA1: [yes]\nA2: [b]\n",
            "quote yes",
        ),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_lexicon(path)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "attract", "repel"),
    [
        ("weat6b", "weat6b_syn_debias", "weat6b_ant_debias"),
        ("weat7", "weat7_syn_t3", "weat7_ant_t3"),
    ],
)
def test_pairs_are_the_constraint_files_of_the_paper(
    realdata: Path, name: str, attract: str, repel: str
) -> None:
    """Their files write tests 7 and 8 attribute first; as sets of words the pairs are the same."""
    for ours, theirs in zip(pairs(load_lexicon(name), "debias"), (attract, repel), strict=True):
        lines = (realdata / "words" / "goldfarb" / f"{theirs}.txt").read_text().splitlines()
        assert {frozenset(pair) for pair in ours} == {frozenset(line.split()) for line in lines}
