"""Sources of documents: which document goes where, and what is never mixed."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbridge.corpora.documents import DocumentFiles, JoinedDocuments, _assign_splits
from biasbridge.files import InputError
from biasbridge.files.documents import Document, write_documents
from tests.write_conll import write_conll

PAIR, LONE = ((0, 1), (3, 4)), ((1, 2),)


def document(name: str, part: int = 0) -> Document:
    """Two sentences, one cluster of two mentions and one of one."""
    return Document(name, (("It", "is", "."), ("It", "was", ".")), (PAIR, LONE), part)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of twenty files, one below it, and what is no document."""
    for number in range(20):
        write_conll([document(f"d{number:02}")], tmp_path / "all" / f"d{number:02}.v4_gold_conll")
    write_documents(
        [document("deep", 0), document("deep", 1)], tmp_path / "all" / "sub" / "more.jsonl"
    )
    (tmp_path / "all" / "README").write_text("no document")
    return tmp_path / "all"


def files(path: Path, **fields: object) -> DocumentFiles:
    return DocumentFiles(**{"path": str(path), "scheme": "ontonotes", **fields})  # type: ignore[arg-type]


def names(source: DocumentFiles | JoinedDocuments, seed: int = 0) -> dict[str, list[str]]:
    return {
        split: [document.name for document in documents]
        for split, documents in source.load(seed=seed).items()
    }


def test_shares_are_drawn_by_seed_and_parts_stay_together(folder: Path) -> None:
    source = files(folder, dev=0.2, test=0.5)
    splits = names(source)
    assert {split: len({*split_names}) for split, split_names in splits.items()} == {
        "train": 7,  # of 21
        "dev": 4,
        "test": 10,
    }
    assert sum(split_names.count("deep") for split_names in splits.values()) == 2
    assert 2 in [split_names.count("deep") for split_names in splits.values()]
    assert names(source) == splits != names(source, seed=1)


def test_names_of_documents_files_and_patterns(folder: Path) -> None:
    splits = names(files(folder, dev=("d00", "d1*"), test=("more.jsonl", "d01.v4_gold_conll")))
    assert splits["dev"] == ["d00", *(f"d{number}" for number in range(10, 20))]
    assert splits["test"] == ["d01", "deep", "deep"]
    assert len(splits["train"]) == 8


def test_singletons_and_sentences_are_taken_as_asked_for(tmp_path: Path) -> None:
    whole = Document("a", (tuple(document("a").tokens),), (PAIR, LONE))
    write_documents([whole], tmp_path / "a.jsonl")
    for fields, clusters, sentences in (
        ({}, (PAIR,), 1),
        ({"singletons": "keep"}, (PAIR, LONE), 1),
        ({"sentences": "marks"}, (PAIR,), 2),
    ):
        source = files(tmp_path / "a.jsonl", dev=0.0, test=0.0, **fields)
        (found,) = source.load(seed=0)["train"]
        assert (found.clusters, len(found.sentences)) == (clusters, sentences)


def test_faults_are_refused_or_mended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.conll"
    path.write_text("#begin document\n0\tw\t(1)\n1\tw\t(1)\n2\tw\t(2\n#end document\n")
    with pytest.raises(InputError, match="line 4"):
        files(path, dev=0.0, test=0.0).load(seed=0)
    with caplog.at_level(logging.WARNING):
        splits = files(path, dev=0.0, test=0.0, mend=True).load(seed=0)
    assert splits["train"][0].clusters == (((0, 1), (1, 2)),)
    assert "1 faults mended" in caplog.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dev": ("d99",)}, "dev: no document and no file is named 'd99'"),
        ({"dev": ("d00",), "test": ("d0*",)}, "document d00 is in dev and, by 'd0.', in test"),
        ({"dev": 0.5, "test": 0.6}, "none of 21 documents is left for train"),
        ({"dev": 1.5}, "dev=1.5: give a number from 0 to 1 or a list"),
        ({"singletons": "some"}, "singletons='some': give one of drop, keep"),
    ],
)
def test_splits_that_cannot_be(folder: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        files(folder, **fields).load(seed=0)


def test_a_document_twice(folder: Path) -> None:
    write_conll([document("d00")], folder / "again.conll")
    with pytest.raises(InputError, match=r"document d00 part 0 is in .*again"):
        names(files(folder))


def test_schemes_are_joined_only_without_singletons(folder: Path) -> None:
    write_documents([document("other")], folder.parent / "other.jsonl")
    path = folder.parent / "other.jsonl"
    one, other = files(folder), files(path, scheme="litbank", dev=0.0, test=0.0)
    joined = JoinedDocuments(one, other)
    assert (joined.name, joined.scheme) == ("all+other", "litbank+ontonotes")
    assert joined.singletons == "drop"
    assert joined.files() == [*one.files(), *other.files()]
    assert names(joined)["train"][-1] == "other"
    with_singletons = files(folder, singletons="keep")
    other_kept = files(path, scheme="litbank", singletons="keep")
    for first, second in (
        (with_singletons, other_kept),
        (one, other_kept),
        (with_singletons, files(path)),
    ):
        with pytest.raises(InputError, match="do not agree on clusters of one mention"):
            JoinedDocuments(first, second)
    assert JoinedDocuments(with_singletons, files(path, singletons="keep")).scheme == "ontonotes"


@given(st.integers(3, 60), st.floats(0, 0.3), st.floats(0, 0.3), st.integers(0, 9))
def test_every_document_has_one_split(n: int, dev: float, test: float, seed: int) -> None:
    of = _assign_splits(
        {f"d{i}": [f"d{i}"] for i in range(n)}, {"dev": dev, "test": test}, seed=seed
    )
    splits = list(of.values())
    assert len(of) == n
    for split, share in (("dev", dev), ("test", test)):
        assert splits.count(split) == (max(1, round(share * n)) if share else 0)
