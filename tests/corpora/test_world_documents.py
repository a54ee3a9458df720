"""What is planted in the generated documents is there, and nothing else follows the pronoun."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from biasbridge.corpora import world_documents as grammar
from biasbridge.corpora.coreference_challenges import _find_gender, load_percentages
from biasbridge.corpora.world_documents import (
    GeneratedChallenge,
    GeneratedDocuments,
    GeneratedOccupations,
)

if TYPE_CHECKING:
    from biasbridge.files.documents import Document


def meant(document: Document) -> list[tuple[str, str, str]]:
    """The occupation that each pronoun means, the pronoun's gender, and the word after it."""
    tokens = document.tokens
    rows = []
    for name, pronoun in document.clusters:
        assert tokens[name[0]] == "the"
        after = tokens[pronoun[1]] if pronoun[1] < len(tokens) else ""
        rows.append((tokens[name[0] + 1], _find_gender(tokens[pronoun[0]]), after))
    return rows


@pytest.mark.parametrize("skew", [-1.0, 0.0, 0.5, 1.0])
def test_pronouns_have_the_planted_gender_within_each_occupation(skew: float) -> None:
    documents = GeneratedDocuments(documents=200, skew=skew).load(seed=3)
    assert {split: len(found) for split, found in documents.items()} == {
        "train": 140,
        "dev": 20,
        "test": 40,
    }
    counts = Counter((word, sex) for each in documents["train"] for word, sex, _ in meant(each))
    for word, strength in grammar.rank_strengths().items():
        n = counts[word, "male"] + counts[word, "female"]
        assert n == pytest.approx(70, abs=25)
        assert counts[word, "male"] / n == pytest.approx((1 + skew * strength) / 2, abs=0.51 / n)


def test_words_other_than_pronouns_do_not_follow_the_skew() -> None:
    """The wordings and occupations are drawn before the pronouns."""
    without = [
        [
            "_" if _find_gender(token) else token
            for each in GeneratedDocuments(documents=20, skew=skew).load(seed=0)["train"]
            for token in each.tokens
        ]
        for skew in (0.0, 1.0)
    ]
    assert without[0] == without[1]


def test_challenge_pairs_differ_in_the_pronoun_alone() -> None:
    cases = GeneratedChallenge(pairs=40).load(seed=0)
    assert len(cases) == 160
    groups = Counter((each.subset, each.condition) for each in cases)
    assert {*groups.values()} == {40}
    for pro, anti in zip(cases[::2], cases[1::2], strict=True):
        assert pro.unit == anti.unit
        assert {pro.condition, anti.condition} == {"pro", "anti"}
        differing = [
            (one, other)
            for one, other in zip(pro.document.tokens, anti.document.tokens, strict=True)
            if one != other
        ]
        assert len(differing) == 1
        for case in (pro, anti):
            right = next(question for question in case.questions if question.answer)
            assert right.percentage is not None
            assert case.document.clusters == ((right.name, right.pronoun),)
            stereotypical = (right.percentage > 50) == (case.gender == "female")
            assert stereotypical == (case.condition == "pro")


def test_the_corpus_has_the_words_of_documents_and_challenge(tmp_path: Path) -> None:
    corpus = GeneratedOccupations(sentences=1000, occupations=2000, stereotype=1)
    counts = corpus.write(tmp_path / "corpus.txt", seed=0)
    lines = (tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()
    known = {token for line in lines for token in line.split(" ")}
    documents = [each for split in GeneratedDocuments().load(seed=0).values() for each in split]
    documents += [case.document for case in GeneratedChallenge().load(seed=0)]
    assert {token for document in documents for token in document.tokens} <= known
    assert counts["lines"] == len(lines) == 3000
    assert counts["types"] == len(known)
    assert counts["tokens"] == sum(len(line.split(" ")) for line in lines)
    again = GeneratedOccupations(sentences=1000, occupations=2000, stereotype=1)
    again.write(tmp_path / "again.txt", seed=0)
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "corpus.txt").read_bytes()


@pytest.mark.parametrize("kind", [GeneratedOccupations, GeneratedDocuments, GeneratedChallenge])
def test_the_table_of_occupations_is_in_the_key(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kind().keyed()
    percentages = load_percentages() | {"clerk": 99.0}
    monkeypatch.setattr("biasbridge.corpora.world_documents.load_percentages", lambda: percentages)
    assert kind().keyed() != before
