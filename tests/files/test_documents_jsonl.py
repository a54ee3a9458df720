"""Documents pass between stages as JSON Lines, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from biasbridge.files import InputError
from biasbridge.files.documents import Document, read_documents, write_documents

WHOLE = Document(
    "nw/a",
    (("Zoë", "left"), ("She", "\t«»\u2028")),
    (((2, 3), (0, 1)),),
    4,
    ("a", "", "b", "b"),
    "nw",
)
BARE = Document("b", ((), ("x",)), ())


def test_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    write_documents([WHOLE, BARE], path)
    assert list(read_documents(path)) == [WHOLE, BARE]


def test_fields_with_a_default_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "a", "sentences": [["b"]], "clusters": [[[0, 1]]]}\n')
    assert list(read_documents(path)) == [Document("a", (("b",),), (((0, 1),),))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not JSON", "line 2 is no document"),
        ('{"name": "a", "sentences": [["b"]]}', "clusters: Field required"),
        (
            '{"name": "a", "sentences": [["b"]], "clusters": [], "speaker": []}',
            "speaker: Unexpected",
        ),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[["0", 1]]]}', "clusters.0.0.0: "),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[[0, 2]]]}', "there are 1"),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[]]}', "a cluster has no mention"),
    ],
)
def test_what_is_no_document(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    write_documents([BARE], path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2") as caught:
        list(read_documents(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_half_written(tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield BARE
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_documents(broken(), tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []
