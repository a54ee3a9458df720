"""The mapped folder."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, open_mapped, read_vectors, save_mapped

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

WORDS = ["the", "\x85", "car\rriage", "", "two words", "\u2028", "\ufeffthe"]


def example(words: list[str] = WORDS, *, counts: bool = False) -> KeyedVectors:
    matrix = np.random.default_rng(7).normal(size=(len(words), 5)).astype(np.float32)
    return keyed(list(words), matrix, np.arange(len(words), 0, -1) * 10 if counts else None)


def same(a: KeyedVectors, b: KeyedVectors) -> bool:
    return a.index_to_key == b.index_to_key and a.vectors.tobytes() == b.vectors.tobytes()


def backing(array: np.ndarray) -> object:
    """What the array's memory belongs to."""
    base: object = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return base


def test_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasbridge.files.vectors.blocks.FLOATS_PER_BLOCK", 10)
    save_mapped(example(), tmp_path / "v")
    assert same(open_mapped(tmp_path / "v"), example())
    assert sorted(p.name for p in (tmp_path / "v").iterdir()) == ["vectors.npy", "words.txt"]
    assert (
        np.load(tmp_path / "v" / "vectors.npy", allow_pickle=False).tobytes()
        == example().vectors.tobytes()
    )
    assert (tmp_path / "v" / "words.txt").read_bytes() == "".join(f"{w}\n" for w in WORDS).encode()


def test_matrix_is_mapped_and_read_only(tmp_path: Path) -> None:
    save_mapped(example(), tmp_path / "v")
    matrix = open_mapped(tmp_path / "v").vectors
    assert isinstance(backing(matrix), mmap.mmap)
    assert type(matrix) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 1


def test_counts_are_kept(tmp_path: Path) -> None:
    save_mapped(example(counts=True), tmp_path / "v")
    vectors = open_mapped(tmp_path / "v")
    assert [vectors.get_vecattr(word, "count") for word in WORDS] == [70, 60, 50, 40, 30, 20, 10]
    save_mapped(example(), tmp_path / "without")
    assert not open_mapped(tmp_path / "without").expandos


def test_read_vectors_opens_a_folder(tmp_path: Path) -> None:
    save_mapped(example(), tmp_path / "v")
    assert isinstance(backing(read_vectors(tmp_path / "v").vectors), mmap.mmap)


def test_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    save_mapped(example(), tmp_path / "v")  # an empty folder is fine
    with pytest.raises(InputError, match="exists; give a new folder"):
        save_mapped(example(), tmp_path / "v")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="exists; give a new folder"):
        save_mapped(example(), tmp_path / "file")


DAMAGE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "word missing": (
        "words.txt",
        lambda b: b.replace(b"two words\n", b""),
        "do not match .6 words, 7 vectors",
    ),
    "word too many": ("words.txt", lambda b: b + b"more\n", "do not match .8 words, 7 vectors"),
    "words cut": ("words.txt", lambda b: b[:-2], "words.txt is cut"),
    "words not UTF-8": ("words.txt", lambda b: b"\xff" + b, "damaged"),
    "matrix cut": ("vectors.npy", lambda b: b[:-4], "damaged"),
    "counts too short": (
        "counts.npy",
        lambda b: b.replace(b"(7,)", b"(6,)"),
        r"counts of shape \(6,\)",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    save_mapped(example(counts=True), tmp_path / "v")
    file, spoil, message = DAMAGE[name]
    path = tmp_path / "v" / file
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(InputError, match=message):
        open_mapped(tmp_path / "v")


def test_a_value_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    vectors = example()
    save_mapped(vectors, tmp_path / "v")
    matrix = vectors.vectors.copy()
    matrix[4, 1] = np.inf
    np.save(tmp_path / "v" / "vectors.npy", matrix)
    message = "the vector of 'two words' holds a NaN or infinite value"
    with pytest.raises(InputError, match=message):
        read_vectors(tmp_path / "v")
