"""The files that a name of vectors stands for: all whose bytes reach the matrix, and no other."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.files.vector_files import vector_files
from biasbridge.files.vectors import keyed, read_vectors
from biasbridge.train.engine.part import decide
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.embed import Pretrained

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

WORDS = ["he", "she", "man", "woman"]


def vectors() -> KeyedVectors:
    return keyed(WORDS, np.eye(4, dtype=np.float32))


def test_arrays_that_gensim_keeps_beside_its_file_are_keyed(tmp_path: Path) -> None:
    path = tmp_path / "x.kv"
    vectors().save(str(path), sep_limit=0)
    choice, store = Pretrained(str(path), trusted=True), Store(tmp_path / "store")
    assert [each.name for each in choice.files()] == ["x.kv", "x.kv.vectors.npy"]
    before = decide(choice, store.digest)
    beside = tmp_path / "x.kv.vectors.npy"
    np.save(beside, np.load(beside) * 2)
    assert choice.load().vectors.max() == 2
    assert decide(choice, store.digest) != before


@pytest.mark.parametrize("name", ["glove.txt", "glove.txt.gz"])
def test_a_text_file_is_alone_whatever_lies_beside_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    opener = gzip.open if name.endswith("gz") else open
    with opener(path, "wb") as out:
        out.write(b"he 1 0\nshe 0 1\n")
    np.save(tmp_path / f"{name}.vectors.npy", np.eye(2))
    assert vector_files(path) == [path]
    assert len(read_vectors(path)) == 2


def test_a_missing_file_is_named_where_it_is_hashed(tmp_path: Path) -> None:
    assert vector_files(tmp_path / "absent") == [tmp_path / "absent"]
