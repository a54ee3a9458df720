"""The built-in sets of SEAT."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasbridge.intrinsic.items.inflect import article, inflect, plural_of
from biasbridge.intrinsic.items.library import library, load_items

SETS = [name for name in library() if name.startswith("seat")]


@pytest.mark.parametrize(
    ("template", "word", "plural", "text", "form"),
    [
        ("This is {a} {}.", "executive", "", "This is an {}.", "executive"),
        ("{a} {} is a thing.", "honor", "", "An {} is a thing.", "honor"),
        ("{a} {} is here.", "European", "", "A {} is here.", "European"),
        ("{s} are things.", "child", "children", "Children are things.", "Children"),
        ("These are {s}.", "fly", "", "These are flies.", "flies"),
        ("{C} is here.", "he", "", "He is here.", "He"),
        ("{} is here.", "he", "", "{} is here.", "he"),
    ],
)
def test_a_template_takes_forms(
    template: str, word: str, plural: str, text: str, form: str
) -> None:
    assert inflect(template, word, plural) == (text, form)


def test_articles_and_plurals() -> None:
    assert [article(each) for each in ("unit", "ant", "hour", "home")] == ["a", "an", "an", "a"]
    assert [plural_of(each) for each in ("iris", "boy", "roach", "axe")] == [
        *("irises", "boys", "roaches", "axes")
    ]


def test_a_word_is_one_term_in_all_its_sentences() -> None:
    [seat] = load_items(["seat6"])
    family = [each for each in seat.items if each.group == "B"]
    assert {each.term for each in family} == {
        *("home", "parent", "child", "family", "cousin", "marriage", "wedding", "relative")
    }
    assert {each.word for each in family if each.term == "child"} == {
        *("child", "children", "Children")
    }
    assert all(each.word in each.sentence for each in seat.items)


@pytest.mark.realdata
@pytest.mark.parametrize("name", SETS)
def test_sentences_are_those_of_the_published_lists(realdata: Path, name: str) -> None:
    [items] = load_items([name])
    file = items.source.split(", ")[1]
    lists = json.loads((realdata / "words" / "seat" / file).read_text(encoding="utf-8"))
    for group, key in zip("XYAB", ("targ1", "targ2", "attr1", "attr2"), strict=True):
        ours = [each.sentence for each in items.items if each.group == group]
        assert sorted(ours) == sorted(lists[key]["examples"])
