"""Every format that word vectors come in, against gensim's own loader of the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from biasbridge.files import InputError
from biasbridge.files.vectors import detect_format, keyed, read_vectors
from tests.fuzz import PACK

WORDS = [
    "the",
    '"',
    '"quoted"',
    "NA",
    "null",
    "nan",
    "1984",
    "ñandú",
    "\x85",
    "\u2028",
    "a\xa0b",
    "\ufeffthe",
    "'",
    ",",
    "#",
    "-",
    "女",
    "</s>",
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
    monkeypatch.setattr("biasbridge.files.vectors.text.CHUNK", chunk)
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
    monkeypatch.setattr("biasbridge.files.vectors.text.CHUNK", chunk)
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
    monkeypatch.setattr("biasbridge.files.vectors.binary.CHUNK", chunk)
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
