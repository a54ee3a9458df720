"""Every format that word vectors come in, against gensim's own loader of the same file."""

from __future__ import annotations

import math
import pickle
import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import FastTextKeyedVectors, load_facebook_vectors, save_facebook_model
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.files.vectors import detect_format, keyed, read_vectors
from tests.fuzz import PACK

WORDS = [
    *("the", '"', '"quoted"', "NA", "null", "nan", "1984", "ñandú", "\x85", "\u2028", "a\xa0b"),
    *("\ufeffthe", "'", ",", "#", "-", "女", "</s>"),
]


def example(words: list[str] = WORDS, dim: int = 5) -> KeyedVectors:
    return keyed(
        list(words), np.random.default_rng(3).normal(size=(len(words), dim)).astype(np.float32)
    )


def same(a: KeyedVectors, b: KeyedVectors) -> bool:
    """Equal words in equal order, equal bits."""
    return (
        a.index_to_key == b.index_to_key
        and a.vectors.dtype == b.vectors.dtype
        and a.vectors.tobytes() == b.vectors.tobytes()
    )


def rows(vectors: KeyedVectors, *, start: str = "", between: str = " ", end: str = "\n") -> bytes:
    """Text rows by a literal loop, with 9 significant digits."""
    lines = (
        f"{word}{between}{between.join(f'{x:.9g}' for x in vectors[word])}{end}"
        for word in vectors.index_to_key
    )
    return (start + "".join(lines)).encode()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("chunk", [1, 100, 1 << 25])
@pytest.mark.parametrize("end", ["\n", " \n"], ids=["plain", "trailing space"])
def test_word2vec_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, chunk: int, end: str
) -> None:
    monkeypatch.setattr("biasbridge.files.vector_readers.TEXT_CHUNK", chunk)
    path = write(
        tmp_path / f"v.vec{suffix}",
        PACK[suffix](rows(example(), start=f"{len(WORDS)} 5\n", end=end)),
    )
    assert detect_format(path) == "word2vec_text"
    vectors = read_vectors(path)
    assert same(vectors, example())
    if suffix in ("", ".gz"):  # gensim's own opener knows these
        assert same(vectors, KeyedVectors.load_word2vec_format(str(path)))


@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", "", "\n\n", "\t\n"])
@pytest.mark.parametrize("between", [" ", "\t", "  ", " \t"])
@pytest.mark.parametrize("header", [False, True])
def test_any_common_spacing_gives_the_same_vectors(
    tmp_path: Path, end: str, between: str, header: bool
) -> None:
    start = f"\ufeff{len(WORDS)}{between}5\n" if header else ""
    data = rows(example(), start=start, between=between, end=end or "\n")
    path = write(tmp_path / "v.txt", data if end else data[:-1])
    assert detect_format(path) == ("word2vec_text" if header else "glove")
    assert same(read_vectors(path), example())


# Gensim leaves its first pass over the file open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_glove_equals_gensim_without_header(tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", rows(example()))
    assert same(read_vectors(path), KeyedVectors.load_word2vec_format(str(path), no_header=True))


@pytest.mark.parametrize("start", ["", "18 5\n"])
def test_a_byte_order_mark_is_no_part_of_a_word(start: str, tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", rows(example(), start=start))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert same(read_vectors(path), example())


@pytest.mark.parametrize("chunk", [1, 1 << 25])
@pytest.mark.parametrize("header", [False, True])
def test_word_with_spaces_is_everything_before_the_last_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, header: bool
) -> None:
    """As in GloVe 840B, which holds '. . .' and 'at name@domain.com'."""
    monkeypatch.setattr("biasbridge.files.vector_readers.TEXT_CHUNK", chunk)
    words = [". . .", "the", "at name@domain.com", "a\rb", "c\td", "new  york", "end"]
    path = write(tmp_path / "v.txt", rows(example(words), start="7 5\n" if header else ""))
    assert same(read_vectors(path), example(words))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Just above the midpoint: rounding to float64 first would give 1
        ("1.0000000596046448", 1 + 2**-23),
        ("1.000000059604644775390625", 1.0),  # the midpoint itself: ties to even
        ("+0.5", 0.5),
        ("-0", -0.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1E-3", 0.001),
        ("1e-46", 0.0),
        ("1.4e-45", 2**-149),
        ("3.4028235e38", float(np.finfo(np.float32).max)),
    ],
)
def test_spelling_of_numbers(tmp_path: Path, text: str, value: float) -> None:
    vectors = read_vectors(write(tmp_path / "v.txt", f"1 2\nword {text} 1\n".encode()))
    assert vectors["word"].tobytes() == np.array([value, 1], dtype=np.float32).tobytes()


def binary(vectors: KeyedVectors, end: bytes = b"", count: int | None = None) -> bytes:
    """word2vec's binary format by a literal loop; its own tool ends each row in a newline, gensim
    does not.
    """
    body = b"".join(
        w.encode() + b" " + v.astype("<f4").tobytes() + end
        for w, v in zip(vectors.index_to_key, vectors.vectors, strict=True)
    )
    return f"{len(vectors) if count is None else count} {vectors.vector_size}\n".encode() + body


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("chunk", [60, 1 << 24])
def test_word2vec_binary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, end: bytes, chunk: int
) -> None:
    monkeypatch.setattr("biasbridge.files.vector_readers.BINARY_CHUNK", chunk)
    path = write(tmp_path / f"v.bin{suffix}", PACK[suffix](binary(example(), end)))
    assert detect_format(path) == "word2vec_binary"
    vectors = read_vectors(path)
    assert same(vectors, example())
    if suffix in ("", ".gz"):
        assert same(vectors, KeyedVectors.load_word2vec_format(str(path), binary=True))


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("value", [0.0, -3.5, 1e-9])
def test_the_format_of_a_small_file_follows_its_content_not_its_suffix(
    tmp_path: Path, dim: int, value: float
) -> None:
    vectors = keyed(["internationalisation", "b"], np.full((2, dim), value, dtype=np.float32))
    for data, form in (
        (binary(vectors), "word2vec_binary"),
        (rows(vectors, start=f"2 {dim}\n"), "word2vec_text"),
    ):
        path = write(tmp_path / "v.dat", data)
        assert detect_format(path) == form
        assert same(read_vectors(path), vectors)


def test_gensim_pickle_needs_trust(tmp_path: Path) -> None:
    path = tmp_path / "v.kv"
    example().save(str(path))
    assert detect_format(path) == "gensim"
    with pytest.raises(InputError, match=r"pickle .* run any code .* --trusted .* trusted=True"):
        read_vectors(path)
    assert same(read_vectors(path, trusted=True), example())


def test_gensim_model_gives_its_vectors(tmp_path: Path) -> None:
    model = Word2Vec([["a", "b", "c"]] * 5, vector_size=4, min_count=1, seed=1, workers=1, epochs=1)
    model.save(str(tmp_path / "m"))
    assert same(read_vectors(tmp_path / "m", trusted=True), model.wv)


@pytest.mark.realdata
def test_googlenews(realdata: Path) -> None:
    """METHODS.md, section 0."""
    path = realdata / "vectors" / "googlenews_13k.bin"
    vectors = read_vectors(path)
    assert vectors.vectors.shape == (13_013, 300)
    assert vectors.similarity("man", "woman") == pytest.approx(0.7664011, abs=5e-7)
    assert same(vectors, KeyedVectors.load_word2vec_format(str(path), binary=True))


# What is refused when word vectors are read, and in which words.

A, B = struct.pack("<2f", 0.25, 3.1), struct.pack("<2f", -7.7, 0.125)

BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "prose": (
        b"It was a dark and stormy night.\nIt rained.\n",
        r"holds no word vectors: line 1 starts 'It was a dark",
    ),
    "prose ending in a number": (b"chapter 1\nIt was a dark night\n", "line 2"),
    "csv": (b"word,x,y\nthe,1,2\n", "holds no word vectors"),
    "zip": (b"PK\x03\x04rest", "is a zip archive: give it the suffix .zip"),
    "header of no rows": (b"0 2\n", "promises 0 vectors"),
    "header of absurd dimension": (b"2 999999999\na 1 2\n", "allowed are .* dimension 1 to"),
    "header of absurd count": (
        b"99999999999999 2\na 1 2\nb 3 4\n",
        "the header says 99999999999999 rows, the file has 2",
    ),
    "fewer rows than the header": (
        b"4 2\na 1 2\nb 3 4\n",
        r"header says 4 rows, the file has 2.*copy it again.*'2 2' on its first line",
    ),
    "dimension too large": (
        b"2 3\na 1 2\nb 3 4\n",
        r"line 2 has 2 fields after its word, where the header says 3.*correct it",
    ),
    "last row cut": (b"3 2\na 1 2\nb 3 4\nc 5", r"line 4 has 1 fields.*cut: copy it again"),
    "last number cut": (b"a 1 2\nb 3 -", r"line 2: '-' is not a number"),
    "ragged, shorter": (
        b"a 1 2\nb 3\nc 5 6\n",
        r"line 2 has 1 fields after its word, where the first line says 2",
    ),
    "word alone": (b"3 1\na 1\nb \nc 3\n", r"line 3 has 0 fields after its word"),
    "rows between carriage returns": (b"a 1 2\rb 3 4\nc 5 6\n", r"line 1 has 5 fields"),
    "not a number": (b"2 2\na 1 2\nb 3 four\n", r"line 3: 'four' is not a number"),
    "comma for the decimal point": (
        b"2 2\na 0.1 0.2\nb 0,3 0.4\n",
        r"line 3: '0,3' is not a number",
    ),
    "nan": (b"2 2\na 1 2\nb 3 nan\n", r"the vector of 'b' holds a NaN or infinite"),
    "beyond float32": (b"2 2\na 1 2\nb 1e39 3\n", r"the vector of 'b' holds a NaN or infinite"),
    "latin-1": (
        "3 2\na 1 2\ncafé 3 4\nb 5 6\n".encode("latin-1"),
        r"line 3: the word 'caf\\xe9' is not UTF-8.*iconv",
    ),
    "binary cut in a vector": (
        b"2 2\na " + A + b"b " + B[:5],
        r"ends or is damaged at row 2 of the 2 rows of dimension 2",
    ),
    "binary with more rows": (
        b"1 2\na " + A + b"b " + B + b"c " + B,
        "continues after the 1 rows of dimension 2",
    ),
    "binary nan": (
        b"2 2\na " + A + b"b " + struct.pack("<2f", 1, math.nan),
        r"the vector of 'b' holds a NaN or infinite",
    ),
    "binary latin-1": (b"2 2\na " + A + b"caf\xe9 " + B, r"the word 'caf\\xe9' is not UTF-8"),
    "fastText, cut": (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "the fastText model is cut or damaged"),
    "pickle": (pickle.dumps({"a": 1}), "trusted=True"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("chunk", [1, 1 << 25])
def test_bad_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, chunk: int
) -> None:
    monkeypatch.setattr("biasbridge.files.vector_readers.TEXT_CHUNK", chunk)
    data, message = BAD[name]
    path = tmp_path / "v.dat"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(path)
    assert str(path) in str(caught.value)


def test_line_is_counted_over_chunks_and_blank_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasbridge.files.vector_readers.TEXT_CHUNK", 64)
    path = tmp_path / "v.txt"
    path.write_bytes(b"".join(b"w%d 1 2\n" % i for i in range(100)) + b"\n\nbad 1 x\n")
    with pytest.raises(InputError, match="line 103: 'x' is not a number"):
        read_vectors(path)


# fastText's .bin models, against gensim's loader of the same file.

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


# A part of the words of a file has the vectors of the whole.

FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TOKENS = [
    *(b"a", b"b", b"the", b"NA", b"nan", b"inf", b"1", b"2", b"-0.5", b"1e9", b"1e39", b'"', b"'"),
    *(b"\xc2\x85", b"\xff", b"\x00", b"\xef\xbb\xbf"),
]
ROWS = st.lists(
    st.tuples(st.sampled_from(TOKENS), st.sampled_from(TOKENS), st.sampled_from(TOKENS)).map(
        b" ".join
    ),
    max_size=6,
)


def read(path: Path, data: bytes) -> KeyedVectors | None:
    """The vectors, or None where they are refused."""
    path.write_bytes(data)
    try:
        return read_vectors(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - it may also be read
        return None
