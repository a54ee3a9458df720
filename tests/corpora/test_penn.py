"""Tokens know where they stand, and are cut as treebanks cut them."""

from __future__ import annotations

import pytest

from biasbridge.corpora.people import find_gender
from biasbridge.corpora.sentences import find_span, tokenise_treebank

TEXT = "Mr. Lee didn't see the clerk's well-worn hat. \"Is it hers?\" she asked -- twice."


def test_clitics_stand_alone_and_sentences_end_at_marks() -> None:
    first, second = tokenise_treebank(TEXT)
    joined = [" ".join(token.text for token in sentence) for sentence in (first, second)]
    assert joined[0] == "Mr . Lee did n't see the clerk 's well-worn hat ."
    assert joined[1] == '" Is it hers ? " she asked -- twice .'


def test_the_span_of_characters_counts_tokens_through_the_text() -> None:
    start = TEXT.index("she")
    assert find_span(tokenise_treebank(TEXT), start, start + 3) == (18, 19)
    assert find_span(tokenise_treebank(TEXT), TEXT.index("clerk"), TEXT.index("'s") + 2) == (7, 9)
    assert find_span(tokenise_treebank(TEXT), len(TEXT) + 1, len(TEXT) + 3) is None


@pytest.mark.parametrize(
    ("token", "gender"),
    [("He", "male"), ("HERSELF", "female"), ("their", "neutral"), ("it", ""), ("Her.", "")],
)
def test_pronouns_have_a_gender_whatever_their_case(token: str, gender: str) -> None:
    assert find_gender(token) == gender
