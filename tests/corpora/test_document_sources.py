"""Sources of documents: which document goes where, and what is never mixed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.documents import DocumentFiles, JoinedDocuments
from corpora.kinds import DocumentSource
from corpora.splits import assign_splits
from files import InputError
from files.choice import FieldError, lacks
from files.documents import Document, write_documents
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


def names(source: DocumentSource, seed: int = 0) -> dict[str, list[str]]:
    return {
        split: [each.name for each in documents]
        for split, documents in source.load(seed=seed).items()
    }


def test_they_are_sources(folder: Path) -> None:
    one = files(folder)
    for source in (one, JoinedDocuments(one, one)):
        assert lacks(source, DocumentSource) == []
        assert not source.generated
    assert (one.name, len(one.files())) == ("all", 21)


def test_shares_are_drawn_by_seed_and_parts_stay_together(folder: Path) -> None:
    source = files(folder, dev=0.2, test=0.5)
    found = names(source)
    assert {split: len({*each}) for split, each in found.items()} == {
        "train": 7,  # of 21
        "dev": 4,
        "test": 10,
    }
    assert sum(each.count("deep") for each in found.values()) == 2
    assert 2 in [each.count("deep") for each in found.values()]
    assert names(source) == found != names(source, seed=1)


def test_names_of_documents_files_and_patterns(folder: Path) -> None:
    found = names(files(folder, dev=("d00", "d1*"), test=("more.jsonl", "d01.v4_gold_conll")))
    assert found["dev"] == ["d00", *(f"d{number}" for number in range(10, 20))]
    assert found["test"] == ["d01", "deep", "deep"]
    assert len(found["train"]) == 8


def test_names_and_shares_together(folder: Path) -> None:
    found = names(files(folder, dev=("d0*",), test=0.1))
    assert len(found["dev"]) == 10
    assert len({*found["test"]}) == 2
    assert not {*found["test"]} & {*found["dev"]}
    with pytest.raises(InputError, match="none is left for train"):
        names(files(folder, dev=("d*",), test=0.01))


def test_lists(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    lists = folder.parent / "lists"
    lists.mkdir()
    for split, named in {"train": "d00\nd01\n", "dev": "d02\n\n", "test": "deep\nlost\n"}.items():
        (lists / f"all.{split}").write_text(named)
    source = files(folder, lists=str(lists))
    with caplog.at_level(logging.WARNING):
        found = names(source)
    assert found == {"train": ["d00", "d01"], "dev": ["d02"], "test": ["deep", "deep"]}
    assert "no document lost (1 names)" in caplog.text
    assert [each.name for each in source.files()[-3:]] == ["all.train", "all.dev", "all.test"]
    (lists / "all.dev").write_text("d00\n")
    with pytest.raises(InputError, match="names d00, which is in train too"):
        names(source)
    (lists / "old.dev").touch()
    with pytest.raises(InputError, match=r"has 2 lists \*\.dev"):
        source.files()


def test_singletons_are_dropped_or_kept(folder: Path) -> None:
    for singletons, clusters in (("drop", (PAIR,)), ("keep", (PAIR, LONE))):
        splits = files(folder, singletons=singletons).load(seed=0)
        assert {each.clusters for split in splits.values() for each in split} == {clusters}


def test_sentences_as_given_or_cut(tmp_path: Path) -> None:
    whole = Document("a", (tuple(document("a").tokens),), (PAIR,))
    write_documents([whole], tmp_path / "a.jsonl")
    for sentences, n in (("given", 1), ("marks", 2)):
        (found,) = files(tmp_path / "a.jsonl", dev=0.0, test=0.0, sentences=sentences).load(seed=0)[
            "train"
        ]
        assert len(found.sentences) == n


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
        ({"dev": 0.5, "test": 0.6}, "of 21 documents none is left for train"),
        ({"dev": 1.5}, "dev=1.5: give a number from 0 to 1 or a list"),
        ({"singletons": "some"}, "singletons='some': give one of drop, keep"),
    ],
)
def test_splits_that_cannot_be(folder: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        files(folder, **fields).load(seed=0)


@pytest.mark.parametrize(
    ("path", "message"),
    [("al", "no such file or folder: .*did you mean 'all'"), ("all/*.txt", "no file there")],
)
def test_files_that_are_not_there(folder: Path, path: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        files(folder.parent / path).files()


def test_a_document_twice(folder: Path) -> None:
    write_conll([document("d00")], folder / "again.conll")
    with pytest.raises(InputError, match=r"document d00 part 0 is in .*again"):
        names(files(folder))


def test_nothing_to_learn(tmp_path: Path) -> None:
    write_documents([Document("a", (("b",),), (((0, 1),),))], tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="no training document has a cluster of two mentions"):
        files(tmp_path / "a.jsonl", dev=0.0, test=0.0).load(seed=0)


def test_schemes_are_joined_only_without_singletons(folder: Path) -> None:
    write_documents([document("other")], folder.parent / "other.jsonl")
    path = folder.parent / "other.jsonl"
    one, other = files(folder), files(path, scheme="litbank", dev=0.0, test=0.0)
    joined = JoinedDocuments(one, other)
    assert (joined.name, joined.scheme) == ("all+other", "litbank+ontonotes")
    assert joined.singletons == "drop"
    assert joined.files() == [*one.files(), *other.files()]
    assert names(joined)["train"][-1] == "other"
    kept = files(folder, singletons="keep")
    other_kept = files(path, scheme="litbank", singletons="keep")
    for first, second in ((kept, other_kept), (one, other_kept), (kept, files(path))):
        with pytest.raises(InputError, match="do not agree on clusters of one mention"):
            JoinedDocuments(first, second)
    assert JoinedDocuments(kept, files(path, singletons="keep")).scheme == "ontonotes"


def test_a_document_of_both_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="both have document d"):
        JoinedDocuments(files(folder), files(folder)).load(seed=0)


def test_generated_documents_are_not_joined(folder: Path) -> None:
    class Generated:
        version: ClassVar[int] = 1
        generated: ClassVar[bool] = True
        name, scheme, singletons = "generated", "ontonotes", "drop"
        files = load = planted = lambda self: None

    with pytest.raises(InputError, match="generated documents are not joined"):
        JoinedDocuments(files(folder), Generated())  # type: ignore[arg-type]
    with pytest.raises(FieldError, match="it is no DocumentSource"):
        JoinedDocuments(files(folder), "documents")  # type: ignore[arg-type]


@given(st.integers(3, 60), st.floats(0, 0.3), st.floats(0, 0.3), st.integers(0, 9))
def test_every_document_has_one_split(n: int, dev: float, test: float, seed: int) -> None:
    of = assign_splits(
        {f"d{i}": [f"d{i}"] for i in range(n)}, {"dev": dev, "test": test}, seed=seed
    )
    found = list(of.values())
    assert len(of) == n
    for split, share in (("dev", dev), ("test", test)):
        assert found.count(split) == (max(1, round(share * n)) if share else 0)


@pytest.mark.realdata
def test_ontogum_as_gum_splits_it(realdata: Path) -> None:
    folder = realdata / "coreference"
    source = files(
        folder / "ontogum" / "GUM_*.conll", lists=str(folder / "ontogum_splits"), mend=True
    )
    assert {split: len(each) for split, each in names(source).items()} == {
        "train": 114,  # and 14 of Reddit, whose text is withheld
        "dev": 18,
        "test": 18,
    }
