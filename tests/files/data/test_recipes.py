"""Texts of each format, both cleanings and whole corpora, with lines worked out by hand."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

from biasbridge.files import InputError
from biasbridge.files.data.recipes import (
    _CLEANINGS,
    _MIN_WORDS,
    _READERS,
    _clean_documents,
    _clean_posts,
    _corpus_lines,
    _read_texts,
    build_corpus,
    find_text_difference,
)
from biasbridge.files.data.registry import DataSet, registry

CORPORA = [dataset.name for dataset in registry().values() if dataset.recipe]
PACKED = io.BytesIO()
with zipfile.ZipFile(PACKED, "w") as archive:
    for name, text in [
        ("in/b.txt", "B"),
        ("in/a.txt", "A"),
        ("in/README", "no"),
        ("out.txt", "no"),
    ]:
        archive.writestr(name, text)
    archive.writestr("in/deep/", "")
CELLS = 'id,text,kind\n1,"one, two\nlines",a\n2,other,b\n3\n4,"say ""so""",a\n'

# Bytes of a file, its format, and the texts in it
FORMATS: dict[str, tuple[bytes, dict[str, Any], list[str]]] = {
    "lines": (b"one\ntwo\r\n\nthree", {"type": "lines"}, ["one", "two\r", "", "three"]),
    "no break but the newline": (
        "a\u2028b\x85c\n".encode(),
        {"type": "lines"},
        ["a\u2028b\x85c", ""],
    ),
    "whole": (b"one\ntwo\n", {"type": "whole"}, ["one\ntwo\n"]),
    "tagged": (b"The/at dog/nn 1/2/cd\n\n\t./.\n", {"type": "tagged"}, ["The dog 1/2 ."]),
    "csv, by name": (
        CELLS.encode(),
        {"type": "csv", "column": "text"},
        ["one, two\nlines", "other", 'say "so"'],
    ),
    "csv, some rows": (
        CELLS.encode(),
        {"type": "csv", "column": "text", "where": {"kind": "a"}},
        ["one, two\nlines", 'say "so"'],
    ),
    "csv, by number, no header": (
        b"1;one\n2;two\n",
        {"type": "csv", "column": 1, "header": False, "delimiter": ";"},
        ["one", "two"],
    ),
    "csv, by number, with a header": (b"a,b\n1,2\n", {"type": "csv", "column": 1}, ["2"]),
    "csv, marks are text": (
        b'1\t"so it begins\n2\tit ends"\n',
        {"type": "csv", "column": 1, "header": False, "delimiter": "\t", "quoted": False},
        ['"so it begins', 'it ends"'],
    ),
    "csv with a byte order mark": (
        b"\xef\xbb\xbftext,n\nhi,1\n",
        {"type": "csv", "column": "text", "encoding": "utf-8-sig"},
        ["hi"],
    ),
    "latin-1": (b"caf\xe9", {"type": "whole", "encoding": "latin-1"}, ["caf\u00e9"]),
    "bytes of no letter": (b"a\xffb", {"type": "whole", "errors": "replace"}, ["a\ufffdb"]),
    "jsonl": (
        b'{"a": "x", "b": ["y", "z"]}\n\n{"a": "\\u00e9", "b": []}\n',
        {"type": "jsonl", "fields": ["b", "a"]},
        ["y", "z", "x", "\u00e9"],
    ),
    "jsonl-tokens": (b'{"text": ["a", "b"]}\n', {"type": "jsonl-tokens", "field": "text"}, ["a b"]),
    "conll": (b"\n\na\tO\nb\tB\n \nc\n", {"type": "conll"}, ["a b", "c"]),
    "gzip": (gzip.compress(b"one"), {"type": "gzip", "inner": {"type": "whole"}}, ["one"]),
    "zip": (
        PACKED.getvalue(),
        {"type": "zip", "member": "in/*", "exclude": ["in/README"], "inner": {"type": "whole"}},
        ["A", "B"],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_a_format(name: str) -> None:
    content, form, texts = FORMATS[name]
    assert [*_read_texts(content, form)] == texts


def test_each_reader_has_a_format_above() -> None:
    assert {*_READERS} | {"gzip", "zip"} == {form["type"] for _, form, _ in FORMATS.values()}


def test_documents_are_squeezed() -> None:
    assert [*_clean_documents([" a\n\tb\u00a0c ", "a b"])] == ["a b c", "a b"]


# Posts, and those of them that are kept as they then are
POSTS = {
    "at least three words": (["one two", "one two three", "1 2 3"], ["one two three"]),
    "a word has a Latin letter": (
        ["one two \u4e09", "un d\u00eda m\u00e1s", "\u00f7 \u00d7 a b"],
        ["un d\u00eda m\u00e1s"],
    ),
    "handles, tags, marks and links are none": (
        ["@me #tag <b> http://x.y HTTPS://z one two", "@me one two three"],
        ["@me one two three"],
    ),
    "within a word they do not matter": (["a@b c#d e<f"], ["a@b c#d e<f"]),
    "entities, twice": (["you &amp;amp; me &lt;3 he"], ["you & me <3 he"]),
    "white space": ([" one\ttwo\n three "], ["one two three"]),
    "copies by letters and digits": (
        [
            "One two three!",
            "one TWO three",
            "rt one two three",
            "RT @you: one two three http://t.co/x",
            "one two three 4",
        ],
        ["One two three!", "one two three 4"],
    ),
    "rt begins the post alone": (
        ["one rt two three", "one two three"],
        ["one rt two three", "one two three"],
    ),
    "accents tell posts apart": (
        ["el ni\u00f1o va", "el nino va"],
        ["el ni\u00f1o va", "el nino va"],
    ),
}


@pytest.mark.parametrize("name", POSTS)
def test_posts_are_cleaned(name: str) -> None:
    posts, kept = POSTS[name]
    assert [*_clean_posts(posts)] == kept


def test_the_fewest_words() -> None:
    assert _MIN_WORDS == 3
    assert {*_CLEANINGS} == {"documents", "tweets"}


LINES = ["b one two", "a one two", "c one two", "last one here"]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


def corpus(sha256: str = hashlib.sha256(TEXT).hexdigest()) -> DataSet:
    """A corpus of a file, a folder and a file, in this order."""
    targets = [["s/z.txt"], ["s/texts/"], ["s/a.csv"]]
    forms = [{"type": "lines"}, {"type": "whole"}, {"type": "csv", "column": "text"}]
    sources = [
        {"format": form, "targets": names} for form, names in zip(forms, targets, strict=True)
    ]
    recipe = {"cleaning": "tweets", "sources": sources, "expected": {"sha256": sha256}}
    return DataSet("toy", "corpus", "", "", "", "", (), recipe=recipe)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s" / "texts" / "a").mkdir(parents=True)
    (tmp_path / "s" / "z.txt").write_text("b one two\nB ONE two\n", encoding="utf-8")
    (tmp_path / "s" / "texts" / "a.txt").write_text("a one two", encoding="utf-8")  # . is below /
    (tmp_path / "s" / "texts" / "a" / "b.txt").write_text("c one\n two", encoding="utf-8")
    (tmp_path / "s" / "a.csv").write_text("text\na one two!\nlast one here\n", encoding="utf-8")
    return tmp_path


def test_a_corpus_is_its_sources_in_their_order(folder: Path) -> None:
    assert [*_corpus_lines(corpus(), folder)] == LINES
    target = build_corpus(corpus(), folder)
    assert target == folder / "corpora" / "toy.txt.xz"
    assert lzma.decompress(target.read_bytes()) == TEXT
    assert find_text_difference(corpus(), target) == ""


def test_another_text_is_not_kept(folder: Path) -> None:
    (folder / "s" / "z.txt").write_text("another one here\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"toy, built from .*, has a text of sha256 .* instead of"):
        build_corpus(corpus(), folder)
    assert not [*(folder / "corpora").iterdir()]


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", b"other\n1\n"), ("a.csv", b"text\n\xff\n"), ("z.txt", None)]
)
def test_sources_of_another_form_are_named(name: str, content: bytes | None, folder: Path) -> None:
    path = folder / "s" / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=f"{name} is not as its recipe says"):
        build_corpus(corpus(), folder)


def test_the_text_counts_and_not_its_packing(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    for content in (TEXT, lzma.compress(TEXT, preset=0), lzma.compress(TEXT, preset=9)):
        path.write_bytes(content)
        assert find_text_difference(corpus(), path) == ""
    path.write_bytes(lzma.compress(TEXT)[:-5])
    assert find_text_difference(corpus(), path).startswith("not a whole .xz file")
    for wrong in (TEXT[1:], lzma.compress(TEXT[1:]), b""):
        path.write_bytes(wrong)
        assert "instead of" in find_text_difference(corpus(), path)


@pytest.mark.realdata
@pytest.mark.parametrize("name", CORPORA)
def test_texts_at_hand_are_those_of_the_recipes(name: str, realdata: Path) -> None:
    path = realdata / "corpora" / f"{name}.txt.xz"
    if not path.exists():
        pytest.skip("not at hand")
    assert find_text_difference(registry()[name], path) == ""
