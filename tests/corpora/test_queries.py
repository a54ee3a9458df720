"""Queries and documents in two wordings: Grep-BiasIR as it is released, and synthetic ones."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.corpora.protocols import RetrievalSource
from biasbridge.corpora.queries import GeneratedQueries, GrepBiasIR
from biasbridge.files import InputError
from biasbridge.files.documents import RetrievalQuery, WordedDocument, read_queries, write_queries

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.corpora.queries import Language

HEAD = "q_id,d_id,relevant,query,doc_title,document,content_gender,exp_stereotype"
# Texts of our own
ROWS = (
    "3,1,1,late trains,Men wait,He waits.,M,Towards female",
    "3,2,1,late trains,Women wait,She waits.,F,Towards Female",
    "3,3,1,late trains,People wait,They wait.,N,Towards female",
    '3,4,0,late trains,A boat,"He, a sailor.",M,Towards female',
    '3,5,0,late trains,A boat,"She, a sailor.",F,Towards female',
    "3,6,0,late trains,A boat,Sailors.,N,Towards female",
)


def write(folder: Path, *rows: str) -> GrepBiasIR:
    text = "\n".join([HEAD, *rows])
    (folder / "queries-documents_Travel.csv").write_text(f"{text}\n", encoding="utf-8")
    return GrepBiasIR(str(folder))


def test_wordings_of_a_document_are_paired_and_annotations_read(tmp_path: Path) -> None:
    assert write(tmp_path, *ROWS).load(seed=0) == [
        RetrievalQuery(
            "late trains",
            (
                WordedDocument("Men wait. He waits.", "Women wait. She waits."),
                WordedDocument("A boat. He, a sailor.", "A boat. She, a sailor.", relevant=False),
            ),
            "female",
        )
    ]


def test_a_document_without_both_wordings_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slips = [row.replace(",M,", ",both,").replace(",F,", ",botrh,") for row in ROWS[3:]]
    with caplog.at_level(logging.WARNING):
        [query] = write(tmp_path, *ROWS[:3], *slips).load(seed=0)
    assert [document.relevant for document in query.documents] == [True]
    assert "2 wordings of no gender (both, botrh) left out" in caplog.text


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ROWS[0].replace("3,1,1", "3,1,2")], "relevant '2' is none of 0, 1"),
        ([ROWS[0].replace("female", "men")], "exp_stereotype 'towards men' is none of"),
        ([*ROWS[:2], ROWS[2].replace("female", "male")], "more than one exp_stereotype"),
        (ROWS[3:], "no relevant document in both wordings"),
    ],
)
def test_other_rows_are_refused(tmp_path: Path, rows: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        write(tmp_path, *rows).load(seed=0)


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no queries-documents_"):
        GrepBiasIR(str(tmp_path)).load(seed=0)


@pytest.mark.realdata
def test_the_release_has_117_queries_of_which_29_have_a_stereotype(realdata: Path) -> None:
    queries = GrepBiasIR(str(realdata / "models" / "grep_bias_ir")).load(seed=0)
    assert len(queries) == 117
    counts = dict.fromkeys(("male", "female", ""), 0)
    for query in queries:
        counts[query.stereotype] += 1
    assert counts == {"male": 9, "female": 20, "": 88}
    assert sum(not document.relevant for query in queries for document in query.documents) == 115


@pytest.mark.parametrize("language", ["en", "es"])
def test_synthetic_wordings_differ_in_gender_alone(language: Language, tmp_path: Path) -> None:
    source = GeneratedQueries(language)
    assert isinstance(source, RetrievalSource)
    queries = source.load(seed=0)
    known = words_of_the_world(source.language, tmp_path)
    names = {query.cluster: query.stereotype for query in queries}
    assert len(names) == 40
    assert [*names.values()].count("female") == 20
    forms = {"en": {"he", "she"}, "es": {"él", "ella"}}[language]
    for query in queries:
        words = {*query.text.split()}
        assert query.cluster in words
        assert not forms & words
        for document in query.documents:
            male, female = document.male.split(), document.female.split()
            different = [{*pair} for pair in zip(male, female, strict=True) if len({*pair}) > 1]
            assert different == [forms]
            assert (query.cluster in male) == document.relevant
            words |= {*male, *female}
        assert words <= known
    write_queries(queries, tmp_path / "queries.jsonl")
    assert list(read_queries(tmp_path / "queries.jsonl")) == queries


def words_of_the_world(language: Language, folder: Path) -> set[str]:
    """Those that a tiny model trained on the planted occupations knows."""
    PlantedOccupations(sentences=4000, world=language).write(folder / "corpus.txt", seed=0)
    return {*(folder / "corpus.txt").read_text(encoding="utf-8").split()}
