"""Forms of words: the plurals of professions, capitals."""

from __future__ import annotations

import pytest

from biasbridge.intrinsic.word_forms import english_plural, word_form


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("surgeon", "surgeons"),
        ("actress", "actresses"),
        ("boss", "bosses"),
        ("coach", "coaches"),
        ("fireman", "firemen"),
        ("businesswoman", "businesswomen"),
        ("nanny", "nannies"),
        ("attorney", "attorneys"),
        ("human", "humans"),
        ("housewife", "housewives"),
        ("adjunct_professor", "adjunct_professors"),
        ("sheriff_deputy", "sheriff_deputies"),
        ("professor_emeritus", "professors_emeritus"),
        ("solicitor_general", "solicitors_general"),
        ("attorney_in_fact", "attorneys_in_fact"),
        ("chief_of_staff", "chiefs_of_staff"),
        ("stepchild", "stepchildren"),
        ("goose", "geese"),
    ],
)
def test_english_plurals(noun: str, plural: str) -> None:
    assert english_plural(noun) == plural


def test_other_forms() -> None:
    assert word_form("fire_chief", "capital") == "Fire_chief"
    assert word_form("chef", "upper") == "CHEF"
    assert word_form("chef", "base") == "chef"
    assert word_form("NASA", "upper") is None, "that is the word itself"
    assert word_form("Ärztin", "capital") is None
    assert word_form("médico", "plural", "es") is None, "the rules are those of English"
