"""Documents in the form of the hub's WinoBias, from local files of ``datasets``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpora.hub_documents import HubDocuments
from corpora.protocols import DocumentSource
from files import InputError
from files.choice import missing_attributes
from files.documents import Document

TOKENS = ["The", "nurse", "told", "him", "she", "left", "."]


def source(path: Path, row: dict[str, object], **fields: object) -> HubDocuments:
    whole = {"document_id": "nw/x//0", "part_number": 0, "tokens": TOKENS}
    path.write_text(json.dumps(whole | row) + "\n", encoding="utf-8")
    return HubDocuments("json", data_files=str(path), **fields)  # type: ignore[arg-type]


def test_flat_texts_are_the_mentions_of_one_cluster(tmp_path: Path) -> None:
    found = source(tmp_path / "a.jsonl", {"coreference_clusters": ["0", "1", "4", "4"]})
    assert missing_attributes(found, DocumentSource) == []
    document = Document("nw/x//0", (tuple(TOKENS),), (((0, 2), (4, 5)),))
    assert found.load(seed=0) == {"train": [document], "dev": [], "test": []}


def test_rows_of_one_name_are_its_parts(tmp_path: Path) -> None:
    found = source(tmp_path / "a.jsonl", {"coreference_clusters": []}, dev="train")
    splits = found.load(seed=0)
    assert [each.part for split in ("train", "dev") for each in splits[split]] == [0, 1]


@pytest.mark.parametrize(
    ("row", "fields", "message"),
    [
        ({"coreference_clusters": ["0", "1", "4"]}, {}, "must alternate first and last tokens"),
        ({"coreference_clusters": ["0", "x"]}, {}, "must alternate first and last tokens"),
        ({"coreference_clusters": [[0, 1]]}, {}, "'coreference_clusters' is no list of texts"),
        ({"coreference_clusters": ["4", "9", "0", "0"]}, {}, "there are 7"),
        ({"clusters": []}, {}, "no column 'coreference_clusters'"),
        ({"coreference_clusters": []}, {"tokens": "token"}, "did you mean 'tokens'"),
    ],
)
def test_what_is_no_document(
    tmp_path: Path, row: dict[str, object], fields: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match="row 0.*" + message):
        source(tmp_path / "a.jsonl", row, **fields).load(seed=0)
