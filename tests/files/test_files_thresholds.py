"""Named numbers of the room, each on either side of what it decides. Numbers are written out here,
so that another value fails.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.files import language as masking
from biasbridge.files.documents import read_documents
from biasbridge.files.eraser import Eraser
from biasbridge.files.language import guess_language
from biasbridge.files.models.language_model import LanguageModel
from biasbridge.files.vector_readers import _FASTTEXT_HEADER, _fasttext_words
from biasbridge.files.vectors import detect_format, read_vectors


def test_an_error_of_4000_characters_is_shown_whole() -> None:
    assert str(InputError("x" * 4_000)) == "x" * 4_000
    assert str(InputError("x" * 4_001)) == f"{'x' * 2_000} ... {'x' * 2_000}"


@pytest.mark.parametrize(
    ("n_the", "n_le", "language"),
    [(8, 0, "en"), (7, 0, "und"), (9, 6, "en"), (9, 7, "und")],
)
def test_a_language_has_8_percent_of_its_grammar_and_half_as_much_again(
    n_the: int, n_le: int, language: str
) -> None:
    """``the`` is English alone, ``auf`` German alone; 100 tokens in all."""
    tokens = ["the"] * n_the + ["auf"] * n_le
    assert guess_language([*tokens, *["x"] * (100 - len(tokens))]) == language


def test_a_slur_is_known_by_8_digits_of_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = sha256(b"zwkqpl").hexdigest()
    monkeypatch.setattr(masking, "HASHES", {digits[:8]})
    assert masking.mask_slurs("zwkqpl") == "z*****"


@pytest.mark.parametrize(("stretch", "is_taken"), [(99.9, True), (100.1, False)])
def test_an_eraser_stretches_at_most_100_times(stretch: float, is_taken: bool) -> None:
    left, right = np.array([[1 - stretch], [0.0]]), np.array([[1.0, 0.0]])
    if is_taken:
        assert Eraser(left, right, np.zeros(2), np.zeros(2)).norm == pytest.approx(stretch)
    else:
        with pytest.raises(InputError, match="stretches vectors up to 100 times, allowed are 100"):
            Eraser(left, right, np.zeros(2), np.zeros(2))


@pytest.mark.parametrize(("columns", "speakers"), [(11, ()), (12, ("c9",))])
def test_speakers_stand_in_the_tenth_of_12_cells(
    columns: int, speakers: tuple[str, ...], tmp_path: Path
) -> None:
    row = "\t".join([*(f"c{number}" for number in range(columns - 1)), "(0)"])
    (tmp_path / "a.conll").write_text(
        f"#begin document (a); part 000\n{row}\n#end document\n", encoding="utf-8"
    )
    [document] = read_documents(tmp_path / "a.conll")
    assert document.speakers == speakers
    assert document.tokens == ["c3"]


def test_a_model_without_positions_takes_2_to_the_20_tokens() -> None:
    model = SimpleNamespace(config=SimpleNamespace(), named_modules=list)
    tokenizer = SimpleNamespace(model_max_length=10**30)
    opened = LanguageModel.__new__(LanguageModel)
    object.__setattr__(opened, "model", model)
    object.__setattr__(opened, "tokenizer", tokenizer)
    assert opened.longest == 2**20


def read_error(read: Callable[[], object]) -> str:
    """What is refused; empty where nothing is."""
    try:
        read()
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("dim", "is_read"), [(50_000, True), (50_001, False)])
def test_vectors_have_at_most_50000_dimensions(dim: int, is_read: bool, tmp_path: Path) -> None:
    row = "the" + " 1" * dim
    for name, head in (("glove.txt", ""), ("a.vec", f"1 {dim}\n")):
        (tmp_path / name).write_text(f"{head}{row}\n", encoding="utf-8")
        message = read_error(lambda path=tmp_path / name: detect_format(path))  # type: ignore[misc]
        assert bool(message) != is_read, name


@pytest.mark.parametrize(("size", "is_read"), [(9_999, True), (10_000, False)])
def test_a_word_of_a_binary_file_has_less_than_10000_bytes(
    size: int, is_read: bool, tmp_path: Path
) -> None:
    row = struct.pack("<2f", 1, 2)
    (tmp_path / "a.bin").write_bytes(b"1 2\n" + b"w" * size + b" " + row + b"\n")
    assert bool(read_error(lambda: read_vectors(tmp_path / "a.bin"))) != is_read
    buffer = b"\0" * _FASTTEXT_HEADER.size + b"w" * size + b"\0" + b"\0" * 32
    if is_read:
        assert _fasttext_words(buffer, 1)[0] == ["w" * size]
    else:
        with pytest.raises(ValueError, match="without an end within 10,000 bytes"):
            _fasttext_words(buffer, 1)
