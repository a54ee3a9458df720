"""Named numbers of the room, each on either side of what it decides. Numbers are written out here,
so that another value fails.
"""

from __future__ import annotations

import struct
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
from tests.thresholds import Refused, decides


def test_an_error_of_4000_characters_is_shown_whole() -> None:
    assert str(InputError("x" * 4_000)) == "x" * 4_000
    assert str(InputError("x" * 4_001)) == f"{'x' * 2_000} ... {'x' * 2_000}"


@decides(((8, 0), "en"), ((7, 0), "und"), ((9, 6), "en"), ((9, 7), "und"))
def test_a_language_has_8_percent_of_its_grammar_and_half_as_much_again(
    given: tuple[int, int],
) -> object:
    """``the`` is English alone, ``auf`` German alone; 100 tokens in all."""
    tokens = ["the"] * given[0] + ["auf"] * given[1]
    return guess_language([*tokens, *["x"] * (100 - len(tokens))])


def test_a_slur_is_known_by_8_digits_of_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = sha256(b"zwkqpl").hexdigest()
    monkeypatch.setattr(masking, "HASHES", {digits[:8]})
    assert masking.mask_slurs("zwkqpl") == "z*****"


@decides(
    (99.9, pytest.approx(99.9)),
    (100.1, Refused("stretches vectors up to 100 times, allowed are 100")),
)
def test_an_eraser_stretches_at_most_100_times(stretch: float) -> object:
    left, right = np.array([[1 - stretch], [0.0]]), np.array([[1.0, 0.0]])
    return Eraser(left, right, np.zeros(2), np.zeros(2)).norm


@decides((11, ((), ["c3"])), (12, (("c9",), ["c3"])))
def test_speakers_stand_in_the_tenth_of_12_cells(columns: int, tmp_path: Path) -> object:
    row = "\t".join([*(f"c{number}" for number in range(columns - 1)), "(0)"])
    text = f"#begin document (a); part 000\n{row}\n#end document\n"
    (tmp_path / "a.conll").write_text(text, encoding="utf-8")
    [document] = read_documents(tmp_path / "a.conll")
    return document.speakers, document.tokens


def test_a_model_without_positions_takes_2_to_the_20_tokens() -> None:
    opened = LanguageModel.__new__(LanguageModel)
    config = SimpleNamespace(is_encoder_decoder=False)
    model = SimpleNamespace(config=config, named_modules=list)
    object.__setattr__(opened, "model", model)
    object.__setattr__(opened, "tokenizer", SimpleNamespace(model_max_length=10**30))
    assert opened.longest == 2**20


HEADS = {"glove.txt": "", "a.vec": "1 {}\n"}


@decides(
    *(((name, 50_000), True) for name in HEADS),
    *(((name, 50_001), Refused("holds no word vectors|the header promises")) for name in HEADS),
)
def test_vectors_have_at_most_50000_dimensions(given: tuple[str, int], tmp_path: Path) -> object:
    name, dim = given
    text = f"{HEADS[name].format(dim)}the{' 1' * dim}\n"
    (tmp_path / name).write_text(text, encoding="utf-8")
    return bool(detect_format(tmp_path / name))


@decides((9_999, 1), (10_000, Refused("damaged at row 1")))
def test_a_word_of_a_binary_file_has_less_than_10000_bytes(size: int, tmp_path: Path) -> object:
    row = struct.pack("<2f", 1, 2)
    (tmp_path / "a.bin").write_bytes(b"1 2\n" + b"w" * size + b" " + row + b"\n")
    return len(read_vectors(tmp_path / "a.bin"))


def test_a_word_of_a_fasttext_file_has_less_than_10000_bytes() -> None:
    head, tail = b"\0" * _FASTTEXT_HEADER.size, b"\0" * 33
    assert _fasttext_words(head + b"w" * 9_999 + tail, 1)[0] == ["w" * 9_999]
    with pytest.raises(ValueError, match="without an end within 10,000 bytes"):
        _fasttext_words(head + b"w" * 10_000 + tail, 1)
