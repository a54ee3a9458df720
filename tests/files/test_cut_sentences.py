"""Sentences cut by the marks in a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from files.documents import Document, cut_sentences, read_conll


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


@pytest.mark.realdata
def test_ontogum_as_the_docstring_says(realdata: Path) -> None:
    files = sorted((realdata / "coreference" / "ontogum").glob("GUM_*.conll"))
    whole = [document for file in files for document in read_conll(file, mend=lambda _: None)]
    lengths: list[int] = []
    crossing = 0
    for document in map(cut_sentences, whole):
        lengths += map(len, document.sentences)
        sentence_of = [n for n, words in enumerate(document.sentences) for _ in words]
        crossing += sum(sentence_of[a] != sentence_of[b - 1] for a, b in document.mentions)
    assert sum(lengths) / len(lengths) == pytest.approx(19.4, abs=0.05)
    assert sum(length > 100 for length in lengths) == 15
    assert crossing == 1
    assert sum(len(document.mentions) for document in whole) == 30_712
