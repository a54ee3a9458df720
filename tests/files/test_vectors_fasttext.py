"""fastText's .bin models, against gensim's loader of the same file."""

from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

import pytest
from gensim.models import FastText
from gensim.models.fasttext import FastTextKeyedVectors, load_facebook_vectors, save_facebook_model

from biasbridge.files import InputError
from biasbridge.files.vectors import detect_format, read_vectors

SENTENCES = [
    ["the", "king", "and", "the", "queen"],
    ["ñandú", "runs", "and", "the", "king", "runs"],
] * 3
N_WORDS = 6


def model_bytes(folder: Path, *, bucket: int = 50, min_n: int = 3, max_n: int = 6) -> bytes:
    model = FastText(
        SENTENCES,
        vector_size=6,
        min_count=1,
        epochs=1,
        workers=1,
        seed=1,
        bucket=bucket,
        min_n=min_n,
        max_n=max_n,
    )
    save_facebook_model(model, str(folder / "made.bin"))
    return (folder / "made.bin").read_bytes()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return model_bytes(tmp_path_factory.mktemp("model"))


@pytest.fixture
def path(tmp_path: Path, data: bytes) -> Path:
    (tmp_path / "model.bin").write_bytes(data)
    return tmp_path / "model.bin"


@pytest.mark.parametrize(
    "options", [{}, {"bucket": 0, "max_n": 0}, {"min_n": 2, "max_n": 2}], ids=str
)
def test_equals_gensim(tmp_path: Path, options: dict[str, int]) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(model_bytes(tmp_path, **options))
    vectors, oracle = read_vectors(path), load_facebook_vectors(str(path))
    assert detect_format(path) == "fasttext_binary"
    assert isinstance(vectors, FastTextKeyedVectors)
    assert vectors.index_to_key == oracle.index_to_key
    assert vectors.vectors.tobytes() == oracle.vectors.tobytes()
    assert vectors.vectors_ngrams.tobytes() == oracle.vectors_ngrams.tobytes()
    assert [vectors.get_vecattr(w, "count") for w in vectors.index_to_key] == [
        oracle.get_vecattr(w, "count") for w in oracle.index_to_key
    ]
    if not options:
        # A word made of its n-grams
        assert vectors["kingqueen"].tobytes() == oracle["kingqueen"].tobytes()
        assert vectors.most_similar("king") == oracle.most_similar("king")


def test_word_that_is_not_utf8_is_kept_as_gensim_keeps_it(path: Path, data: bytes) -> None:
    path.write_bytes(data.replace("ñandú".encode(), b"ca\xe9and\xfa", 1))
    assert read_vectors(path).index_to_key == load_facebook_vectors(str(path)).index_to_key
    assert r"ca\xe9and\xfa" in read_vectors(path)


def test_model_cut_anywhere_is_refused(path: Path, data: bytes) -> None:
    """gensim's loader would wait for ever where the cut falls within a word."""
    inputs = len(data) - 17 - 4 * 6 * 6  # the output matrix, which is not read, comes last
    for length in [*range(4, 400, 7), inputs // 2, inputs - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="cut or damaged"):
            read_vectors(path)


# Positions among the int32 of the header
HEADER_FIELD = {"dim": 2, "bucket": 10, "minn": 11, "maxn": 12, "size": 16, "nwords": 17}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *product(("dim", "bucket", "size", "nwords"), (0, -1, 7, 2**31 - 1, -(2**31))),
        *(("minn", -1), ("maxn", -1)),
    ],
)
def test_model_whose_parts_do_not_fit_is_refused(
    path: Path, data: bytes, field: str, value: int
) -> None:
    spoilt = bytearray(data)
    struct.pack_into("<i", spoilt, 4 * HEADER_FIELD[field], value)
    path.write_bytes(spoilt)
    if bytes(spoilt) == data:
        pytest.skip("the value is the right one")
    with pytest.raises(InputError, match="damaged"):
        read_vectors(path)


def test_supervised_and_quantised_models_are_refused(path: Path, data: bytes) -> None:
    supervised = bytearray(data)
    struct.pack_into("<i", supervised, 4 * 18, 2)
    path.write_bytes(supervised)
    with pytest.raises(InputError, match="supervised or quantised fastText model"):
        read_vectors(path)
    quantised = bytearray(data)
    shape = struct.pack("<2q", N_WORDS + 50, 6)
    quantised[data.index(shape) - 1] = 1
    path.write_bytes(quantised)
    with pytest.raises(InputError, match="is a quantised fastText model"):
        read_vectors(path)
