"""Names are compared in one form; what is printed is the file's own spelling."""

from __future__ import annotations

import pytest

from biasbridge.files.names import case_note, first_spellings, name_key, normalise_text


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("women ", "women"),
        ("\u00a0women", "women"),
        ("New\u00a0York", "New York"),
        ("\ufeffwomen\u200b", "women"),
        ("Espan\u0303a", "España"),
        (1.0, "1"),
        ("1.0", "1"),
        ("-2.00", "-2"),
        ("1.5", "1.5"),
        (7, "7"),
        ("a\u200db", "a\u200db"),  # joins letters within a word
        ("", ""),
    ],
)
def test_key(name: object, key: str) -> None:
    assert name_key(name) == key


def test_words_keep_their_digits() -> None:
    assert normalise_text("1.0") == "1.0"


def test_the_first_spelling_is_printed() -> None:
    assert first_spellings(["1.0", "1", "women ", "women"]) == {"1": "1.0", "women": "women"}
    assert first_spellings([1.0, "1"]) == {"1": "1"}


def test_names_that_differ_in_case_are_noted() -> None:
    assert case_note(["Women", "women", "men"], "groups") == (
        "groups that differ only in case count as different: 'Women' and 'women'"
    )
    assert case_note(["Women", "men"], "groups") == ""
