"""Sentences cut by the marks in a text."""

from __future__ import annotations

import pytest

from biasbridge.files.documents import Document, cut_sentences


def cut(text: str) -> list[str]:
    document = Document("a", (tuple(text.split()),), (), speakers=("s",) * len(text.split()))
    found = cut_sentences(document)
    assert (found.tokens, found.speakers) == (document.tokens, document.speakers)
    return [" ".join(sentence) for sentence in found.sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("She left . He stayed", ["She left .", "He stayed"]),
        ("Who ? ! Me .", ["Who ? !", "Me ."]),
        ("“ Go . ” He went .", ["“ Go . ”", "He went ."]),
        ('" Why ? " he asked .', ['" Why ? " he asked .']),
        ("( Not now . ) 12 came ...", ["( Not now . )", "12 came ..."]),
        ("Dr. Lee paid 3.50 .", ["Dr. Lee paid 3.50 ."]),
        ("no mark at all", ["no mark at all"]),
        (". . . Well", [". . .", "Well"]),
        ("word", ["word"]),
    ],
)
def test_cut(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_sentences_that_are_there_are_forgotten() -> None:
    assert cut_sentences(Document("a", (("b",), ("C", ".")), ())).sentences == (("b", "C", "."),)
