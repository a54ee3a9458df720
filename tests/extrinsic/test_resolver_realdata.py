"""The resolver at the size of the study learns five real documents by heart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from extrinsic.coreference.resolver import EndToEnd
from extrinsic.coreference.scorer import score
from files.documents import read_documents
from files.vectors import read_vectors

pytestmark = [pytest.mark.realdata, pytest.mark.stress]


@pytest.mark.parametrize(("mentions", "least"), [("gold", 0.95), ("predicted", 0.85)])
def test_five_documents_are_learnt_by_heart(
    mentions: Literal["gold", "predicted"], least: float, realdata: Path, tmp_path: Path
) -> None:
    """CoNLL F1 on the first five documents of LitBank, without clusters of one mention."""
    paths = sorted((realdata / "coreference" / "litbank").glob("*.conll"))[:5]
    documents = [
        replace(each, clusters=tuple(cluster for cluster in each.clusters if len(cluster) > 1))
        for path in paths
        for each in read_documents(path)
    ]
    vectors = read_vectors(realdata / "vectors" / "googlenews_13k.bin")
    choice = EndToEnd(mentions=mentions, patience=150, decay_patience=20)
    splits = {"train": documents, "dev": documents, "again": documents}
    found = choice.resolve(splits, vectors, seed=0, folder=tmp_path).splits["again"]
    pairs = zip(documents, (each.document for each in found), strict=True)
    assert score(pairs)["conll"].f1 > least
